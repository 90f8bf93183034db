// The demanglers of C++ and Swift that are linked in or loaded.
#ifndef CRASHPADCTL_CDEMANGLE_H
#define CRASHPADCTL_CDEMANGLE_H

#include <stddef.h>
#include <stdint.h>

// Which demangler reads C++ names.
typedef enum {
  // LLVM's, linked in with our allocation functions: it stops at CRASHPADCTL_DEMANGLE_LIMIT, whatever the name.
  CRASHPADCTL_CXX_LINKED,
  // LLVM's, from libc++abi.so.1. The caller must estimate the length of the result first.
  CRASHPADCTL_CXX_LOADED,
  // None of LLVM.
  CRASHPADCTL_CXX_NONE,
} crashpadctl_cxx_demangler_kind;

// The most memory, in bytes, that one call of the linked demangler uses on the heap.
#define CRASHPADCTL_DEMANGLE_LIMIT (1u << 20)

crashpadctl_cxx_demangler_kind crashpadctl_cxx_demangler(void);

// The C++ name (Itanium C++ ABI) behind `name`; NULL if it is not mangled, damaged or over the limit. Free the result.
char *_Nullable crashpadctl_demangle_cxx(const char *_Nonnull name);

// As above, by the C++ library that the program has. It has no limit, and never returns from some names.
char *_Nullable crashpadctl_demangle_libstdcxx(const char *_Nonnull name);

// Of Swift's runtime (stdlib/public/runtime/Demangle.cpp): the full name without sugar. Flags must be 0. Free the result.
char *_Nullable swift_demangle(const char *_Nonnull name, size_t length, char *_Nullable buffer,
                               size_t *_Nullable size, uint32_t flags);

// Of Swift's runtime (stdlib/public/runtime/Backtrace.cpp): the name as `swift demangle --simplified` prints it.
char *_Nullable _swift_backtrace_demangle(const char *_Nonnull name, size_t length, char *_Nullable buffer,
                                          size_t *_Nullable size);

#endif
