// The demanglers that every program here has in it anyway: those of the C++ library and of Swift's runtime.
#ifndef CRASHPADCTL_CDEMANGLE_H
#define CRASHPADCTL_CDEMANGLE_H

#include <stddef.h>
#include <stdint.h>

// Of the Itanium C++ ABI. The result is the caller's to free; NULL if the name is not a mangled one.
char *_Nullable __cxa_demangle(const char *_Nonnull name, char *_Nullable buffer, size_t *_Nullable size,
                               int *_Nullable status);

// Of Swift's runtime (stdlib/public/runtime/Demangle.cpp). As above; flags must be 0.
char *_Nullable swift_demangle(const char *_Nonnull name, size_t length, char *_Nullable buffer,
                               size_t *_Nullable size, uint32_t flags);

#endif
