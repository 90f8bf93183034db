// SPDX-License-Identifier: Apache-2.0
// The loaded modules, from the loader's own list, read without its lock.
#ifndef CRASHPADCTL_MODULES_H
#define CRASHPADCTL_MODULES_H

#include "dump_writer.h"

enum { kMaximumModules = 2048, kMaximumModuleName = 4096 };

struct module {
  uint64_t address;
  uint64_t size;
  // The difference between addresses in memory and in the file.
  uint64_t bias;
  // The address of the loader's copy of the name; 0 for the executable.
  uint64_t name_address;
  uint32_t build_id_size;
  uint8_t build_id[64];
  bool is_executable;
  bool is_loader;
};

// Reads the list again; returns the number of modules.
CRASH_TIME int modules_find(void);
CRASH_TIME const struct module *modules_at(int index);
// Copies the name and ends it with NUL; returns its length.
CRASH_TIME size_t modules_name(const struct module *module, char *name, size_t size);
// The reason why modules may be missing; empty if none are.
CRASH_TIME const char *modules_problem(void);

#endif
