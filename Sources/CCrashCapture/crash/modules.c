// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "modules.h"

#include <elf.h>
#include <link.h>

#include "memory.h"
#include "state.h"

static struct {
  struct module modules[kMaximumModules];
  int count;
  const char *problem;
} module_table;

// Finds the build id in the notes by its name and type.
CRASH_TIME static void read_notes(struct module *module, uint64_t address, uint64_t size) {
  const uint64_t kLimit = 64 << 10;
  uint64_t end = address + (size < kLimit ? size : kLimit);
  while (address + sizeof(Elf64_Nhdr) <= end) {
    Elf64_Nhdr note;
    if (memory_read(&note, address, sizeof note) != sizeof note) return;
    uint64_t name = address + sizeof note;
    uint64_t value = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
    uint32_t gnu;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memory_read(&gnu, name, 4) == 4 && gnu == 0x00554e47) {
      uint32_t wanted = note.n_descsz < sizeof module->build_id ? note.n_descsz : sizeof module->build_id;
      module->build_id_size = (uint32_t)memory_read(module->build_id, value, wanted);
      return;
    }
    address = value + ((uint64_t)note.n_descsz + 3) / 4 * 4;
  }
}

// Sets the module's address, size and build id from its program headers.
CRASH_TIME static bool read_headers(struct module *module, uint64_t headers, uint64_t count) {
  const uint64_t kMaximumHeaders = 128;
  uint64_t start = UINT64_MAX;
  uint64_t end = 0;
  if (count > kMaximumHeaders) count = kMaximumHeaders;
  for (uint64_t index = 0; index < count; index++) {
    Elf64_Phdr header;
    if (memory_read(&header, headers + index * sizeof header, sizeof header) != sizeof header) break;
    if (header.p_type == PT_LOAD && header.p_memsz > 0) {
      uint64_t first = header.p_vaddr & ~(crash_state.page_size - 1);
      if (first < start) start = first;
      if (header.p_vaddr + header.p_memsz > end) end = header.p_vaddr + header.p_memsz;
    }
    if (header.p_type == PT_NOTE && module->build_id_size == 0) {
      read_notes(module, module->bias + header.p_vaddr, header.p_memsz);
    }
  }
  if (start >= end) return false;
  module->address = module->bias + start;
  module->size = end - start;
  return true;
}

CRASH_TIME static struct module *add(void) {
  if (module_table.count == kMaximumModules) {
    module_table.problem = "there are more than 2048 modules";
    return NULL;
  }
  struct module *module = &module_table.modules[module_table.count++];
  zero_bytes(module, sizeof *module);
  return module;
}

CRASH_TIME static void add_executable(uint64_t bias) {
  struct module *module = add();
  if (module == NULL) return;
  module->is_executable = true;
  module->bias = bias;
  if (!read_headers(module, crash_state.program_headers, crash_state.program_header_count)) module_table.count--;
}

CRASH_TIME static void add_image(uint64_t bias, uint64_t name_address) {
  Elf64_Ehdr header;
  // In every library the first segment begins at 0, with the header.
  if (memory_read(&header, bias, sizeof header) != sizeof header || header.e_ident[0] != ELFMAG0 ||
      header.e_ident[1] != ELFMAG1 || header.e_ident[2] != ELFMAG2 || header.e_ident[3] != ELFMAG3) {
    module_table.problem = "a module's header is not where it should be";
    return;
  }
  struct module *module = add();
  if (module == NULL) return;
  module->bias = bias;
  module->name_address = name_address;
  module->is_loader = bias == crash_state.loader_base;
  if (!read_headers(module, bias + header.e_phoff, header.e_phnum)) module_table.count--;
}

CRASH_TIME static bool is_known(uint64_t bias) {
  for (int index = 0; index < module_table.count; index++) {
    if (module_table.modules[index].bias == bias && !module_table.modules[index].is_executable) return true;
  }
  return false;
}

CRASH_TIME static void add_list(uint64_t place, bool *has_executable) {
  for (int steps = 0; place != 0 && steps < kMaximumModules; steps++) {
    // The public beginning of struct link_map.
    struct {
      uint64_t bias;
      uint64_t name;
      uint64_t dynamic;
      uint64_t next;
      uint64_t previous;
    } entry;
    if (memory_read(&entry, place, sizeof entry) != sizeof entry) {
      module_table.problem = "the loader's list of modules is damaged";
      return;
    }
    if (!*has_executable) {
      *has_executable = true;
      add_executable(entry.bias);
    } else if (!is_known(entry.bias)) {
      add_image(entry.bias, entry.name);
    }
    place = entry.next;
  }
}

CRASH_TIME int modules_find(void) {
  module_table.count = 0;
  module_table.problem = "";
  bool has_executable = false;
  // struct r_debug: the version, the list; since version 2 also the next of several, one for each namespace of
  // dlmopen(3).
  uint64_t debug = crash_state.loader_debug;
  for (int spaces = 0; debug != 0 && spaces < 16; spaces++) {
    uint64_t words[6];
    size_t read = memory_read(words, debug, sizeof words);
    if (read < 5 * sizeof *words) break;
    add_list(words[1], &has_executable);
    debug = (uint32_t)words[0] >= 2 && read == sizeof words ? words[5] : 0;
  }
  if (!has_executable) {
    add_executable(crash_state.executable_bias);
    if (crash_state.vdso != 0) add_image(crash_state.vdso, 0);
  }
  return module_table.count;
}

CRASH_TIME const struct module *modules_at(int index) { return &module_table.modules[index]; }

CRASH_TIME size_t modules_name(const struct module *module, char *name, size_t size) {
  if (module->is_executable) return append_text(name, size, 0, crash_state.executable);
  size_t length = module->name_address == 0 ? 0 : memory_read_text(name, size, module->name_address);
  return length > 0 || module->bias != crash_state.vdso ? length : append_text(name, size, 0, "linux-vdso.so.1");
}

CRASH_TIME const char *modules_problem(void) { return module_table.problem == NULL ? "" : module_table.problem; }
