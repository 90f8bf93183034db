// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "program_handlers.h"

#include "go.h"
#include "handlers.h"
#include "state.h"

#if __has_attribute(musttail)
#define TAIL_CALL __attribute__((musttail))
#else
#define TAIL_CALL
#endif

signal_handler *_Atomic program_handlers[kCrashSignalCount];

// The thread and the arguments of the last call of call_once.
static struct call {
  _Atomic int thread;
  siginfo_t *_Atomic information;
  ucontext_t *_Atomic context;
} calls[kCrashSignalCount];

CRASH_TIME bool postpone_signal(int number, siginfo_t *information, ucontext_t *context) {
  if (information->si_code > 0 || !(hidden_at_crash() & signal_bit(number))) return false;
  uint64_t mask = signal_bit(number);
  change_mask(SIG_BLOCK, &mask, NULL);
  // Also in the mask that the return from this handler restores.
  *(uint64_t *)&context->uc_sigmask |= mask;
  int process = current_process();
  long result = information->si_code == SI_TKILL
                    ? SYSTEM_CALL_4(SYS_rt_tgsigqueueinfo, process, current_thread(), number, information)
                    : SYSTEM_CALL_3(SYS_rt_sigqueueinfo, process, number, information);
  return result == 0;
}

CRASH_TIME struct signal_action own_action(void) {
  return make_action(handle_crash, mask_without_faults(), SA_NODEFER | SA_RESTART);
}

// Whether the signal is blocked as far as the program knows, so that the kernel would not have called its handler. Then
// a signal that was sent is postponed, and a fault ends the process by the default action.
CRASH_TIME static bool is_blocked(int number, siginfo_t *information, void *context) {
  if (!(hidden_at_crash() & signal_bit(number)) || !atomic_load(&crash_state.is_installed)) return false;
  if (postpone_signal(number, information, context)) return true;
  crash_state.earlier[crash_signal_index(number)].handler = (signal_handler *)(uintptr_t)SIG_DFL;
  struct signal_action own = own_action();
  set_action(number, &own, NULL);
  // Faults of the capture itself have to reach it.
  uint64_t faults = fault_signals();
  change_mask(SIG_UNBLOCK, &faults, NULL);
  handle_crash(number, information, context);
  return true;
}

CRASH_TIME void call_program(int number, siginfo_t *information, void *context) {
  int place = crash_signal_index(number);
  if (place < 0 || is_blocked(number, information, context)) return;
  signal_handler *handler = atomic_load(&program_handlers[place]);
  if ((uintptr_t)handler == 0) return;
  // A tail call adds no frame to the stack that the program's handler prints.
  TAIL_CALL return handler(number, information, context);
}

// After the call the action is the default.
CRASH_TIME void call_once(int number, siginfo_t *information, void *context) {
  int place = crash_signal_index(number);
  if (place < 0 || is_blocked(number, information, context)) return;
  struct call *call = &calls[place];
  signal_handler *handler = atomic_exchange(&program_handlers[place], NULL);
  // Another thread took the handler first.
  if ((uintptr_t)handler == 0) {
    handle_crash(number, information, context);
    return;
  }
  struct signal_action after = own_action();
  if (!is_default(&crash_state.earlier[place]) || !atomic_load(&crash_state.is_installed)) {
    after = make_action(NULL, 0, 0);
  }
  set_action(number, &after, NULL);
  atomic_store(&call->information, information);
  atomic_store(&call->context, context);
  atomic_store(&call->thread, current_thread());
  TAIL_CALL return handler(number, information, context);
}

#if defined(CRASH_HANDLER_LIBRARY)
// By these names `crashpadctl doctor` finds the program's handlers in another process, in the order of kCrashSignals.
extern signal_handler *_Atomic crashpad_program_handlers[kCrashSignalCount] __attribute__((visibility("default")))
    __attribute__((alias("program_handlers")));
extern signal_handler crashpad_call_program __attribute__((visibility("default"))) __attribute__((alias("call_program")));
extern signal_handler crashpad_call_once __attribute__((visibility("default"))) __attribute__((alias("call_once")));
#endif

CRASH_TIME bool is_own_handler(signal_handler *handler) {
  return handler == handle_crash || handler == handle_go || handler == call_once;
}

CRASH_TIME bool find_fault_of_call(int number, struct received *fault) {
  int place = crash_signal_index(number);
  if (place < 0) return false;
  struct call *call = &calls[place];
  if (atomic_load(&call->thread) != current_thread()) return false;
  siginfo_t *information = atomic_load(&call->information);
  ucontext_t *context = atomic_load(&call->context);
  // The kernel's frame lies above this one, unless the handler has returned, or was left by a jump.
  if ((uintptr_t)context < (uintptr_t)__builtin_frame_address(0)) return false;
  if (information->si_signo != number || information->si_code <= 0 || context->uc_link != NULL) return false;
  fault->information = information;
  fault->context = context;
  return true;
}
