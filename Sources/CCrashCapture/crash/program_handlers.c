// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "program_handlers.h"

#include "go.h"
#include "handlers.h"
#include "postponed.h"
#include "state.h"

signal_handler *_Atomic program_handlers[kCrashSignalCount];
signal_handler *_Atomic other_handlers[kSignals];
struct program_action program_actions[kSignals];
void *_Atomic next_abort;

CRASH_TIME struct signal_action own_action(void) {
  return make_action(handle_crash, mask_without_faults(), SA_NODEFER | SA_RESTART);
}

// Captures the crash, and lets the process end by the default action.
CRASH_TIME static void end_at_fault(int number, siginfo_t *information, ucontext_t *context) {
  crash_state.earlier[crash_signal_index(number)].handler = (signal_handler *)(uintptr_t)SIG_DFL;
  struct signal_action own = own_action();
  set_action(number, &own, NULL);
  // Faults of the capture itself have to reach it, and no other signal.
  uint64_t mask = mask_without_faults();
  change_mask(SIG_SETMASK, &mask, NULL);
  handle_crash(number, information, context);
}

// The fault signals that handlers of the program block which were called with a damaged thread pointer.
static _Atomic uint64_t lost_signals;

CRASH_TIME static bool is_on(const stack_t *stack, uint64_t address) {
  return address - (uint64_t)stack->ss_sp < stack->ss_size;
}

CRASH_TIME static uint64_t hidden_at_crash(const ucontext_t *context) {
  struct thread_facts *facts = thread_facts();
  // Such a handler runs on this library's stack, where the kernel put it.
  if (facts == NULL) return is_on(&context->uc_stack, context_stack_pointer(context)) ? atomic_load(&lost_signals) : 0;
  resolve_calls(facts, &context->uc_stack, context_stack_pointer(context));
  return facts->hidden_signals;
}

CRASH_TIME bool hides(int number, const ucontext_t *context) {
  if (!(hidden_at_crash(context) & signal_bit(number))) return false;
  // Go makes its threads with all signals blocked, and unblocks those of faults without libc.
  int place = crash_signal_index(number);
  return place < 0 || !go_owns((uintptr_t)crash_state.earlier[place].handler);
}

// Whether the signal is blocked as far as the program knows, so that the kernel would not have called its handler. Then
// a signal that was sent is postponed, and a fault ends the process by the default action.
CRASH_TIME static bool is_blocked(int number, siginfo_t *information, void *context) {
  if (!hides(number, context) || !atomic_load(&crash_state.is_installed)) {
    signals_were_taken(signal_bit(number));
    return false;
  }
  if (postpone_signal(number, information, context)) return true;
  end_at_fault(number, information, context);
  return true;
}

// MARK: Calls

// The kernel restores the alternate stack when a handler returns. So its size shows which handler of the program
// returned last: the frame of each has a size that is smaller by the handler's mark, one of fifteen. The code to which
// handlers return stays libc's, which a program's own report of a crash shows. A thread can't change the stack that it
// runs on: a handler there has ended when the thread is on another one.
enum { kMarks = 15 };

CRASH_TIME static bool is_within(const struct alternate_stack *stack, uint64_t address) {
  return address - (uint64_t)stack->low < stack->size;
}

CRASH_TIME static bool has_ended(const struct handler_call *call, const stack_t *stack, uint64_t pointer) {
  if (call->kind == kOnAlternateStack) return !is_within(&call->stack, pointer);
  return call->kind == kMarked && !(stack->ss_flags & SS_DISABLE) && call->stack.low == stack->ss_sp &&
         call->stack.size == stack->ss_size;
}

CRASH_TIME static void forget_call(struct thread_facts *facts, struct handler_call *call) {
  if (call->kind != kUnseen) facts->unresolved--;
  zero_bytes(call, sizeof *call);
}

CRASH_TIME void resolve_calls(struct thread_facts *facts, const stack_t *stack, uint64_t pointer) {
  for (unsigned back = 1; back <= kHandlerCalls && facts->unresolved > 0; back++) {
    struct handler_call *call = &facts->calls[(facts->next_call - back) % kHandlerCalls];
    if (!has_ended(call, stack, pointer)) continue;
    facts->hidden_signals = call->hidden;
    // The handlers that it interrupted go on; those that interrupted it are gone.
    for (unsigned newer = 1; newer <= back; newer++) {
      forget_call(facts, &facts->calls[(facts->next_call - newer) % kHandlerCalls]);
    }
  }
}

CRASH_TIME void leave_calls(struct thread_facts *facts, uint64_t pointer) {
  for (unsigned index = 0; index < kHandlerCalls && facts->unresolved > 0; index++) {
    struct handler_call *call = &facts->calls[index];
    bool is_left = call->kind == kOnAlternateStack ? !is_within(&call->stack, pointer)
                                                   : call->kind == kMarked && (uint64_t)call->context < pointer;
    if (is_left) forget_call(facts, call);
  }
}

// Remembers the call of a handler for the return from it, and for a signal that it raises.
CRASH_TIME static struct handler_call *note_call(struct thread_facts *facts, int number, const siginfo_t *information,
                                                 const ucontext_t *context) {
  struct handler_call *call = &facts->calls[facts->next_call++ % kHandlerCalls];
  forget_call(facts, call);
  call->number = number;
  call->information = information;
  call->context = context;
  call->hidden = facts->hidden_signals;
  if (crash_signal_index(number) < 0 || information->si_code <= 0) return call;
  copy_bytes(&facts->fault, information, sizeof facts->fault);
  copy_bytes(facts->fault_registers, context_registers(context), sizeof facts->fault_registers);
  return call;
}

#if FOLLOWS_HANDLERS

__asm__(
    ".text\n"
    ".hidden crash_enter_handler\n"
    ".type crash_enter_handler, @function\n"
    "crash_enter_handler:\n"
    "mov %r8, %rsp\n"
    "jmp *%rcx\n"
    ".size crash_enter_handler, .-crash_enter_handler\n");
// Calls the handler with this stack pointer, at which the kernel left the address to return to. Does not return.
CRASH_TIME extern void crash_enter_handler(int number, siginfo_t *information, void *context, signal_handler *handler,
                                           uint64_t stack);

// The bytes that the kernel put on the stack for a handler: from the address to return to, to the end of the floating
// point registers. Source: linux/arch/x86/include/asm/sigframe.h, uapi/asm/sigcontext.h.
struct kernel_frame {
  uint64_t start;
  uint64_t end;
};

CRASH_TIME static struct kernel_frame find_kernel_frame(const siginfo_t *information, const ucontext_t *context) {
  const uint32_t kHasExtension = 0x46505853;
  const uint64_t kMarkOffset = 464;
  const uint64_t kPlainSize = 512;
  const uint64_t kLargest = 64 << 10;
  struct kernel_frame frame = {(uint64_t)context - sizeof(uint64_t), (uint64_t)(information + 1)};
  uint64_t image = (uint64_t)context->uc_mcontext.fpregs;
  if (image < frame.end || image - frame.end > kLargest) return frame;
  const uint32_t *mark = (const uint32_t *)(image + kMarkOffset);
  frame.end = image + (mark[0] == kHasExtension && mark[1] < kLargest ? mark[1] : kPlainSize);
  return frame;
}

// The stack on which a handler of the program runs: the one that the kernel chose, or the interrupted one.
enum stack_choice { kStays, kMoves, kLacksRoom };

// The kernel changes to this library's alternate stack. The program may have another one, or may not have asked for it.
//
// shift: by how much the kernel's frame moves down.
CRASH_TIME static enum stack_choice choose_stack(const struct thread_facts *facts, int number,
                                                 const struct kernel_frame *frame, const ucontext_t *context,
                                                 uint64_t *shift) {
  const struct alternate_stack *program = &facts->stacks[kProgramStack];
  const stack_t *stack = &context->uc_stack;
  uint64_t pointer = context_stack_pointer(context);
  bool is_own = facts->stacks[kOwnStack].size != 0 && facts->stacks[kOwnStack].low == stack->ss_sp;
  bool wants_other = (atomic_load(&program_actions[number].flags) & SA_ONSTACK) != 0;
  if (!is_own && wants_other) return kStays;
  // The kernel did not change the stack: there is no other, or the thread was on it.
  if (!is_on(stack, frame->start) || is_on(stack, pointer)) return kStays;
  const uint64_t kRedZone = 128;
  const uint64_t kAlignment = 64;
  bool was_on_program = is_within(program, pointer);
  bool changes = wants_other && program->size != 0 && !was_on_program;
  uint64_t end = changes ? (uint64_t)program->low + program->size : pointer - kRedZone;
  *shift = (frame->end - end + kAlignment - 1) & ~(kAlignment - 1);
  uint64_t start = frame->start - *shift;
  if ((changes || was_on_program) && !is_within(program, start)) return kLacksRoom;
  return end > kRedZone && is_readable(start) && is_readable(frame->end - *shift - 8) ? kMoves : kLacksRoom;
}

// Without room for a handler's frame the kernel ends the process, as for a fault.
CRASH_TIME static void end_without_room(int number, siginfo_t *information, ucontext_t *context) {
  siginfo_t forced;
  if (number != SIGSEGV) {
    zero_bytes(&forced, sizeof forced);
    forced.si_signo = SIGSEGV;
    forced.si_code = SI_KERNEL;
    information = &forced;
  }
  end_at_fault(SIGSEGV, information, context);
}

#if defined(CRASH_PRECEDES_LIBC)

// The signals of faults that the program's handler for this signal has blocked.
CRASH_TIME static uint64_t blocked_in_handler(int number) {
  const struct program_action *program = &program_actions[number];
  uint64_t mask = atomic_load(&program->mask);
  if (!(atomic_load(&program->flags) & SA_NODEFER)) mask |= signal_bit(number);
  return mask & fault_signals();
}

// Returns the mark in the size of the kernel's alternate stack: 0 for none, -1 if the stack is not this library's.
CRASH_TIME static int mark_of(const struct thread_facts *facts, const stack_t *stack) {
  if (stack->ss_flags & SS_DISABLE) return -1;
  const struct alternate_stack *own = &facts->stacks[kOwnStack];
  if (own->low != stack->ss_sp || own->size == 0 || own->size - stack->ss_size > kMarks) return -1;
  return (int)(own->size - stack->ss_size);
}

// Prepares to notice the end of the call. Returns false if the end can't be noticed.
CRASH_TIME static bool watch_call(struct thread_facts *facts, struct handler_call *call, ucontext_t *context) {
  stack_t *stack = &context->uc_stack;
  if (is_on(stack, context_stack_pointer(context))) return false;
  enum call_kind kind = kOnAlternateStack;
  if (!is_on(stack, (uint64_t)context)) {
    int mark = mark_of(facts, stack);
    if (mark < 0) return false;
    // The kernel has the mark of the last handler that returned.
    call->mark = (int)(facts->next_call % kMarks) + 1;
    if (call->mark == mark) call->mark = call->mark % kMarks + 1;
    stack->ss_size += (uint64_t)mark - (uint64_t)call->mark;
    kind = kMarked;
  }
  call->kind = kind;
  call->stack.low = stack->ss_sp;
  call->stack.size = stack->ss_size;
  facts->unresolved++;
  return true;
}

// Lets faults of the handler reach this library, although its mask has their signals. Only where a jump out of the
// handler is seen (install/contexts.c).
CRASH_TIME static void hide_in_handler(struct thread_facts *facts, struct handler_call *call, ucontext_t *context) {
  uint64_t blocked = blocked_in_handler(call->number);
  if (blocked == 0 || !watch_call(facts, call, context)) return;
  facts->hidden_signals |= blocked;
  // Signals that were blocked before stay so, as they may be pending.
  blocked &= ~*(const uint64_t *)&context->uc_sigmask;
  if (blocked != 0) change_mask(SIG_UNBLOCK, &blocked, NULL);
}

// With a damaged thread pointer the handler is likely to crash itself, as much of libc does.
CRASH_TIME static void hide_without_facts(int number, const ucontext_t *context) {
  uint64_t blocked = blocked_in_handler(number) & ~*(const uint64_t *)&context->uc_sigmask;
  uint64_t outer = hidden_at_crash(context);
  atomic_store(&lost_signals, outer | blocked);
  if (blocked != 0) change_mask(SIG_UNBLOCK, &blocked, NULL);
}

#else

CRASH_TIME static void hide_without_facts(int number, const ucontext_t *context) {
  (void)number;
  (void)context;
}

CRASH_TIME static void hide_in_handler(struct thread_facts *facts, struct handler_call *call, ucontext_t *context) {
  (void)facts;
  (void)call;
  (void)context;
}

#endif

// Whether a return address is one of a call in libc's abort(3).
CRASH_TIME static bool is_in_abort(uint64_t address) {
  const uint64_t kSize = 400;
  const uint64_t kCallSize = 5;
  const uint8_t kCall = 0xe8;
  uint64_t start = (uint64_t)atomic_load(&next_abort);
  if (start == 0 || address - start > kSize || address - start < kCallSize) return false;
  return *(const uint8_t *)(address - kCallSize) == kCall;
}

// Whether the signal was raised in abort(3): where the program called it, or the C library, such as for a damaged heap or
// a failed assertion.
CRASH_TIME static bool is_aborting(const struct thread_facts *facts, const ucontext_t *context) {
  const uint64_t kReach = 1024;
  const uint64_t kPage = 4096;
  uint64_t pointer = context_stack_pointer(context) & ~(uint64_t)7;
  const uint64_t *place = facts->abort_place;
  if (place != NULL && (uint64_t)place - pointer <= kReach && *place == facts->abort_caller) return true;
  for (uint64_t offset = 0; offset < kReach; offset += 8) {
    uint64_t word = pointer + offset;
    if ((offset == 0 || word % kPage == 0) && !is_readable(word)) return false;
    if (is_in_abort(*(const uint64_t *)word)) return true;
  }
  return false;
}

CRASH_TIME static void call_handler(int number, siginfo_t *information, void *raw_context, signal_handler *handler) {
  ucontext_t *context = raw_context;
  struct thread_facts *facts = thread_facts();
  struct kernel_frame frame = find_kernel_frame(information, context);
  if (facts == NULL) {
    hide_without_facts(number, context);
    crash_enter_handler(number, information, context, handler, frame.start);
    return;
  }
  resolve_calls(facts, &context->uc_stack, context_stack_pointer(context));
  uint64_t shift = 0;
  // Go takes the stack that the kernel has for its own.
  enum stack_choice choice =
      go_owns((uintptr_t)handler) ? kStays : choose_stack(facts, number, &frame, context, &shift);
  if (choice == kLacksRoom) {
    end_without_room(number, information, context);
    return;
  }
  if (choice == kMoves) {
    copy_bytes((void *)(frame.start - shift), (const void *)frame.start, frame.end - frame.start);
    frame.start -= shift;
    information = (siginfo_t *)((uint64_t)information - shift);
    context = (ucontext_t *)((uint64_t)context - shift);
    if (context->uc_mcontext.fpregs != NULL) {
      context->uc_mcontext.fpregs = (void *)((uint64_t)context->uc_mcontext.fpregs - shift);
    }
  }
  struct handler_call *call = note_call(facts, number, information, context);
  if (number == SIGABRT && is_aborting(facts, context)) {
    // If the handler returns, abort(3) raises the signal once more with the default action. Blocked, it does not end
    // the process, and abort(3) goes on to a fault, which is captured in its place.
    facts->aborts = true;
    *(uint64_t *)&context->uc_sigmask |= signal_bit(SIGABRT);
  }
  hide_in_handler(facts, call, context);
  crash_enter_handler(number, information, context, handler, frame.start);
}

CRASH_TIME bool capture_abort(int number, ucontext_t *context) {
  struct thread_facts *facts = thread_facts();
  const uint8_t kHalt = 0xf4;
  if (number != SIGSEGV || facts == NULL || !facts->aborts || !is_pending(SIGABRT)) return false;
  uint64_t instruction = context_program_counter(context);
  if (!is_readable(instruction) || *(const uint8_t *)instruction != kHalt) return false;
  facts->aborts = false;
  siginfo_t raised;
  zero_bytes(&raised, sizeof raised);
  raised.si_signo = SIGABRT;
  raised.si_code = SI_TKILL;
  raised.si_pid = current_process();
  *(uint64_t *)&context->uc_sigmask &= ~signal_bit(SIGABRT);
  end_at_fault(SIGABRT, &raised, context);
  return true;
}

#else

CRASH_TIME bool capture_abort(int number, ucontext_t *context) {
  (void)number;
  (void)context;
  return false;
}

CRASH_TIME static void call_handler(int number, siginfo_t *information, void *context, signal_handler *handler) {
  struct thread_facts *facts = thread_facts();
  if (facts != NULL) note_call(facts, number, information, context);
  // The compiler makes a tail call of it, which adds no frame to the stack that the program's handler prints; TAIL_CALL asks
  // for functions with the same parameters.
  handler(number, information, context);
}

#endif

HANDLER CRASH_TIME void call_program(int number, siginfo_t *information, void *context) {
  int place = crash_signal_index(number);
  restore_sender(number, information);
  if (place < 0 || capture_abort(number, context) || is_blocked(number, information, context)) return;
  signal_handler *handler = atomic_load(&program_handlers[place]);
  if ((uintptr_t)handler != 0) call_handler(number, information, context, handler);
}

// After the call the action is the default.
HANDLER CRASH_TIME void call_once(int number, siginfo_t *information, void *context) {
  int place = crash_signal_index(number);
  restore_sender(number, information);
  if (place < 0 || capture_abort(number, context) || is_blocked(number, information, context)) return;
  signal_handler *handler = atomic_exchange(&program_handlers[place], NULL);
  // Another thread took the handler first.
  if ((uintptr_t)handler == 0) {
    handle_crash(number, information, context);
    return;
  }
  struct signal_action after = own_action();
  struct signal_action *earlier = &crash_state.earlier[place];
  if (!is_default(earlier) || !atomic_load(&crash_state.is_installed)) {
    after = make_action(NULL, 0, 0);
  } else {
    // As the kernel keeps them.
    earlier->flags = (after.flags & kRestorerFlag) | atomic_load(&program_actions[number].flags);
    earlier->mask = atomic_load(&program_actions[number].mask);
  }
  set_action(number, &after, NULL);
  call_handler(number, information, context, handler);
}

HANDLER CRASH_TIME void call_other(int number, siginfo_t *information, void *context) {
  if (number <= 0 || number >= kSignals) return;
  signal_handler *handler = atomic_load(&other_handlers[number]);
  if ((uintptr_t)handler != 0) call_handler(number, information, context, handler);
}

#if defined(CRASH_HANDLER_LIBRARY)
// By these names `crashpadctl doctor` finds the program's handlers in another process, in the order of kCrashSignals.
extern signal_handler *_Atomic crashpad_program_handlers[kCrashSignalCount] __attribute__((visibility("default")))
    __attribute__((alias("program_handlers")));
extern signal_handler crashpad_call_program __attribute__((visibility("default"))) __attribute__((alias("call_program")));
extern signal_handler crashpad_call_once __attribute__((visibility("default"))) __attribute__((alias("call_once")));
#endif

CRASH_TIME bool is_own_handler(signal_handler *handler) {
  return handler == handle_crash || handler == handle_go || handler == call_once || handler == call_program ||
         handler == call_other;
}

// Whether a thread at this stack pointer still runs the handler: it did not leave it by a jump.
CRASH_TIME static bool is_running(const struct thread_facts *facts, const struct handler_call *call, uint64_t pointer) {
  const struct alternate_stack *program = &facts->stacks[kProgramStack];
  uint64_t frame = (uint64_t)call->context;
  return frame >= pointer && is_within(program, frame) == is_within(program, pointer);
}

// The call of the innermost handler for this signal; NULL if it no longer runs at this stack pointer.
CRASH_TIME static const struct handler_call *find_call(const struct thread_facts *facts, int number, uint64_t pointer) {
  for (unsigned back = 1; back <= kHandlerCalls; back++) {
    const struct handler_call *call = &facts->calls[(facts->next_call - back) % kHandlerCalls];
    if (call->context == NULL || call->number != number) continue;
    return is_running(facts, call, pointer) ? call : NULL;
  }
  return NULL;
}

CRASH_TIME bool find_fault_of_call(int number, struct received *fault) {
  const struct thread_facts *facts = thread_facts();
  if (facts == NULL) return false;
  const struct handler_call *call = find_call(facts, number, context_stack_pointer(fault->context));
  if (call != NULL && call->information->si_signo == number && call->information->si_code > 0 &&
      call->context->uc_link == NULL) {
    fault->information = (siginfo_t *)call->information;
    fault->context = (ucontext_t *)call->context;
    return true;
  }
  // If the handler raised the signal while it was blocked, and returned, it arrives where the fault was, with all registers
  // as they were. Others say that the program went on, as after a fault that its handler repaired.
  if (facts->fault.si_signo != number) return false;
  const uint64_t *registers = context_registers(fault->context);
  for (int index = 0; index < kContextRegisters; index++) {
    if (facts->fault_registers[index] != registers[index]) return false;
  }
  fault->information = (siginfo_t *)&facts->fault;
  fault->is_raised_again = true;
  return true;
}
