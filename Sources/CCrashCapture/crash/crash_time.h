// SPDX-License-Identifier: Apache-2.0
// The basis of all code that runs during a crash: the mark that the compiler checks, and raw system calls.
//
// A function with CRASH_TIME may call only functions with CRASH_TIME: no allocation, no lock, nothing of libc, which
// may be the very part that crashed. Clang refuses anything else. System calls are made here, so that no errno, no
// cancellation point and no lazily bound symbol is touched.
#ifndef CRASHPADCTL_CRASH_TIME_H
#define CRASHPADCTL_CRASH_TIME_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__clang__)
#pragma clang diagnostic error "-Wfunction-effects"
#define CRASH_TIME __attribute__((nonblocking, no_stack_protector, disable_sanitizer_instrumentation))
#else
#define CRASH_TIME
#endif

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "only x86_64 and arm64 have a register layout in the intermediate dump"
#endif

// Marks a handler that the kernel calls: qemu's calls it with a stack that is not aligned.
#if defined(__x86_64__)
#define HANDLER __attribute__((force_align_arg_pointer))
#else
#define HANDLER
#endif

// Marks a call that adds no frame to the stack, which would be taken for one of the program.
#if __has_attribute(musttail)
#define TAIL_CALL __attribute__((musttail))
#else
#define TAIL_CALL
#endif

// Marks the code that each child of fork(2) runs. It is kept together, because the kernel maps the code of a child
// anew, sixteen pages at a time.
#define AFTER_FORK __attribute__((hot))

CRASH_TIME extern long crash_system_call(long number, long a, long b, long c, long d, long e, long f);
// The address behind the instruction that enters the kernel, by which a trapped call of the capture is recognized.
extern const char crash_system_call_end[] __attribute__((visibility("hidden")));

// System calls that a filter has refused since forget_refusals, for the notes of the dump.
CRASH_TIME void note_refusal(long number);
CRASH_TIME void forget_refusals(void);
// Appends the names of the refused calls, with commas between them. Returns the end of the text.
CRASH_TIME size_t append_refusals(char *buffer, size_t size, size_t end);

CRASH_TIME static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
  long result = crash_system_call(number, a, b, c, d, e, f);
  if (__builtin_expect(result == -EPERM || result == -ENOSYS, 0)) note_refusal(number);
  return result;
}

// Results below zero are errno values.
#define SYSTEM_CALL_1(number, a) system_call(number, (long)(a), 0, 0, 0, 0, 0)
#define SYSTEM_CALL_2(number, a, b) system_call(number, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYSTEM_CALL_3(number, a, b, c) system_call(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYSTEM_CALL_4(number, a, b, c, d) system_call(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYSTEM_CALL_6(number, a, b, c, d, e, f) \
  system_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

// Whether a result means that the call is not available here, so that another one may do.
CRASH_TIME static inline bool is_refused(long result) {
  return result == -EPERM || result == -ENOSYS || result == -EACCES || result == -EINVAL;
}

// Whether the process has a filter of system calls (seccomp), which may end it for an unusual call.
CRASH_TIME bool has_filter(void);

// openat(2), or another call if a filter refuses it. mode: for a file that is made.
CRASH_TIME long open_at(int directory, const char *name, int flags, int mode);
// Called when the process is about to end. If it reaches its limit of open files or of file sizes, the limit is raised
// once. If that does not help, this thread closes descriptors of the program in a table of its own.
CRASH_TIME void pass_limits(void);
// Raises the limit of file sizes, if that is allowed, and the system allows it.
CRASH_TIME bool raise_file_size(void);

CRASH_TIME int current_process(void);
CRASH_TIME int current_thread(void);
// The numbers in /proc, which may belong to another namespace; -1 without /proc.
CRASH_TIME int listed_process(void);
CRASH_TIME int listed_thread(void);

// A program may have enabled faults at unaligned addresses (EFLAGS.AC), which handlers inherit.
CRASH_TIME static inline __attribute__((always_inline)) void allow_unaligned(void) {
#if defined(__x86_64__)
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n"
      "pushfq\n"
      "andl $~0x40000, (%%rsp)\n"
      "popfq\n"
      "lea 128(%%rsp), %%rsp\n"
      :
      :
      : "memory", "cc");
#endif
}

// Not memcpy, which may have several implementations, chosen by the loader at the first call.
CRASH_TIME static inline void copy_bytes(void *to, const void *from, size_t count) {
#if defined(__x86_64__)
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
#else
  uint8_t *target = to;
  const uint8_t *source = from;
  while (count-- > 0) {
    *target++ = *source++;
    __asm__ volatile("" : : : "memory");  // prevents the compiler from turning it into memcpy
  }
#endif
}

CRASH_TIME static inline void zero_bytes(void *to, size_t count) {
#if defined(__x86_64__)
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory");
#else
  uint8_t *target = to;
  while (count-- > 0) {
    *target++ = 0;
    __asm__ volatile("" : : : "memory");
  }
#endif
}

// The kernel's function for clocks, which enters the kernel only where it has to.
typedef long vdso_clock(long clock, struct timespec *time) __attribute__((nonblocking));
// Nanoseconds of one of the kernel's clocks (CLOCK_...); 0 if it can't be read.
CRASH_TIME uint64_t clock_time(int clock);
// Finds the clock that needs no system call. Called at the start.
void clock_install(void);

// The number of bytes before the NUL, at most `limit`.
CRASH_TIME static inline size_t text_length(const char *text, size_t limit) {
  size_t length = 0;
  while (length < limit && text[length] != 0) length++;
  return length;
}

CRASH_TIME static inline bool begins_with(const char *text, const char *beginning) {
  while (*beginning != 0 && *text == *beginning) {
    text++;
    beginning++;
  }
  return *beginning == 0;
}

CRASH_TIME static inline bool is_equal(const char *one, const char *other) {
  return begins_with(one, other) && one[text_length(other, SIZE_MAX)] == 0;
}

// Appends text and ends it with NUL; an excess is cut off. Returns the end of the text.
CRASH_TIME static inline size_t append_text(char *buffer, size_t size, size_t end, const char *text) {
  while (*text != 0 && end + 1 < size) buffer[end++] = *text++;
  if (size > 0) buffer[end] = 0;
  return end;
}

CRASH_TIME static inline size_t append_number(char *buffer, size_t size, size_t end, uint64_t number) {
  char digits[21];
  size_t start = sizeof digits - 1;
  digits[start] = 0;
  do {
    digits[--start] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return append_text(buffer, size, end, digits + start);
}

CRASH_TIME static inline size_t append_hexadecimal(char *buffer, size_t size, size_t end, uint64_t number) {
  char digits[19];
  size_t start = sizeof digits - 1;
  digits[start] = 0;
  do {
    digits[--start] = "0123456789abcdef"[number & 15];
    number >>= 4;
  } while (number != 0);
  digits[--start] = 'x';
  digits[--start] = '0';
  return append_text(buffer, size, end, digits + start);
}

#endif
