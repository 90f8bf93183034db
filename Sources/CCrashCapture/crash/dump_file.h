// SPDX-License-Identifier: Apache-2.0
// The file of the next dump: pending-serialized-ios-dump/<program id>@<uuid>.locked, and its renaming to the name
// without .locked.
#ifndef CRASHPADCTL_DUMP_FILE_H
#define CRASHPADCTL_DUMP_FILE_H

#include "state.h"

// Whether the descriptor still is our file, and the file has a name.
CRASH_TIME bool is_own_file(const struct known_file *file);
// Closes the descriptor if it still is our file, and forgets it.
CRASH_TIME void close_own_file(struct known_file *file);
// In `process`, a child of fork(2): closes the parent's file. crash_state keeps it, because the kernel would have to
// copy a page for each child that clears it.
void close_parents_file(int process);
// Forgets the parent's file. The thread that captures calls this before it uses crash_state.file.
CRASH_TIME void forget_parents_file(void);
CRASH_TIME void remember_file(struct known_file *file, int descriptor);
// Moves a descriptor away from the low numbers that some programs expect for their own files; returns the new one.
CRASH_TIME int raise_descriptor(int descriptor);

// Makes the locked file, and holds its lock as a sign of life. With a run id, the uuid begins with its first 12 bytes,
// followed by the process id for the first dump and random bytes for others; without one it is random. Returns 0 or an
// errno value below zero.
CRASH_TIME long dump_file_make(void);

// Opens the directory of the dumps, if it is not open yet. Returns 0 or an errno value below zero.
CRASH_TIME long dump_file_reach(void);
// Closes the descriptors of the file and its directory. A crash opens them again by their names; a mapping keeps the
// file's lock. Does nothing if the descriptors are to stay open (state.holds_files).
void dump_file_let_go(void);
// Gives up the mapping that keeps the lock of the process's file.
void dump_file_unlock(void);
// Opens the file, or makes it, and keeps it open from now on. Called before the process loses its permission for the
// file, or the path to it.
void dump_file_hold(void);
// Makes the file again if it is gone: after a first crash, in a child, in a program that closes descriptors it did not
// open, or if the file was removed. Returns 0 or an errno value below zero.
CRASH_TIME long dump_file_prepare(void);
// Gives the file its final name, and forgets it. Returns 0 or an errno value below zero.
CRASH_TIME long dump_file_finish(void);
// Removes the empty file of a program that ends normally, which has this name with .locked.
CRASH_TIME void dump_file_discard(struct known_file *file, const char *locked_name);

#endif
