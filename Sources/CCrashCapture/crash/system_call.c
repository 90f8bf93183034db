// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "crash_time.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "state.h"

// The only place where the capture enters the kernel. A filter that traps system calls reports the address behind the
// instruction, by which the handler distinguishes its own calls from those of the program.
__asm__(
    ".section .text.hot,\"ax\",%progbits\n"
    ".hidden crash_system_call\n"
    ".globl crash_system_call\n"
    ".type crash_system_call, %function\n"
    "crash_system_call:\n"
    ".cfi_startproc\n"
#if defined(__x86_64__)
    "mov %rdi, %rax\n"
    "mov %rsi, %rdi\n"
    "mov %rdx, %rsi\n"
    "mov %rcx, %rdx\n"
    "mov %r8, %r10\n"
    "mov %r9, %r8\n"
    "mov 8(%rsp), %r9\n"
    "syscall\n"
#else
    "mov x8, x0\n"
    "mov x0, x1\n"
    "mov x1, x2\n"
    "mov x2, x3\n"
    "mov x3, x4\n"
    "mov x4, x5\n"
    "mov x5, x6\n"
    "svc 0\n"
#endif
    ".hidden crash_system_call_end\n"
    ".globl crash_system_call_end\n"
    "crash_system_call_end:\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size crash_system_call, .-crash_system_call\n"
    ".text\n");

// MARK: Refusals

enum { kNumbers = 512 };
static _Atomic uint64_t refused[kNumbers / 64];

CRASH_TIME void note_refusal(long number) {
  if (number < 0 || number >= kNumbers) return;
  atomic_fetch_or_explicit(&refused[number / 64], UINT64_C(1) << (number % 64), memory_order_relaxed);
}

CRASH_TIME void forget_refusals(void) {
  for (int word = 0; word < kNumbers / 64; word++) atomic_store_explicit(&refused[word], 0, memory_order_relaxed);
}

struct name {
  short number;
  char text[20];
};

#define NAME(call) \
  { SYS_##call, #call }
static const struct name kNames[] = {
    NAME(read),         NAME(write),       NAME(close),          NAME(fstat),     NAME(lseek),
    NAME(rt_sigaction), NAME(pread64),     NAME(rt_sigprocmask), NAME(pwrite64),  NAME(writev),
    NAME(getpid),       NAME(fcntl),       NAME(ftruncate),      NAME(getrusage), NAME(sysinfo),
    NAME(getppid),      NAME(getpriority), NAME(prctl),          NAME(gettid),    NAME(futex),
    NAME(getdents64),   NAME(tgkill),      NAME(openat),         NAME(mkdirat),   NAME(newfstatat),
    NAME(readlinkat),   NAME(renameat),    NAME(pipe2),          NAME(prlimit64), NAME(rt_tgsigqueueinfo),
    NAME(getrandom),    NAME(renameat2),   NAME(statx),          NAME(nanosleep), NAME(clock_gettime),
    NAME(ptrace),       NAME(clone),       NAME(wait4),          NAME(tkill),     NAME(process_vm_readv),
#if defined(__x86_64__)
    NAME(arch_prctl),   NAME(open),        NAME(rename),         NAME(pipe),
#endif
};

CRASH_TIME size_t append_refusals(char *buffer, size_t size, size_t end) {
  bool is_first = true;
  for (int number = 0; number < kNumbers; number++) {
    uint64_t word = atomic_load_explicit(&refused[number / 64], memory_order_relaxed);
    if ((word >> (number % 64) & 1) == 0) continue;
    if (!is_first) end = append_text(buffer, size, end, ", ");
    is_first = false;
    size_t start = end;
    for (size_t index = 0; index < sizeof kNames / sizeof *kNames; index++) {
      if (kNames[index].number == number) end = append_text(buffer, size, end, kNames[index].text);
    }
    if (end == start) end = append_number(buffer, size, end, (uint64_t)number);
  }
  return end;
}

CRASH_TIME bool has_filter(void) {
  // prctl(2) itself fails here only if a filter makes it fail.
  return SYSTEM_CALL_1(SYS_prctl, PR_GET_SECCOMP) != 0;
}

// MARK: Files

static bool may_raise_files;
static bool may_raise_size;
static bool may_close;

CRASH_TIME void pass_limits(void) { may_raise_files = may_raise_size = may_close = true; }

// may_raise: whether the limit may be raised now; false afterwards.
CRASH_TIME static bool raise_limit(int resource, bool *may_raise) {
  struct rlimit limit;
  if (!*may_raise) return false;
  *may_raise = false;
  if (SYSTEM_CALL_4(SYS_prlimit64, 0, resource, NULL, &limit) < 0) return false;
  rlim_t highest = limit.rlim_max;
  if (resource == RLIMIT_FSIZE) {
    limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
    // Only root may.
    if (SYSTEM_CALL_4(SYS_prlimit64, 0, resource, &limit, NULL) == 0) return true;
  } else if (limit.rlim_cur >= highest) {
    return false;
  }
  limit.rlim_cur = limit.rlim_max = highest;
  return SYSTEM_CALL_4(SYS_prlimit64, 0, resource, &limit, NULL) == 0;
}

// Closes the highest descriptors in a table of this thread's own: the other threads keep theirs. The kernel gives the
// thread such a table as a copy.
CRASH_TIME static bool make_room(void) {
  const rlim_t kNeeded = 8;
  struct rlimit limit;
  if (!may_close || has_filter()) return false;
  may_close = false;
  if (SYSTEM_CALL_4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) < 0 || limit.rlim_cur <= 2 * kNeeded) return false;
  if (SYSTEM_CALL_1(SYS_unshare, CLONE_FILES) < 0) return false;
  for (rlim_t number = limit.rlim_cur - kNeeded; number < limit.rlim_cur; number++) SYSTEM_CALL_1(SYS_close, number);
  return true;
}

CRASH_TIME bool raise_file_size(void) { return raise_limit(RLIMIT_FSIZE, &may_raise_size); }

CRASH_TIME long open_at(int directory, const char *name, int flags, int mode) {
  long result = SYSTEM_CALL_4(SYS_openat, directory, name, flags, mode);
  if (result == -EMFILE && (raise_limit(RLIMIT_NOFILE, &may_raise_files) || make_room())) {
    result = SYSTEM_CALL_4(SYS_openat, directory, name, flags, mode);
  }
#if defined(__x86_64__)
  // Older filters allow only open(2), which takes no directory.
  if ((result == -EPERM || result == -ENOSYS) && name[0] == '/') result = SYSTEM_CALL_3(SYS_open, name, flags, mode);
#endif
  return result;
}

// MARK: Who calls

// The number after the last slash in the target of a link in /proc; -1 if there is none.
CRASH_TIME static int number_of_link(const char *link) {
  char target[64];
  long length = SYSTEM_CALL_4(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
  int number = -1;
  for (long index = 0; index < length; index++) {
    if (target[index] == '/') {
      number = -1;
    } else if (target[index] >= '0' && target[index] <= '9') {
      number = (number < 0 ? 0 : number * 10) + (target[index] - '0');
    }
  }
  return number;
}

CRASH_TIME int listed_process(void) { return number_of_link("/proc/self"); }
CRASH_TIME int listed_thread(void) { return number_of_link("/proc/thread-self"); }

// If neither call nor /proc is allowed, assumes the process that the handler was installed in, and its first thread.
AFTER_FORK CRASH_TIME int current_process(void) {
  long process = SYSTEM_CALL_1(SYS_getpid, 0);
  if (process <= 0) process = listed_process();
  return process > 0 ? (int)process : atomic_load(&crash_state.process);
}

CRASH_TIME int current_thread(void) {
  long thread = SYSTEM_CALL_1(SYS_gettid, 0);
  if (thread <= 0) thread = listed_thread();
  return thread > 0 ? (int)thread : atomic_load(&crash_state.process);
}

// MARK: Time

CRASH_TIME uint64_t clock_time(int clock) {
  // Set one by one: an initializer may compile to a call of memset.
  struct timespec time;
  time.tv_sec = 0;
  time.tv_nsec = 0;
  vdso_clock *read = crash_state.read_clock;
  bool is_read = read ? read(clock, &time) == 0 : false;
  if (!is_read && SYSTEM_CALL_2(SYS_clock_gettime, clock, &time) < 0) return 0;
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void find_in_vdso(const Elf64_Ehdr *header) {
  const Elf64_Phdr *segments = (const Elf64_Phdr *)((const uint8_t *)header + header->e_phoff);
  const Elf64_Dyn *entry = NULL;
  uint64_t bias = (uint64_t)header;
  for (int index = 0; index < header->e_phnum; index++) {
    if (segments[index].p_type == PT_LOAD) bias = (uint64_t)header + segments[index].p_offset - segments[index].p_vaddr;
    if (segments[index].p_type == PT_DYNAMIC) entry = (const void *)((const uint8_t *)header + segments[index].p_offset);
  }
  uint64_t symbols = 0;
  uint64_t names = 0;
  uint64_t names_size = 0;
  for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_SYMTAB) symbols = bias + entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names = bias + entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRSZ) names_size = entry->d_un.d_val;
  }
  // The symbol table has no count; the kernel's linker puts the names right behind it.
  const uint64_t kMostSymbols = 256;
  if (symbols == 0 || names <= symbols) return;
  uint64_t count = (names - symbols) / sizeof(Elf64_Sym);
  const Elf64_Sym *symbol = (const Elf64_Sym *)symbols;
  for (uint64_t index = 0; index < count && index < kMostSymbols; index++, symbol++) {
    if (symbol->st_name >= names_size || symbol->st_shndx == SHN_UNDEF) continue;
    const char *name = (const char *)names + symbol->st_name;
    if (is_equal(name, "__vdso_clock_gettime") || is_equal(name, "__kernel_clock_gettime")) {
      crash_state.read_clock = (vdso_clock *)(bias + symbol->st_value);
      return;
    }
  }
}

void clock_install(void) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
  if (header != NULL) find_in_vdso(header);
}
