// SPDX-License-Identifier: Apache-2.0
// The steps of the installation, and the functions that its files share.
#ifndef CRASHPADCTL_INSTALL_H
#define CRASHPADCTL_INSTALL_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

// The result of a system call as libc returns it.
static inline long finish_call(long result) {
  if (result >= 0) return result;
  errno = (int)-result;
  return -1;
}

// The value of a variable, whose name ends with its equals sign; NULL without it. Not getenv(3): some programs
// define a function of this name with another meaning, as bash does for its own variables.
const char *find_value(char *const environment[], const char *name);
// The index of a variable; -1 if it is not set.
int find_variable(char *const environment[], const char *name);

// Finds the facts that need libc, and those that are available only at the start.
//
// environment: names of variables to keep besides the usual ones; ends with NULL, stays unchanged; may be NULL itself.
// time_zone: as found by the process that started this one; NULL to ask libc.
void facts_install(const char *const *environment, const char *time_zone);

// Finds the places where runtimes leave the reason for ending the process: glibc's abort message, Swift's fatal error,
// and a terminate handler for C++ that records the exception and calls the earlier handler.
void messages_install(void);

// Gives an alternate signal stack, on which a handler runs when a thread's own stack is used up, to the calling thread
// and to those that run already; new threads get theirs from pthread_create.
void stacks_install(void);
// Gives the kernel the alternate stack of the program for the calling thread.
void give_stack_back(void);

// Finds libc's functions for signal handlers and masks behind ours before a signal handler needs them. Called before
// handlers are installed.
void interpose_install(void);
// The part of it that concerns masks.
void masks_install(void);

// The same for functions that wait with another mask, and for those that save and restore one.
void waits_install(void);
void contexts_install(void);
// The same for those that start programs.
void programs_install(void);
// Notes the path by which this library was preloaded, for the environment of programs; and that the process went to
// another root directory.
void programs_inherit(const char *path);
void programs_change_root(void);
// The same for abort(3).
void aborts_install(void);

// Whether calls for handlers and masks are changed. False in a child that shares its parent's memory (vfork), whose
// handlers and masks are the child's own.
bool interposes(void);
// Gives the kernel the program's own actions: from then on no call is followed.
void give_handlers_back(void);

// Whether they are left to the program in all of the process: Java's own library changes them, or Valgrind. Under Valgrind
// so are alternate stacks.
bool leaves_handlers(void);
bool leaves_stacks(void);

// The same as is_captured_process, for calls that programs make often: asks the kernel only where a child may share the
// memory.
bool is_own_process(void);
// Notes that the calling thread is about to start a process which shares the memory, for longer than until its end or
// its exec if the child does not let its parent wait.
void note_sharing(bool waits);

// The signals of a set that the kernel knows.
uint64_t first_word_of(const sigset_t *set);

// Makes the kernel block the hidden signals of the calling thread while it needs the whole mask: it exchanges masks by
// itself, or a program is started. Returns these signals for hide_again, which ends that; 0 if there are none.
uint64_t block_hidden(void);
void hide_again(uint64_t hidden);

// Hides the signals of faults that the kernel blocks in the calling thread, as libc set them. Does nothing where masks
// are the kernel's.
void hide_blocked(void);

// Waits until no other thread captures, and makes the calling thread the capturing one (crash_state.owner). Returns
// false if that takes more than ten seconds.
bool install_take_capture(void);

// For a child of fork(2), which lacks the thread that held the lock of annotations. Called only if `annotation_users`
// is not 0: otherwise nothing has to be written, and the kernel copies no page for the child.
void annotations_release(void);

// For a child of fork(2): closes the file that waits for a crash of the parent, if it was set aside for the file of a
// requested dump.
void request_close_file(void);

#endif
