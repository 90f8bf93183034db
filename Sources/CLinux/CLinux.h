// Calls and constants of Linux that the Glibc module leaves out: they need _GNU_SOURCE, or are macros with casts.
#ifndef CRASHPADCTL_CLINUX_H
#define CRASHPADCTL_CLINUX_H

#include <stddef.h>
#include <sys/types.h>

int renameat2(int old_directory, const char *old_name, int new_directory, const char *new_name, unsigned int flags);
int syncfs(int descriptor);
ssize_t fgetxattr(int descriptor, const char *name, void *value, size_t size);
int flock(int descriptor, int operation);

// <linux/fs.h>
static const unsigned int LINUX_RENAME_NOREPLACE = 1;
// <fcntl.h>: locks of an open file description. They end with the last descriptor of it, so the kernel knows who lives.
static const int LINUX_F_OFD_GETLK = 36;
static const int LINUX_F_OFD_SETLK = 37;
// <sys/file.h>
static const int LINUX_LOCK_SH = 1;
static const int LINUX_LOCK_EX = 2;
static const int LINUX_LOCK_NB = 4;

int memfd_create(const char *name, unsigned flags);

#endif
