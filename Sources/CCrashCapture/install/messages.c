// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../crash/state.h"
#include "install.h"

// Functions of runtimes are weak references, which the loader or the linker resolves. Asking dlsym(3) would cost
// programs without these runtimes 20 microseconds at their start, because it formats an error message for each
// function.
extern char **swift_getFatalErrorMessageBuffer(void) __attribute__((weak));

// The function, or the other thing, of this name in the runtime that the program uses.
static void *of_program(const char *name, void *linked) {
#if defined(CRASH_CLIENT_LIBRARY)
  // The client has runtimes of its own, which these references lead to.
  (void)linked;
  return dlsym(RTLD_DEFAULT, name);
#else
  (void)name;
  return linked;
#endif
}

#if defined(__GLIBC__)
// Weak, because the library is also loaded into programs that use musl.
extern void *dlvsym(void *handle, const char *name, const char *version) __attribute__((weak));
#endif

static void find_abort_message(void) {
#if defined(__GLIBC__)
  if (dlvsym == NULL) return;
  crash_state.abort_message = (uint64_t)dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE");
#endif
}

// Swift keeps the text for its backtracer since version 6.2.
static void find_swift_message(void) {
  const char *name = "swift_getFatalErrorMessageBuffer";
  char **(*get)(void) = (char **(*)(void))of_program(name, (void *)swift_getFatalErrorMessageBuffer);
  if (get == NULL) get = swift_getFatalErrorMessageBuffer;
  if (get != NULL) crash_state.swift_fatal_message = (uint64_t)get();
}

// MARK: C++

// The parts of the C++ runtime that are used here. Source: Itanium C++ ABI; libstdc++'s std::type_info, whose virtual
// functions are the two destructors, __is_pointer_p, __is_function_p, __do_catch, __do_upcast.
typedef void terminate_handler(void);
struct type_info {
  void **functions;
  const char *name;
};
typedef bool do_catch(const struct type_info *wanted, const struct type_info *thrown, void **object, unsigned outer);
struct exception {
  void **functions;
};

static struct {
  terminate_handler *earlier;
  struct type_info *(*current_type)(void);
  char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);
  const struct type_info *exception_type;
} cxx;

struct cxa_globals {
  uint8_t *caught;
  unsigned uncaught;
};

// The address of the thrown object. Source: libstdc++'s struct __cxa_exception, which has 112 bytes on 64-bit machines
// and ends with the unwinder's header of 32 bytes, the first word of which is the class; the object follows. An
// exception that was rethrown from an exception_ptr has 1 as the last byte of its class, and the object's address in
// its first word.
static void *object_of(const struct cxa_globals *globals) {
  const size_t kHeaderSize = 112;
  const size_t kClassOffset = 80;
  const uint64_t kClass = 0x474e5543432b2b00;  // "GNUCC++"
  if (globals == NULL || globals->caught == NULL) return NULL;
  uint64_t class;
  memcpy(&class, globals->caught + kClassOffset, sizeof class);
  if (class == kClass) return globals->caught + kHeaderSize;
  if (class != (kClass | 1)) return NULL;
  void *object;
  memcpy(&object, globals->caught, sizeof object);
  return object;
}

static const char *what_of(const struct type_info *type) {
  struct cxa_globals *(*get)(void) = (struct cxa_globals * (*)(void)) dlsym(RTLD_DEFAULT, "__cxa_get_globals");
  // Only libstdc++ has this function, and only with it do the layouts above hold.
  if (get == NULL || cxx.exception_type == NULL ||
      dlsym(RTLD_DEFAULT, "_ZNKSt9type_info10__do_catchEPKS_PPvj") == NULL) {
    return NULL;
  }
  void *object = object_of(get());
  if (object == NULL) return NULL;
  const int kDoCatch = 4;
  const int kWhat = 2;
  do_catch *catches = (do_catch *)cxx.exception_type->functions[kDoCatch];
  if (!catches(cxx.exception_type, type, &object, 1)) return NULL;
  const struct exception *exception = object;
  return ((const char *(*)(const struct exception *))exception->functions[kWhat])(exception);
}

static void note_exception(void) {
  const struct type_info *type = cxx.current_type();
  char *text = crash_state.terminate_message;
  size_t size = sizeof crash_state.terminate_message;
  if (type == NULL) {
    snprintf(text, size, "terminate called without an active exception");
    return;
  }
  // A leading star marks a name that is compared by its address.
  const char *mangled = type->name[0] == '*' ? type->name + 1 : type->name;
  char *name = cxx.demangle == NULL ? NULL : cxx.demangle(mangled, NULL, NULL, NULL);
  snprintf(text, size, "uncaught exception of type %s", name != NULL ? name : mangled);
  free(name);
  const char *what = what_of(type);
  size_t length = strlen(text);
  if (what != NULL) snprintf(text + length, size - length, ": %s", what);
}

static void terminate(void) {
  // An exception that what() of an exception throws leads here again.
  static atomic_bool is_noted;
  if (!atomic_exchange(&is_noted, true)) note_exception();
  if (cxx.earlier == NULL) abort();
  TAIL_CALL return cxx.earlier();
}

extern terminate_handler *_ZSt13set_terminatePFvvE(terminate_handler *) __attribute__((weak));
extern struct type_info *__cxa_current_exception_type(void) __attribute__((weak));
extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status) __attribute__((weak));
extern const struct type_info _ZTISt9exception __attribute__((weak));

typedef terminate_handler *terminate_setter(terminate_handler *);

static void install_terminate_handler(void) {
  cxx.current_type = (struct type_info * (*)(void))
      of_program("__cxa_current_exception_type", (void *)__cxa_current_exception_type);
  terminate_setter *set =
      (terminate_setter *)of_program("_ZSt13set_terminatePFvvE", (void *)_ZSt13set_terminatePFvvE);
  if (set == NULL || cxx.current_type == NULL) return;
  cxx.demangle = (char *(*)(const char *, char *, size_t *, int *))of_program("__cxa_demangle", (void *)__cxa_demangle);
  cxx.exception_type = of_program("_ZTISt9exception", (void *)&_ZTISt9exception);
  cxx.earlier = set(terminate);
}

void messages_install(void) {
  find_abort_message();
  find_swift_message();
  install_terminate_handler();
}
