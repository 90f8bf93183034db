// SPDX-License-Identifier: Apache-2.0
// Functions of newer C libraries that compilers and archives of this machine call, made of those that glibc 2.31 has.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <features.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

// MARK: Files

// Until 2.33 these were inline functions, which called others with the version of the structure.
enum {
#ifdef __x86_64__
  statVersion = 1
#else
  statVersion = 0
#endif
};
int __xstat(int version, const char *path, struct stat *status);
int __lxstat(int version, const char *path, struct stat *status);
int __fxstat(int version, int file, struct stat *status);
int __fxstatat(int version, int directory, const char *path, struct stat *status, int flags);

int stat(const char *path, struct stat *status) { return __xstat(statVersion, path, status); }
int lstat(const char *path, struct stat *status) { return __lxstat(statVersion, path, status); }
int fstat(int file, struct stat *status) { return __fxstat(statVersion, file, status); }
int fstatat(int directory, const char *path, struct stat *status, int flags) {
  return __fxstatat(statVersion, directory, path, status, flags);
}

// The two structures are the same with 64 bits.
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "a file's size has 64 bits");
int stat64(const char *path, struct stat64 *status) { return stat(path, (struct stat *)status); }
int lstat64(const char *path, struct stat64 *status) { return lstat(path, (struct stat *)status); }
int fstat64(int file, struct stat64 *status) { return fstat(file, (struct stat *)status); }
int fstatat64(int directory, const char *path, struct stat64 *status, int flags) {
  return fstatat(directory, path, (struct stat *)status, flags);
}

// MARK: Start

// 2.34 moved the run of the constructors from the program's start files into the C library. An older one calls only the
// function that it is given; a newer one calls that in place of its own.
typedef void Constructor(int, char **, char **);
extern Constructor *__init_array_start[] __attribute__((visibility("hidden")));
extern Constructor *__init_array_end[] __attribute__((visibility("hidden")));

static void runConstructors(int count, char **arguments, char **environment) {
  for (Constructor **each = __init_array_start; each < __init_array_end; each++) (*each)(count, arguments, environment);
}

int __real___libc_start_main(int (*program)(int, char **, char **), int count, char **arguments,
                             void (*start)(int, char **, char **), void (*end)(void), void (*endOfLoader)(void),
                             void *stack);

int __wrap___libc_start_main(int (*program)(int, char **, char **), int count, char **arguments,
                             void (*start)(int, char **, char **), void (*end)(void), void (*endOfLoader)(void),
                             void *stack) {
  return __real___libc_start_main(program, count, arguments, start ? start : runConstructors, end, endOfLoader, stack);
}

// MARK: The compiler's libraries

// Never true: the C++ library then uses atomic instructions from the start.
char __libc_single_threaded = 0;

#if __GLIBC_PREREQ(2, 35)
// The unwinder of GCC 12 and later asks for the library and the table of an instruction.
struct search {
  uintptr_t address;
  struct dl_find_object *result;
  int isFound;
};

static int look(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  struct search *search = data;
  uintptr_t frames = 0, low = UINTPTR_MAX, high = 0;
  int isInside = 0;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) frames = start;
    if (header->p_type != PT_LOAD) continue;
    if (start < low) low = start;
    if (start + header->p_memsz > high) high = start + header->p_memsz;
    if (search->address - start < header->p_memsz) isInside = 1;
  }
  if (!isInside) return 0;
  search->result->dlfo_map_start = (void *)low;
  search->result->dlfo_map_end = (void *)high;
  search->result->dlfo_eh_frame = (void *)frames;
  search->isFound = frames != 0;
  return 1;
}

int _dl_find_object(void *address, struct dl_find_object *object) {
  struct search search = {(uintptr_t)address, object, 0};
  object->dlfo_flags = 0;
  object->dlfo_link_map = NULL;
  dl_iterate_phdr(look, &search);
  return search.isFound ? 0 : -1;
}
#endif
