// SPDX-License-Identifier: Apache-2.0
// Calls and constants of Linux that the Glibc module leaves out: they need _GNU_SOURCE, or are macros with casts.
#ifndef CRASHPADCTL_CLINUX_H
#define CRASHPADCTL_CLINUX_H

#include <errno.h>
#include <linux/stat.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

int renameat2(int old_directory, const char *old_name, int new_directory, const char *new_name, unsigned int flags);
int syncfs(int descriptor);
ssize_t fgetxattr(int descriptor, const char *name, void *value, size_t size);
int flock(int descriptor, int operation);
int pipe2(int ends[2], int flags);

// <linux/fs.h>
static const unsigned int LINUX_RENAME_NOREPLACE = 1;
// <fcntl.h>: locks of an open file description. They end with the last descriptor of it, so the kernel knows who lives.
static const int LINUX_F_OFD_GETLK = 36;
static const int LINUX_F_OFD_SETLK = 37;
// Not by that header, which defines struct stat: two modules would have it, and a build as a whole takes this one's.
static const int LINUX_O_CLOEXEC = 02000000;
// <sys/file.h>
static const int LINUX_LOCK_SH = 1;
static const int LINUX_LOCK_EX = 2;
static const int LINUX_LOCK_NB = 4;

// A name of at most 15 bytes.
int pthread_setname_np(unsigned long thread, const char *name);

void *memmem(const void *bytes, size_t count, const void *words, size_t length);
void *memrchr(const void *bytes, int byte, size_t count);
int memfd_create(const char *name, unsigned flags);
int mkostemp(char *pattern, int flags);
int fallocate(int descriptor, int mode, off_t offset, off_t size);
// <linux/memfd.h>
static const unsigned LINUX_MFD_CLOEXEC = 1;
// <sys/stat.h>: times of futimens(2).
static const long LINUX_UTIME_NOW = (1l << 30) - 1;
static const long LINUX_UTIME_OMIT = (1l << 30) - 2;
// Since Linux 5.14.
static const int LINUX_MADV_POPULATE_READ = 22;

ssize_t process_vm_readv(
    pid_t process, const struct iovec *local, unsigned long local_count, const struct iovec *remote,
    unsigned long remote_count, unsigned long flags);
ssize_t process_vm_writev(
    pid_t process, const struct iovec *local, unsigned long local_count, const struct iovec *remote,
    unsigned long remote_count, unsigned long flags);
ssize_t getxattr(const char *path, const char *name, void *value, size_t size);
unsigned long getauxval(unsigned long type);
int prctl(int option, ...);
long syscall(long number, ...);

// Whether a filter refuses ptrace(2), asked of a process that there never is. Returns an errno value, or 0.
static inline int linux_ptrace_refusal(void) {
  const long seize = 0x4206;
  return syscall(SYS_ptrace, seize, 0x7fffffff, 0, 0) == -1 && errno != ESRCH ? errno : 0;
}

// Swift calls no function with variable arguments.
static inline int linux_prctl(int option, unsigned long argument) { return prctl(option, argument, 0, 0, 0); }
int ioctl(int descriptor, unsigned long request, ...);
// The number of columns of a terminal; 0 if that is not known, or the file is not a terminal. Not by <sys/ioctl.h>:
// see above.
static inline unsigned linux_terminal_columns(int descriptor) {
  struct {
    unsigned short rows, columns, width, height;
  } size = {0, 0, 0, 0};
  const unsigned long get_window_size = 0x5413;
  return ioctl(descriptor, get_window_size, &size) == 0 ? size.columns : 0;
}
// <linux/prctl.h>
static const int LINUX_PR_GET_DUMPABLE = 3;
static const int LINUX_PR_SET_DUMPABLE = 4;
static const int LINUX_PR_GET_SECCOMP = 21;
static const int LINUX_PR_GET_NO_NEW_PRIVS = 39;
// <linux/auxvec.h>
static const unsigned long LINUX_AT_BASE = 7;
static const unsigned long LINUX_AT_EXECFN = 31;
static const unsigned long LINUX_AT_MINSIGSTKSZ = 51;

// How a filter of system calls (seccomp) answers to one.
enum linux_answer { linux_allowed, linux_refused, linux_trapped, linux_killed, linux_unknown };

static inline void linux_trap(int number) {
  (void)number;
  _exit(linux_trapped);
}

// Makes a system call in a child, as it may end the caller.
static inline enum linux_answer linux_try(long number, long a, long b, long c, long d, long e, long f) {
  pid_t child = fork();
  if (child < 0) return linux_unknown;
  if (child == 0) {
    // No core file of it.
    prctl(4 /* PR_SET_DUMPABLE */, 0, 0, 0, 0);
    signal(SIGSYS, linux_trap);
    long result = syscall(number, a, b, c, d, e, f);
    bool refused = result == -1 && (errno == EPERM || errno == ENOSYS || errno == EACCES);
    _exit(refused ? linux_refused : linux_allowed);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return linux_unknown;
  }
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS ? linux_killed : linux_unknown;
  return (enum linux_answer)WEXITSTATUS(status);
}

// Asks for one of the calls that the crash handler makes, with arguments that lead to nothing. `*name` gets its name.
// index: from 0 on; `*name` is NULL behind the last.
static inline enum linux_answer linux_try_handlers_call(int index, const char *_Nullable *_Nonnull name) {
  static const char text[] = "x";
  const long path = (long)text, none = -1;
  const struct { const char *name; long number, a, b, c, d; } calls[] = {
      {"read", SYS_read, none, 0, 0, 0},
      {"write", SYS_write, none, 0, 0, 0},
      {"close", SYS_close, none, 0, 0, 0},
      {"newfstatat", SYS_newfstatat, none, path, 0, 0},
      {"lseek", SYS_lseek, none, 0, 0, 0},
      {"rt_sigaction", SYS_rt_sigaction, 0, 0, 0, 0},
      {"rt_sigprocmask", SYS_rt_sigprocmask, none, 0, 0, 0},
      {"getpid", SYS_getpid, 0, 0, 0, 0},
      {"gettid", SYS_gettid, 0, 0, 0, 0},
      {"getppid", SYS_getppid, 0, 0, 0, 0},
      {"fcntl", SYS_fcntl, none, 3, 0, 0},
      {"ftruncate", SYS_ftruncate, none, 0, 0, 0},
      {"getrusage", SYS_getrusage, 0, 0, 0, 0},
      {"sysinfo", SYS_sysinfo, 0, 0, 0, 0},
      {"getpriority", SYS_getpriority, 0, 0, 0, 0},
      {"futex", SYS_futex, 0, 1, 0, 0},
      {"getdents64", SYS_getdents64, none, 0, 0, 0},
      {"tgkill", SYS_tgkill, none, none, 0, 0},
      {"openat", SYS_openat, none, path, 0, 0},
      {"readlinkat", SYS_readlinkat, none, path, 0, 0},
      {"renameat2", SYS_renameat2, none, path, none, path},
      {"pipe2", SYS_pipe2, 0, 0, 0, 0},
      {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, none, none, 0, 0},
      {"clock_gettime", SYS_clock_gettime, 0, 0, 0, 0},
      {"prctl", SYS_prctl, 21, 0, 0, 0},
#if defined(__x86_64__)
      {"arch_prctl", SYS_arch_prctl, 0x1003, 0, 0, 0},
#endif
  };
  *name = 0;
  if (index < 0 || (size_t)index >= sizeof calls / sizeof *calls) return linux_unknown;
  *name = calls[index].name;
  return linux_try(calls[index].number, calls[index].a, calls[index].b, calls[index].c, calls[index].d, 0, 0);
}

// How ptrace(2) is answered, asked of a process that there never is; and process_vm_readv(2).
static inline enum linux_answer linux_try_ptrace(void) {
  const long seize = 0x4206;
  return linux_try(SYS_ptrace, seize, 0x7fffffff, 0, 0, 0, 0);
}
static inline enum linux_answer linux_try_memory(void) {
  return linux_try(SYS_process_vm_readv, getpid(), 0, 0, 0, 0, 0);
}

// Swift does not import it. For a process without other threads.
static inline pid_t linux_fork(void) { return fork(); }

// A program to be started. Arrays end with NULL.
struct linux_program {
  // The paths at which it may be; the first that can be executed is used.
  char *_Nullable const *_Nonnull paths;
  char *_Nullable const *_Nonnull arguments;
  // "sh", one to be replaced, and the arguments from the second on: for files that the shell has to read.
  char *_Nullable *_Nonnull shell_arguments;
  char *_Nullable const *_Nonnull environment;
  sigset_t mask;
  // Signals that the caller changed: those in `ignored` are ignored again, and the others have their default action.
  sigset_t changed;
  sigset_t ignored;
  // Bits of the standard streams that are to be closed.
  unsigned closed;
  // Descriptors for standard output and standard error; -1 leaves them as they are.
  int standard_output;
  int standard_error;
};

// Runs in the child of vfork(2): sets the signals and streams, and executes the program as execvp(3) does. `*result`
// receives an errno value; it is in the parent's memory, which the child shares until then.
__attribute__((noreturn)) static inline void linux_become(const struct linux_program *_Nonnull program,
                                                          volatile int *_Nonnull result) {
  for (int number = 1; number < 65; number++) {
    if (sigismember(&program->changed, number) == 1)
      signal(number, sigismember(&program->ignored, number) == 1 ? SIG_IGN : SIG_DFL);
  }
  if (program->standard_output >= 0) dup2(program->standard_output, 1);
  if (program->standard_error >= 0) dup2(program->standard_error, 2);
  for (int stream = 0; stream < 3; stream++) {
    if (program->closed >> stream & 1) close(stream);
  }
  sigprocmask(SIG_SETMASK, &program->mask, NULL);
  int failure = ENOENT;
  for (char *const *path = program->paths; *path; path++) {
    execve(*path, program->arguments, program->environment);
    if (errno == ENOEXEC) {
      program->shell_arguments[1] = *path;
      execve("/bin/sh", program->shell_arguments, program->environment);
    }
    if (errno == EACCES) failure = EACCES;
    if (errno != EACCES && errno != ENOENT && errno != ENOTDIR && errno != ESTALE) {
      failure = errno;
      break;
    }
  }
  *result = failure;
  _exit(127);
}

// How many names the file has: a network file system is asked for it. -1 and errno if that fails.
static inline int linux_link_count(int descriptor) {
  struct statx status;
  const int empty_path = 0x1000, force_sync = 0x2000; // AT_EMPTY_PATH, AT_STATX_FORCE_SYNC
  if (syscall(SYS_statx, descriptor, "", empty_path | force_sync, STATX_NLINK, &status) != 0) return -1;
  return (int)status.stx_nlink;
}

// Starts a program. Returns its process id; or -1, and `*failure` is an errno value. The caller has blocked all signals:
// a handler of its own would run in the child, too. Opens no file, of which this process may have no more.
static inline pid_t linux_start(const struct linux_program *_Nonnull program, int *_Nonnull failure) {
  volatile int result = 0;
  char *const replaced = program->shell_arguments[1];
  pid_t child = vfork();
  if (child == 0) linux_become(program, &result);
  program->shell_arguments[1] = replaced; // what the child wrote is here, too
  if (child < 0) {
    *failure = errno;
    return -1;
  }
  *failure = result;
  if (result == 0) return child;
  waitpid(child, NULL, 0);
  return -1;
}

#endif
