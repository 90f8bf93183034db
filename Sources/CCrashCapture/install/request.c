// SPDX-License-Identifier: Apache-2.0
// Dumps on request, without a crash.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../crash/capture.h"
#include "../crash/dump_file.h"
#include "../crash/handlers.h"
#include "../crash/threads.h"
#include "install.h"

// Reads the calling thread's registers in the layout that a signal handler gets.
#if defined(__x86_64__)
CRASH_TIME static inline __attribute__((always_inline)) void read_registers(ucontext_t *context, void *image) {
  greg_t *general = context->uc_mcontext.gregs;
  // Stored before any of them is overwritten.
  __asm__ volatile(
      "movq %%r8, 0(%0)\n\tmovq %%r9, 8(%0)\n\tmovq %%r10, 16(%0)\n\tmovq %%r11, 24(%0)\n\t"
      "movq %%r12, 32(%0)\n\tmovq %%r13, 40(%0)\n\tmovq %%r14, 48(%0)\n\tmovq %%r15, 56(%0)\n\t"
      "movq %%rdi, 64(%0)\n\tmovq %%rsi, 72(%0)\n\tmovq %%rbp, 80(%0)\n\tmovq %%rbx, 88(%0)\n\t"
      "movq %%rdx, 96(%0)\n\tmovq %%rcx, 112(%0)\n\tmovq %%rsp, 120(%0)\n\t"
      "leaq 1f(%%rip), %%rax\n\tmovq %%rax, 128(%0)\n\t"
      "pushfq\n\tpopq 136(%0)\n\t"
      "fxsave64 (%1)\n\t"
      "1:"
      :
      : "r"(general), "r"(image)
      : "rax", "memory");
  _Static_assert(REG_R8 == 0 && REG_RSP == 15 && REG_RIP == 16 && REG_EFL == 17, "the order of gregs");
  uint16_t code;
  __asm__ volatile("mov %%cs, %0" : "=r"(code));
  general[REG_CSGSFS] = code;
  context->uc_mcontext.fpregs = image;
}
enum { kImageSize = 512 };
#else
CRASH_TIME static inline __attribute__((always_inline)) void read_registers(ucontext_t *context, void *image) {
  (void)image;
  mcontext_t *machine = &context->uc_mcontext;
  uint64_t *general = (uint64_t *)machine->regs;
  struct fpsimd_context *record = (struct fpsimd_context *)machine->__reserved;
  record->head.magic = FPSIMD_MAGIC;
  record->head.size = sizeof *record;
  uint64_t pointers[2];
  __asm__ volatile(
      "stp x0, x1, [%0]\n\tstp x2, x3, [%0, #16]\n\tstp x4, x5, [%0, #32]\n\tstp x6, x7, [%0, #48]\n\t"
      "stp x8, x9, [%0, #64]\n\tstp x10, x11, [%0, #80]\n\tstp x12, x13, [%0, #96]\n\tstp x14, x15, [%0, #112]\n\t"
      "stp x16, x17, [%0, #128]\n\tstp x18, x19, [%0, #144]\n\tstp x20, x21, [%0, #160]\n\t"
      "stp x22, x23, [%0, #176]\n\tstp x24, x25, [%0, #192]\n\tstp x26, x27, [%0, #208]\n\t"
      "stp x28, x29, [%0, #224]\n\tstr x30, [%0, #240]\n\t"
      "stp q0, q1, [%1]\n\tstp q2, q3, [%1, #32]\n\tstp q4, q5, [%1, #64]\n\tstp q6, q7, [%1, #96]\n\t"
      "stp q8, q9, [%1, #128]\n\tstp q10, q11, [%1, #160]\n\tstp q12, q13, [%1, #192]\n\tstp q14, q15, [%1, #224]\n\t"
      "stp q16, q17, [%1, #256]\n\tstp q18, q19, [%1, #288]\n\tstp q20, q21, [%1, #320]\n\t"
      "stp q22, q23, [%1, #352]\n\tstp q24, q25, [%1, #384]\n\tstp q26, q27, [%1, #416]\n\t"
      "stp q28, q29, [%1, #448]\n\tstp q30, q31, [%1, #480]\n\t"
      "mov x9, sp\n\tadr x10, 1f\n\tstp x9, x10, [%2]\n\t"
      "1:"
      :
      : "r"(general), "r"(record->vregs), "r"(pointers)
      : "x9", "x10", "memory");
  machine->sp = pointers[0];
  machine->pc = pointers[1];
}
enum { kImageSize = 16 };
#endif

// Goes up to the caller. Other registers stay, as unwinders restore them where a frame saved them.
CRASH_TIME static void go_to(ucontext_t *context, const struct crash_capture_caller *caller) {
#if defined(__x86_64__)
  context->uc_mcontext.gregs[REG_RBP] = (greg_t)caller->frame_pointer;
  context->uc_mcontext.gregs[REG_RIP] = (greg_t)caller->program_counter;
  context->uc_mcontext.gregs[REG_RSP] = (greg_t)caller->stack_pointer;
#else
  // The record may lie below locals of its function, so this stack pointer is only a bound.
  context->uc_mcontext.regs[29] = caller->frame_pointer;
  context->uc_mcontext.pc = caller->program_counter;
  context->uc_mcontext.sp = caller->stack_pointer;
#endif
}

// Writes a dump of the calling thread's process into a file.
CRASH_TIME static __attribute__((noinline)) int write_request(int file, const struct crash_capture_caller *caller) {
  ucontext_t context;
  uint8_t image[kImageSize] __attribute__((aligned(64)));
  zero_bytes(&context, sizeof context);
  read_registers(&context, image);
  go_to(&context, caller);
  struct capture *capture = &crash_capture;
  const int kSimulated = -1;
  capture->signal = kSimulated;
  capture->code = 0;
  capture->address = context_program_counter(&context);
  capture->thread = current_thread();
  capture->context = &context;
  capture->resumes = true;
  capture->is_raised_again = false;
  capture->file = file;
  capture_write(capture);
  return capture->writer.error;
}

// Only one capture runs at a time. A crash in another thread meanwhile goes first, because it stops this thread.
static int take_turn(void) {
  const int kTries = 5000;
  for (int tries = 0; tries < kTries; tries++) {
    int owner = 0;
    if (atomic_compare_exchange_strong(&crash_state.owner, &owner, current_thread())) return 0;
    usleep(1000);
  }
  return EBUSY;
}

static int capture_into(int file, const struct crash_capture_caller *caller) {
  // No handler of the program may run while its other threads are stopped and this thread owns the capture.
  uint64_t mask = mask_without_faults();
  uint64_t earlier = 0;
  change_mask(SIG_SETMASK, &mask, &earlier);
  // The capture's own write beyond the file size limit raises a signal: the caller gets the error instead, and its
  // program goes on.
  bool was_pending = is_pending(SIGXFSZ);
  int error = write_request(file, caller);
  if (!was_pending) discard_pending_signal(SIGXFSZ);
  change_mask(SIG_SETMASK, &earlier, NULL);
  return error;
}

// The file that waits for a crash, set aside while the file of a requested dump takes its place in crash_state; no
// descriptor otherwise.
static struct known_file saved_crash_file;

void request_close_file(void) { close_own_file(&saved_crash_file); }

// Writes a pending dump into the database. The file that waits for a crash stays as it is.
static int dump_to_database(const struct crash_capture_caller *caller, char *written, size_t size) {
  struct state *state = &crash_state;
  forget_parents_file();
  saved_crash_file = state->file;
  char(*names)[sizeof state->path] = state->saved_names;
  strcpy(names[0], state->locked_name);
  strcpy(names[1], state->name);
  strcpy(names[2], state->path);
  state->file.is_made = false;
  state->file.descriptor = 0;
  long result = dump_file_make();
  int error = result < 0 ? (int)-result : capture_into(state->file.descriptor, caller);
  if (error == 0) {
    snprintf(written, size, "%s", state->path);
    error = (int)-dump_file_finish();
  } else if (result >= 0) {
    unlinkat(state->directory.descriptor, state->locked_name, 0);
    close(state->file.descriptor);
  }
  state->file = saved_crash_file;
  saved_crash_file.is_made = false;
  saved_crash_file.descriptor = 0;
  strcpy(state->locked_name, names[0]);
  strcpy(state->name, names[1]);
  strcpy(state->path, names[2]);
  return error;
}

static int dump_to_path(const struct crash_capture_caller *caller, const char *path) {
  char temporary[PATH_MAX + 32];
  // The name begins with a dot: programs that list dumps skip such names.
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  int length =
      snprintf(temporary, sizeof temporary, "%.*s.%s.%d.new", (int)(name - path), path, name, current_thread());
  if (length < 0 || (size_t)length >= sizeof temporary) return ENAMETOOLONG;
  int file = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return errno;
  int error = capture_into(file, caller);
  if (error == 0) {
    long result = system_call(SYS_renameat2, AT_FDCWD, (long)temporary, AT_FDCWD, (long)path, RENAME_NOREPLACE, 0);
    if (result == -EINVAL || result == -ENOSYS) result = link(temporary, path) == 0 ? unlink(temporary) : -errno;
    error = (int)-result;
  }
  if (error != 0) unlink(temporary);
  close(file);
  return error;
}

int crash_capture_dump(const char *path, char *written_path, size_t written_path_size) {
  return crash_capture_dump_for(crash_capture_find_caller(), path, written_path, written_path_size);
}

int crash_capture_dump_for(struct crash_capture_caller caller, const char *path, char *written_path,
                           size_t written_path_size) {
  if (!atomic_load(&crash_state.is_installed)) return ENODEV;
  // Not in a child that shares its parent's memory (vfork).
  if (!is_captured_process()) return EPERM;
  int saved = errno;
  int error = take_turn();
  if (error == 0) {
    char place[sizeof crash_state.path] = "";
    if (path != NULL) {
      snprintf(place, sizeof place, "%s", path);
      error = dump_to_path(&caller, path);
    } else {
      error = dump_to_database(&caller, place, sizeof place);
    }
    atomic_store(&crash_state.owner, 0);
    if (written_path != NULL && written_path_size > 0) snprintf(written_path, written_path_size, "%s", place);
  }
  errno = saved;
  return error;
}
