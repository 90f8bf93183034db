// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "go.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "handlers.h"
#include "state.h"

// Go's machine code; a size of 0 if there is none.
static struct {
  uint64_t address;
  uint64_t size;
} code;

CRASH_TIME static bool is_in_code(uint64_t address) { return address - code.address < code.size; }

CRASH_TIME bool go_owns(uintptr_t handler) { return is_in_code(handler); }

// Go's own handler, or this one's for a crash in code of C.
HANDLER CRASH_TIME __attribute__((noinline)) static signal_handler *
handler_of_crash(int number, siginfo_t *information, void *context) {
  bool is_own_abort = information->si_code == SI_TKILL && information->si_pid == current_process();
  bool is_of_c = !is_in_code(context_program_counter(context)) && (information->si_code > 0 || is_own_abort);
  if (is_of_c || !is_captured_process()) return handle_crash;
  // Go wants all signals blocked in its handler; the return from this handler unblocks them again.
  uint64_t every_signal = ~UINT64_C(0);
  change_mask(SIG_BLOCK, &every_signal, NULL);
  return crash_state.earlier[crash_signal_index(number)].handler;
}

// Has no frame below Go's handler: that does not say where it kept the frame pointer, by which an aligned frame is found, so
// that no debugger would get past it to the frames of the panic.
CRASH_TIME void handle_go(int number, siginfo_t *information, void *context) {
  TAIL_CALL return handler_of_crash(number, information, context)(number, information, context);
}

// MARK: Where Go's code lies

// Whether the executable has a note by Go.
static bool has_go_note(const uint8_t *notes, size_t size) {
  size_t offset = 0;
  while (offset + sizeof(Elf64_Nhdr) <= size) {
    Elf64_Nhdr note;
    memcpy(&note, notes + offset, sizeof note);
    offset += sizeof note;
    size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
    if (name > size - offset) return false;
    if (note.n_namesz == 4 && memcmp(notes + offset, "Go\0", 4) == 0) return true;
    offset += name + (((size_t)note.n_descsz + 3) & ~(size_t)3);
  }
  return false;
}

// The address of Go's function table in the file; 0 if it has none.
static uint64_t find_table(int file) {
  Elf64_Ehdr header;
  if (pread(file, &header, sizeof header, 0) != sizeof header || header.e_shentsize != sizeof(Elf64_Shdr)) return 0;
  Elf64_Shdr names;
  off_t place = (off_t)(header.e_shoff + (uint64_t)header.e_shstrndx * sizeof names);
  if (pread(file, &names, sizeof names, place) != sizeof names) return 0;
  for (int index = 0; index < header.e_shnum; index++) {
    Elf64_Shdr section;
    place = (off_t)(header.e_shoff + (uint64_t)index * sizeof section);
    if (pread(file, &section, sizeof section, place) != sizeof section) return 0;
    char name[64];
    ssize_t length = pread(file, name, sizeof name - 1, (off_t)(names.sh_offset + section.sh_name));
    if (length <= 0) return 0;
    name[length] = 0;
    // In position-independent executables a prefix precedes the section's name.
    const char *end = strstr(name, ".gopclntab");
    if (end != NULL && strcmp(end, ".gopclntab") == 0) return section.sh_addr;
  }
  return 0;
}

// The header of the table. Source: Go, runtime/symtab.go, type pcHeader.
struct table {
  uint32_t magic;
  uint8_t padding[4];
  uint64_t function_count;
  uint64_t file_count;
  uint64_t code;
  uint64_t offsets[4];
  uint64_t functions_offset;
};

static void find_code(const struct table *table) {
  const uint32_t kGo18 = 0xfffffff0;
  const uint32_t kGo20 = 0xfffffff1;
  if ((table->magic != kGo18 && table->magic != kGo20) || table->code == 0) return;
  // Pairs of offsets, one of a function and one of its data; the end of the last function follows.
  const uint32_t *functions = (const uint32_t *)((const uint8_t *)table + table->functions_offset);
  code.address = table->code;
  code.size = functions[2 * table->function_count];
}

void go_install(void) {
  const Elf64_Phdr *headers = (const Elf64_Phdr *)getauxval(AT_PHDR);
  uint64_t count = getauxval(AT_PHNUM);
  if (headers == NULL || getauxval(AT_PHENT) != sizeof *headers) return;
  uint64_t bias = 0;
  bool is_go = false;
  for (uint64_t index = 0; index < count; index++) {
    if (headers[index].p_type == PT_PHDR) bias = (uint64_t)headers - headers[index].p_vaddr;
  }
  for (uint64_t index = 0; index < count; index++) {
    if (headers[index].p_type != PT_NOTE) continue;
    is_go |= has_go_note((const uint8_t *)(bias + headers[index].p_vaddr), headers[index].p_memsz);
  }
  if (!is_go) return;
  int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  uint64_t table = find_table(file);
  close(file);
  if (table != 0) find_code((const struct table *)(bias + table));
}
