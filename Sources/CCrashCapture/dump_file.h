// SPDX-License-Identifier: Apache-2.0
// The file of the dump to come: pending-serialized-ios-dump/<program id>@<uuid>.locked, and its way to the name without
// .locked.
#ifndef CRASHPADCTL_DUMP_FILE_H
#define CRASHPADCTL_DUMP_FILE_H

#include "state.h"

// Whether the descriptor still is our file, and the file has a name.
CRASH_TIME bool is_own_file(const struct known_file *file);
// Closes the descriptor, if it still is our file, and forgets it.
CRASH_TIME void close_own_file(struct known_file *file);
// In `process`, a child of fork(2): closes the parent's file. The child still has it in crash_state, as the kernel would copy
// a page for each child to note that it is gone.
void close_parents_file(int process);
// Forgets such a file. Needed before crash_state.file is used, by the thread that captures.
CRASH_TIME void forget_parents_file(void);
CRASH_TIME void remember_file(struct known_file *file, int descriptor);
// Moves a descriptor out of the way of programs that count on low numbers; returns the one to use.
CRASH_TIME int raise_descriptor(int descriptor);

// Makes the locked file, and holds its lock as a sign of life. Its uuid has the run's first 12 bytes and the process id
// where there is a run and no such dump, and otherwise random ones. Returns 0 or an errno value below zero.
CRASH_TIME long dump_file_make(void);

// Opens the directory of the dumps, if it is not open yet. Returns 0, or below zero an errno value.
CRASH_TIME long dump_file_reach(void);
// The same, if there is no file any more: a second crash, a child, a program that closed what it did not open, a file
// that somebody removed.
CRASH_TIME long dump_file_prepare(void);
// Gives the file its final name, and forgets it. Returns 0 or an errno value below zero.
CRASH_TIME long dump_file_finish(void);
// Removes the empty file of a program that ends in good order, which has this name with .locked.
CRASH_TIME void dump_file_discard(struct known_file *file, const char *locked_name);

#endif
