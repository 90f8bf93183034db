// SPDX-License-Identifier: Apache-2.0
// What code that runs during a crash is made of: the mark that the compiler checks, and raw system calls.
//
// A function with CRASH_TIME may call only functions with CRASH_TIME: no allocation, no lock, nothing of libc, which
// may be the very thing that crashed. Clang refuses anything else. System calls are made here, so that no errno, no
// cancellation point and no lazily bound symbol is touched.
#ifndef CRASHPADCTL_CRASH_TIME_H
#define CRASHPADCTL_CRASH_TIME_H

#include <errno.h>
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

#if defined(__x86_64__)
CRASH_TIME static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
CRASH_TIME static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "only x86_64 and arm64 have a register layout in the intermediate dump"
#endif

// Results below zero are errno values.
#define SYSTEM_CALL_1(number, a) system_call(number, (long)(a), 0, 0, 0, 0, 0)
#define SYSTEM_CALL_2(number, a, b) system_call(number, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYSTEM_CALL_3(number, a, b, c) system_call(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYSTEM_CALL_4(number, a, b, c, d) system_call(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYSTEM_CALL_6(number, a, b, c, d, e, f) \
  system_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

CRASH_TIME static inline int current_process(void) { return (int)SYSTEM_CALL_1(SYS_getpid, 0); }
CRASH_TIME static inline int current_thread(void) { return (int)SYSTEM_CALL_1(SYS_gettid, 0); }

// Not memcpy: that may be one of many, chosen by the loader at its first call.
CRASH_TIME static inline void copy_bytes(void *to, const void *from, size_t count) {
#if defined(__x86_64__)
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
#else
  uint8_t *target = to;
  const uint8_t *source = from;
  while (count-- > 0) {
    *target++ = *source++;
    __asm__ volatile("" : : : "memory");  // or the compiler sees memcpy in it
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

// Nanoseconds of one of the kernel's clocks (CLOCK_…).
CRASH_TIME static inline uint64_t clock_time(int clock) {
  // Set one by one: an initializer may be a call of memset.
  struct timespec time;
  time.tv_sec = 0;
  time.tv_nsec = 0;
  SYSTEM_CALL_2(SYS_clock_gettime, clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// The bytes before the NUL, at most `limit`.
CRASH_TIME static inline size_t text_length(const char *text, size_t limit) {
  size_t length = 0;
  while (length < limit && text[length] != 0) length++;
  return length;
}

// Appends text, and ends it with NUL; what does not fit is cut. Returns where the text ends.
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
