// SPDX-License-Identifier: Apache-2.0
// The C++ and Swift demanglers, linked in or loaded at run time.
#ifndef CRASHPADCTL_CDEMANGLE_H
#define CRASHPADCTL_CDEMANGLE_H

#include <stddef.h>
#include <stdint.h>

// The demangler for C++ names.
typedef enum {
  // LLVM's demangler, linked in with our allocation functions: it stops at CRASHPADCTL_DEMANGLE_LIMIT for any name.
  CRASHPADCTL_CXX_LINKED,
  // LLVM's demangler from libc++abi.so.1. The caller must estimate the length of the result first.
  CRASHPADCTL_CXX_LOADED,
  // LLVM's demangler is not available.
  CRASHPADCTL_CXX_NONE,
} crashpadctl_cxx_demangler_kind;

// The maximum heap memory, in bytes, for one call of the linked demangler.
#define CRASHPADCTL_DEMANGLE_LIMIT (1u << 20)

crashpadctl_cxx_demangler_kind crashpadctl_cxx_demangler(void);

// Returns the demangled C++ name (Itanium C++ ABI); NULL if it is not mangled, damaged or over the limit. Free the
// result.
char *_Nullable crashpadctl_demangle_cxx(const char *_Nonnull name);

// As above, with the demangler of the program's C++ library. It has no limit, and never returns for some names.
char *_Nullable crashpadctl_demangle_libstdcxx(const char *_Nonnull name);

// From Swift's runtime (stdlib/public/runtime/Demangle.cpp): the full name without sugar. Flags must be 0. Free the
// result.
char *_Nullable swift_demangle(const char *_Nonnull name, size_t length, char *_Nullable buffer,
                               size_t *_Nullable size, uint32_t flags);

// From Swift's runtime (stdlib/public/runtime/Backtrace.cpp): the name as `swift demangle --simplified` prints it.
char *_Nullable _swift_backtrace_demangle(const char *_Nonnull name, size_t length, char *_Nullable buffer,
                                          size_t *_Nullable size);

#endif
