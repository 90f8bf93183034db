// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that makes the calls fail by which a program changes the disk, and ends or stops the
// program between two of them. It exports nothing but these calls; the environment says what it does:
//
//   FAULT_ROOT=<path>          Only calls on what is below this directory count: an absolute path, no symbolic links.
//   FAULT_CALLS=<name>,…       Only these calls count. Without it all do that change something; fcntl, which is here
//                              for open-file-description locks alone, counts only when it is named, and so do look-open,
//                              look-stat, look-read and look-list, which change nothing.
//   FAULT_LOG=<file>           Appends a line for each call that counts: its number, its name, and what it is done to,
//                              relative to the root; between two names " -> "; at the end " !" if it had to fail.
//   FAULT_KILL_BEFORE=<n>      SIGKILL before call n, counted from 1; FAULT_KILL_AFTER=<n> after it.
//   FAULT_KILL_WITHIN=<n>      If call n writes, SIGKILL after half of the bytes; else after it.
//   FAULT_SIGNAL_BEFORE=<n>    Before call n, sends the signal FAULT_SIGNAL=<number> to the program.
//   FAULT_ERRNO=<number>       Call FAULT_FIRST=<n> fails with this error and does nothing; with FAULT_STEP=<k> every
//                              k-th from there on does.
//   FAULT_SHORT=1              Every call that counts and writes or reads more than one byte does half of them.
//   FAULT_SKIP_SYNC=1          fsync, fdatasync and syncfs count, and do nothing.
//   FAULT_DISK=<path>          What a disk would have after a power failure, in this empty directory: data/FILE has the
//                              bytes of a file when they were last synced, names/FILE the names of a directory when it
//                              was, journal/FILE those of each directory at the last sync of anything, and all/FILE
//                              those at the end; root/FILE is the root. FILE is the number of the inode with the time at
//                              which it was made. Lines of names: kind (f or d), FILE, number of its names, name.
//   FAULT_PAUSE_BEFORE=<n>     Before call n, makes FAULT_PAUSE_FILE=<file> and waits until it is gone.
//   FAULT_MEMORY=<file>        At the end, writes the most memory that was in use at once, in KiB. Needs no FAULT_ROOT.
#ifndef FAULT_INJECTION_H
#define FAULT_INJECTION_H
#endif
