// SPDX-License-Identifier: Apache-2.0
#include "CCrashpadCapstone.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// cs_insn of capstone 4 and of capstone 5, which read longer instructions.

struct instruction4 {
  unsigned id;
  uint64_t address;
  uint16_t size;
  uint8_t bytes[16];
  char mnemonic[32];
  char operands[160];
  void *detail;
};
_Static_assert(offsetof(struct instruction4, mnemonic) == 34 && sizeof(struct instruction4) == 240, "cs_insn of 4");

struct instruction5 {
  unsigned id;
  uint64_t address;
  uint16_t size;
  uint8_t bytes[24];
  char mnemonic[32];
  char operands[160];
  void *detail;
};
_Static_assert(offsetof(struct instruction5, mnemonic) == 42 && sizeof(struct instruction5) == 248, "cs_insn of 5");

struct library {
  int version;
  int (*open)(int architecture, int mode, size_t *handle);
  int (*close)(size_t *handle);
  void *(*allocate)(size_t handle);
  void (*release)(void *instructions, size_t count);
  bool (*next)(size_t handle, const uint8_t **bytes, size_t *count, uint64_t *address, void *instruction);
};

struct capstone {
  struct library library;
  size_t handle;
  void *instruction;
};

static bool load(const char *name, int version, struct library *library) {
  void *file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (file == NULL) return false;
  unsigned (*get_version)(int *, int *) = dlsym(file, "cs_version");
  library->version = version;
  library->open = dlsym(file, "cs_open");
  library->close = dlsym(file, "cs_close");
  library->allocate = dlsym(file, "cs_malloc");
  library->release = dlsym(file, "cs_free");
  library->next = dlsym(file, "cs_disasm_iter");
  int major = 0, minor = 0;
  if (get_version != NULL) get_version(&major, &minor);
  // The layout is that of the version, whatever the file is called.
  return major == version && library->open != NULL && library->close != NULL && library->allocate != NULL &&
         library->release != NULL && library->next != NULL;
}

static bool find(struct library *library) {
  return load("libcapstone.so.5", 5, library) || load("libcapstone.so.4", 4, library);
}

bool capstone_is_installed(void) {
  struct library library;
  return find(&library);
}

static int open_handle(const struct library *library, enum capstone_code code, size_t *handle) {
  enum { kARM = 0, kARM64 = 1, kX86 = 3 };
  enum { kARMMode = 0, k32 = 1 << 2, k64 = 1 << 3, kThumb = 1 << 4 };
  switch (code) {
  case CAPSTONE_ARM: return library->open(kARM, kARMMode, handle);
  case CAPSTONE_THUMB: return library->open(kARM, kThumb, handle);
  case CAPSTONE_ARM64: return library->open(kARM64, kARMMode, handle);
  case CAPSTONE_X86: return library->open(kX86, k32, handle);
  case CAPSTONE_X86_64: return library->open(kX86, k64, handle);
  }
  return -1;
}

struct capstone *capstone_begin(enum capstone_code code) {
  struct capstone *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return NULL;
  if (find(&reader->library) && open_handle(&reader->library, code, &reader->handle) == 0) {
    reader->instruction = reader->library.allocate(reader->handle);
    if (reader->instruction != NULL) return reader;
    reader->library.close(&reader->handle);
  }
  free(reader);
  return NULL;
}

bool capstone_read(struct capstone *reader, const uint8_t *bytes, size_t count, uint64_t address,
                   struct capstone_line *line) {
  size_t left = count;
  if (!reader->library.next(reader->handle, &bytes, &left, &address, reader->instruction)) return false;
  if (left >= count) return false;
  memset(line, 0, sizeof *line);
  line->size = count - left;
  // The zeros at the ends stay.
  if (reader->library.version == 4) {
    const struct instruction4 *instruction = reader->instruction;
    memcpy(line->mnemonic, instruction->mnemonic, sizeof instruction->mnemonic);
    memcpy(line->operands, instruction->operands, sizeof instruction->operands);
  } else {
    const struct instruction5 *instruction = reader->instruction;
    memcpy(line->mnemonic, instruction->mnemonic, sizeof instruction->mnemonic);
    memcpy(line->operands, instruction->operands, sizeof instruction->operands);
  }
  return true;
}

void capstone_end(struct capstone *reader) {
  reader->library.release(reader->instruction, 1);
  reader->library.close(&reader->handle);
  free(reader);
}
