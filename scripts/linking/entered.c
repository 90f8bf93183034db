// SPDX-License-Identifier: Apache-2.0
// Prints the names of the functions that a run of a program enters, in their order: a breakpoint at the begin of each, which
// is removed when it is reached. The program must have its symbols.
// usage: entered PROGRAM ARGUMENT...
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
typedef struct user_regs_struct Registers;
#define COUNTER rip
static const unsigned char breakpoint[] = {0xcc};
// The counter is behind the breakpoint when the program stops.
enum { passed = 1 };
#elif defined(__aarch64__)
typedef struct user_regs_struct Registers;
#define COUNTER pc
static const unsigned char breakpoint[] = {0x00, 0x00, 0x20, 0xd4};
enum { passed = 0 };
#else
#error "no breakpoint is known for this processor"
#endif

typedef struct {
  unsigned long address;
  const char *name;
} Function;

static const char *file;
static const Elf64_Phdr *text;
static Function *functions;
static size_t count;

static int compare(const void *left, const void *right) {
  const Function *a = left, *b = right;
  return a->address < b->address ? -1 : a->address > b->address;
}

static void readFile(const char *path) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status)) err(1, "%s", path);
  file = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (file == MAP_FAILED) err(1, "%s", path);
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
  const Elf64_Phdr *segments = (const Elf64_Phdr *)(file + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X) text = &segments[i];
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff), *table = NULL;
  for (int i = 0; i < header->e_shnum; i++)
    if (sections[i].sh_type == SHT_SYMTAB) table = &sections[i];
  if (!text || !table) errx(1, "%s: no symbols", path);
  const Elf64_Sym *symbols = (const Elf64_Sym *)(file + table->sh_offset);
  const char *names = file + sections[table->sh_link].sh_offset;
  functions = calloc(table->sh_size / sizeof *symbols, sizeof *functions);
  for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
    unsigned long offset = symbols[i].st_value - text->p_vaddr;
    if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_shndx && offset < text->p_filesz - sizeof breakpoint)
      functions[count++] = (Function){symbols[i].st_value, names + symbols[i].st_name};
  }
  qsort(functions, count, sizeof *functions, compare);
}

static void start(char **arguments) {
  int null = open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; i++) dup2(null, i);
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  execv(arguments[0], arguments);
  _exit(127);
}

// The difference between addresses in memory and in the file.
static unsigned long base(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/auxv", process);
  int descriptor = open(path, O_RDONLY);
  unsigned long pair[2];
  while (read(descriptor, pair, sizeof pair) == sizeof pair)
    if (pair[0] == AT_ENTRY) return pair[1] - ((const Elf64_Ehdr *)file)->e_entry;
  errx(1, "%s: no entry", path);
}

static void write_(int memory, const void *bytes, size_t size, unsigned long address) {
  if (pwrite(memory, bytes, size, address) != (ssize_t)size) err(1, "cannot set a breakpoint");
}

// Prints the functions at an address, and removes the breakpoint there.
static void reached(int memory, unsigned long base, unsigned long address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (functions[middle].address < address) low = middle + 1;
    else high = middle;
  }
  for (; low < count && functions[low].address == address; low++) puts(functions[low].name);
  write_(memory, file + text->p_offset + (address - text->p_vaddr), sizeof breakpoint, base + address);
}

int main(int argc, char **argv) {
  if (argc < 2) errx(64, "usage: entered PROGRAM ARGUMENT...");
  readFile(argv[1]);
  pid_t process = fork();
  if (process == 0) start(argv + 1);
  int status;
  if (waitpid(process, &status, 0) < 0 || !WIFSTOPPED(status)) errx(1, "%s cannot be traced", argv[1]);
  unsigned long begin = base(process);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", process);
  int memory = open(path, O_RDWR);
  unsigned char *code = malloc(text->p_filesz);
  memcpy(code, file + text->p_offset, text->p_filesz);
  for (size_t i = 0; i < count; i++)
    memcpy(code + (functions[i].address - text->p_vaddr), breakpoint, sizeof breakpoint);
  write_(memory, code, text->p_filesz, begin + text->p_vaddr);
  int signal = 0;
  while (ptrace(PTRACE_CONT, process, 0, signal) == 0 && waitpid(process, &status, 0) > 0 && WIFSTOPPED(status)) {
    signal = WSTOPSIG(status);
    if (signal != SIGTRAP) continue;
    signal = 0;
    Registers registers;
    struct iovec all = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, process, NT_PRSTATUS, &all)) err(1, "registers");
    registers.COUNTER -= passed;
    reached(memory, begin, registers.COUNTER - begin);
    if (ptrace(PTRACE_SETREGSET, process, NT_PRSTATUS, &all)) err(1, "registers");
  }
  if (!WIFEXITED(status)) errx(1, "%s was ended by a signal", argv[1]);
  return fflush(stdout) ? 1 : 0;
}
