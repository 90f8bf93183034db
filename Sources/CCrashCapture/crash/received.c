// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "received.h"

#include "signals.h"

enum {
#if defined(__x86_64__)
  // The size of the kernel's ucontext, which is shorter than libc's; the siginfo_t follows. Source: linux/arch/x86,
  // struct rt_sigframe.
  kContextSize = 304,
  kInformationOffset = kContextSize,
#else
  kContextSize = 176,
  kInformationOffset = -128,
#endif
  kAlignment = 16,
  kReach = 128 << 10,
  kPage = 4096,
};

// The most bytes between our frame and the arguments if the kernel called the handler, or another handler passed them
// on.
static const uint64_t kNear = 64 << 10;

CRASH_TIME siginfo_t *received_information(uint64_t context) { return (siginfo_t *)(context + kInformationOffset); }

CRASH_TIME static bool is_whole(uint64_t address, uint64_t size) {
  return address % 8 == 0 && address < UINT64_MAX - size && is_readable(address) && is_readable(address + size - 8);
}

CRASH_TIME static bool is_of_user(const ucontext_t *context) {
#if defined(__x86_64__)
  const uint64_t kUserCode = 0x33;
  return ((uint64_t)context->uc_mcontext.gregs[REG_CSGSFS] & 0xffff) == kUserCode;
#else
  const uint64_t kModeBits = 0x1f;
  return (context->uc_mcontext.pstate & kModeBits) == 0;
#endif
}

#if defined(__x86_64__)
static const uint8_t kReturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

// Whether the word before the context, the handler's return address, points to the code that ends a handler: mov $15,
// %rax; syscall.
CRASH_TIME static bool has_return(uint64_t context) {
  uint64_t address = *(const uint64_t *)(context - 8);
  if (address >= UINT64_MAX - 16 || !is_readable(address) || !is_readable(address + 1)) return false;
  for (unsigned index = 0; index < sizeof kReturn; index++) {
    if (((const uint8_t *)address)[index] != kReturn[index]) return false;
  }
  return true;
}

// Rebuilds from the registers what the kernel left out because the handler was set without SA_SIGINFO.
CRASH_TIME static void rebuild(siginfo_t *information, int number, const ucontext_t *context) {
  const greg_t *general = context->uc_mcontext.gregs;
  const greg_t kPageFault = 14;
  const greg_t kIsPresent = 1;
  zero_bytes(information, sizeof *information);
  information->si_signo = number;
  information->si_code = SI_KERNEL;
  if (number != SIGSEGV || general[REG_TRAPNO] != kPageFault) return;
  information->si_code = general[REG_ERR] & kIsPresent ? SEGV_ACCERR : SEGV_MAPERR;
  information->si_addr = (void *)general[REG_CR2];
}
#endif

static struct {
  siginfo_t information;
  ucontext_t context;
} synthesized;

// Whether the kernel's frame for this signal lies at this place.
CRASH_TIME static bool is_frame(uint64_t place, int number) {
  const ucontext_t *context = (const ucontext_t *)place;
  if (context->uc_link != NULL || !is_of_user(context)) return false;
#if defined(__x86_64__)
  (void)number;
  return has_return(place);
#else
  return received_information(place)->si_signo == number;
#endif
}

CRASH_TIME static bool find_frame(uint64_t start, int number, struct received *received) {
  start = (start + kAlignment - 1) & ~(uint64_t)(kAlignment - 1);
  uint64_t readable = 0;
  for (uint64_t place = start + kAlignment; place < start + kReach; place += kAlignment) {
    // Everything that is_frame reads ends within the next page.
    uint64_t end = place + 2 * kContextSize;
    if (end > readable) {
      if (!is_readable(end & ~(uint64_t)(kPage - 1))) return false;
      readable = (end & ~(uint64_t)(kPage - 1)) + kPage;
    }
    if (!is_frame(place, number)) continue;
    received->context = (ucontext_t *)place;
    received->information = received_information(place);
#if defined(__x86_64__)
    if (received->information->si_signo != number) {
      rebuild(&synthesized.information, number, received->context);
      received->information = &synthesized.information;
    }
#endif
    return true;
  }
  return false;
}

CRASH_TIME static void make_here(int number, uint64_t frame, struct received *received) {
  zero_bytes(&synthesized, sizeof synthesized);
  synthesized.information.si_signo = number;
  synthesized.information.si_code = SI_TKILL;
  synthesized.information.si_pid = current_process();
  // The caller's frame begins above the saved frame pointer and the return address.
  const uint64_t *saved = (const uint64_t *)frame;
#if defined(__x86_64__)
  synthesized.context.uc_mcontext.gregs[REG_RBP] = (greg_t)saved[0];
  synthesized.context.uc_mcontext.gregs[REG_RIP] = (greg_t)saved[1];
  synthesized.context.uc_mcontext.gregs[REG_RSP] = (greg_t)(frame + 16);
#else
  synthesized.context.uc_mcontext.regs[29] = saved[0];
  synthesized.context.uc_mcontext.pc = saved[1];
  synthesized.context.uc_mcontext.sp = frame + 16;
#endif
  received->information = &synthesized.information;
  received->context = &synthesized.context;
}

CRASH_TIME struct received received_check(int number, siginfo_t *information, void *context) {
  uint64_t frame = (uint64_t)__builtin_frame_address(0);
  struct received received;
  received.information = information;
  received.context = context;
  received.is_raised_again = false;
  bool is_near = (uint64_t)information - frame < kNear && (uint64_t)context - frame < kNear;
  bool is_there =
      is_near || (is_whole((uint64_t)information, sizeof *information) && is_whole((uint64_t)context, kContextSize));
  if (is_there && information->si_signo == number) {
    // Both lie side by side, as the kernel places them, or a handler passed them on.
    if (received_information((uint64_t)context) == information || is_of_user(context)) return received;
  }
  if (!find_frame(frame, number, &received)) make_here(number, frame, &received);
  return received;
}
