// SPDX-License-Identifier: Apache-2.0
// The loaded modules, from the loader's own list, read without its lock.
#ifndef CRASHPADCTL_MODULES_H
#define CRASHPADCTL_MODULES_H

#include "dump_writer.h"

enum { kMaximumModules = 2048, kMaximumModuleName = 4096 };

struct module {
  uint64_t address;
  uint64_t size;
  // What the file's addresses are moved by.
  uint64_t bias;
  // Where the loader has the name; 0 for the executable.
  uint64_t name_address;
  uint32_t build_id_size;
  uint8_t build_id[64];
  bool is_executable;
  bool is_loader;
};

// Fills the list anew; returns how many there are.
CRASH_TIME int modules_find(void);
CRASH_TIME const struct module *modules_at(int index);
// Ended by NUL; returns its length.
CRASH_TIME size_t modules_name(const struct module *module, char *name, size_t size);
// Whether there may be more than were found, and why; empty if not.
CRASH_TIME const char *modules_problem(void);

#endif
