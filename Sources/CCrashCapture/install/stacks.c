// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../crash/memory.h"
#include "../crash/proc.h"
#include "../crash/state.h"
#include "../crash/threads.h"
#include "install.h"
#include "next.h"

#if !defined(AT_MINSIGSTKSZ)
#define AT_MINSIGSTKSZ 51
#endif

// Its destructor frees the stack of a thread that ends, until the program needs the key itself.
static pthread_key_t stack_of_thread;
static atomic_bool has_key;

// The size in bytes. Our own need is small, but later handlers may need more, and wide vector registers are saved there
// too. Only pages that are used take memory.
static size_t stack_size(void) {
  size_t least = getauxval(AT_MINSIGSTKSZ);
  return (64 << 10) + (least > 4096 ? (least + 4095) / 4096 * 4096 : 0);
}

static size_t guard_size(void) { return getauxval(AT_PAGESZ); }

// Makes a stack with an inaccessible guard page below it. NULL if there is no memory.
static void *make_stack(void) {
  size_t guard = guard_size();
  uint8_t *memory =
      mmap(NULL, guard + stack_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  mprotect(memory, guard, PROT_NONE);
  return memory + guard;
}

static int set_stack(const stack_t *stack, stack_t *old) {
  return (int)finish_call(SYSTEM_CALL_2(SYS_sigaltstack, stack, old));
}

#if defined(CRASH_PRECEDES_LIBC)

static int fail_with(int error) {
  errno = error;
  return -1;
}

// Lets the kernel check a stack of the program, and then gives it ours again.
static int check_stack(const stack_t *stack, const struct alternate_stack *own) {
  stack_t kept = {.ss_sp = own->low, .ss_size = own->size};
  if (set_stack(stack, NULL) != 0) return -1;
  return set_stack(&kept, NULL);
}

// The kernel keeps the stack of this library, and handlers of the program move to the program's (program_handlers.c):
// its own may be too small for the frame of a second signal, which would end the process.
static int exchange_stack(struct thread_facts *facts, const stack_t *stack, stack_t *old) {
  struct alternate_stack *program = &facts->stacks[kProgramStack];
  struct alternate_stack before = *program;
  uint64_t pointer = (uint64_t)__builtin_frame_address(0);
  bool is_on = pointer - (uint64_t)before.low < before.size;
  if (stack != NULL) {
    if (is_on) return fail_with(EPERM);
    if (check_stack(stack, &facts->stacks[kOwnStack]) != 0) return -1;
    bool is_removed = (stack->ss_flags & SS_DISABLE) != 0;
    *program = (struct alternate_stack){is_removed ? NULL : stack->ss_sp, is_removed ? 0 : stack->ss_size};
  }
  if (old == NULL) return 0;
  *old = (stack_t){.ss_sp = before.low, .ss_size = before.size, .ss_flags = is_on ? SS_ONSTACK : 0};
  if (before.size == 0) old->ss_flags = SS_DISABLE;
  return 0;
}

void give_stack_back(void) {
  struct thread_facts *facts = own_facts();
  const struct alternate_stack *program = &facts->stacks[kProgramStack];
  stack_t stack = {.ss_sp = program->low, .ss_size = program->size, .ss_flags = program->size == 0 ? SS_DISABLE : 0};
  if (facts->stacks[kOwnStack].size == 0 || set_stack(&stack, NULL) != 0) return;
  facts->stacks[kOwnStack] = (struct alternate_stack){NULL, 0};
}

EXPORTED int sigaltstack(const stack_t *stack, stack_t *old) {
  struct thread_facts *facts = own_facts();
  // The kernel's size may have the mark of a handler.
  hidden_signals();
  const unsigned kDisarms = 1U << 31;  // SS_AUTODISARM
  stack_t current;
  bool has_own = !leaves_handlers() && facts->stacks[kOwnStack].size != 0 && set_stack(NULL, &current) == 0 &&
                 current.ss_sp == facts->stacks[kOwnStack].low;
  if (has_own && (stack == NULL || !((unsigned)stack->ss_flags & kDisarms))) return exchange_stack(facts, stack, old);
  facts->stacks[kProgramStack] = (struct alternate_stack){NULL, 0};
  return set_stack(stack, old);
}

#endif

// MARK: The key of threads

#if defined(CRASH_PRECEDES_LIBC)

static int create_key(pthread_key_t *key, void (*destructor)(void *)) {
  static void *_Atomic known;
  int (*maker)(pthread_key_t *, void (*)(void *)) = next_function(&known, "pthread_key_create", NULL, NULL);
  return maker == NULL ? EAGAIN : maker(key, destructor);
}

// A process has 1,024 keys, and a program may need them all: the last one is this library's.
static bool give_up_key(void) { return atomic_exchange(&has_key, false) && pthread_key_delete(stack_of_thread) == 0; }

EXPORTED int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  int error = create_key(key, destructor);
  return error == EAGAIN && give_up_key() ? create_key(key, destructor) : error;
}

// libc's own calls its pthread_key_create, not ours. The types are those of tss_t and tss_dtor_t.
EXPORTED int tss_create(pthread_key_t *key, void (*destructor)(void *)) {
  const int kError = 2;  // thrd_error
  return pthread_key_create(key, destructor) == 0 ? 0 : kError;
}

#else

static int create_key(pthread_key_t *key, void (*destructor)(void *)) { return pthread_key_create(key, destructor); }

#endif

// Stacks of threads that ended, kept for new ones.
enum { kKeptStacks = 16 };
static void *_Atomic kept_stacks[kKeptStacks];

static void *take_stack(void) {
  for (int index = 0; index < kKeptStacks; index++) {
    if (atomic_load(&kept_stacks[index]) == NULL) continue;
    void *stack = atomic_exchange(&kept_stacks[index], NULL);
    if (stack != NULL) return stack;
  }
  return make_stack();
}

static void keep_stack(void *stack) {
  for (int index = 0; index < kKeptStacks; index++) {
    void *none = NULL;
    if (atomic_compare_exchange_strong(&kept_stacks[index], &none, stack)) return;
  }
  size_t guard = guard_size();
  munmap((uint8_t *)stack - guard, guard + stack_size());
}

// Frees the stack of a thread that ends.
static void free_stack(void *stack) {
  stack_t none = {.ss_flags = SS_DISABLE};
  stack_t current;
  // Fails while a handler runs on the stack; then it is never freed.
  if (set_stack(&none, &current) != 0) return;
  // The program had set a stack of its own: put it back.
  if (current.ss_sp != stack && !(current.ss_flags & SS_DISABLE)) set_stack(&current, NULL);
  if (stack != crash_state.first_stack) keep_stack(stack);
}

static int use_stack(void *stack) {
  stack_t own = {.ss_sp = stack, .ss_size = stack_size()};
  if (!leaves_stacks()) {
    if (set_stack(&own, NULL) != 0) return errno;
    own_facts()->stacks[kOwnStack] = (struct alternate_stack){stack, own.ss_size};
  }
  if (atomic_load(&has_key)) {
    pthread_setspecific(stack_of_thread, stack);
    // The program took the key meanwhile.
    if (!atomic_load(&has_key)) pthread_setspecific(stack_of_thread, NULL);
  }
  return 0;
}

int crash_capture_prepare_thread(void) {
  stack_t current;
  if (set_stack(NULL, &current) != 0) return errno;
  // The runtime of a language may have set one already.
  if (!(current.ss_flags & SS_DISABLE)) return 0;
  void *stack = take_stack();
  if (stack == NULL) return ENOMEM;
  int error = use_stack(stack);
  if (error != 0) keep_stack(stack);
  return error;
}

static void prepare_first_thread(void) {
  stack_t current;
  if (set_stack(NULL, &current) != 0 || !(current.ss_flags & SS_DISABLE)) return;
  if (current_thread() == current_process() && stack_size() <= sizeof crash_state.first_stack) {
    use_stack(crash_state.first_stack);
  } else {
    crash_capture_prepare_thread();
  }
}

// MARK: Threads to come

#if defined(__GLIBC__)
// Since glibc 2.32.
extern int pthread_attr_getsigmask_np(const pthread_attr_t *attributes, sigset_t *mask) __attribute__((weak));
#endif

// Whether libc gives the new thread a mask of its own, in place of its creator's.
static bool has_own_mask(const pthread_attr_t *attributes) {
#if defined(__GLIBC__)
  sigset_t mask;
  return attributes != NULL && pthread_attr_getsigmask_np != NULL && pthread_attr_getsigmask_np(attributes, &mask) == 0;
#else
  return attributes != NULL && false;
#endif
}

// The start data of a new thread. It lies at the beginning of the thread's alternate stack: if it were allocated with
// malloc(3), free(3) would be the thread's first call into the allocator, which gives the thread an arena of 64 MiB of
// address space.
struct start {
  void *(*function)(void *);
  // In place of it, a function of C11's.
  int (*c11_function)(void *);
  void *argument;
  // The kernel's mask may have signals of faults.
  bool has_own_mask;
  // The part of its creator's mask that it inherits.
  uint64_t hidden;
  int process;
};

static struct start begin_thread(void *raw) {
  struct start start = *(struct start *)raw;
  set_hidden_signals(start.hidden);
  adopt_thread(start.process);
  // If the stack can't be set, it is leaked, and only an overflow of the thread's own stack is not captured.
  use_stack(raw);
  if (start.has_own_mask) hide_blocked();
  return start;
}

// The compiler makes a tail call of it, which adds no frame to the stacks that the program prints.
static void *start_thread(void *raw) {
  struct start start = begin_thread(raw);
  return start.function(start.argument);
}

// Used once the key is the program's.
static void *start_without_key(void *raw) {
  struct start start = begin_thread(raw);
  void *result = start.function(start.argument);
  free_stack(raw);
  return result;
}

typedef int thread_maker(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
// A sanitizer's interceptor.
extern thread_maker __interceptor_pthread_create __attribute__((weak));
// A static executable has no next definition: ours replaces libc's weak pthread_create, which glibc and musl also
// define under this second name. Its object file is linked in because C11's thrd_create, referenced here, calls it by
// that name.
extern thread_maker __pthread_create __attribute__((weak));
extern int thrd_create(void *thread, int (*function)(void *), void *argument);
#if !defined(CRASH_PRECEDES_LIBC)
__attribute__((used)) static int (*volatile const keeps_libc)(void *, int (*)(void *), void *) = thrd_create;
#endif

static void *_Atomic real_pthread_create;

static thread_maker *next_maker(void) {
  return next_function(&real_pthread_create, "pthread_create", (void *)__interceptor_pthread_create,
                       (void *)__pthread_create);
}

static void fill_start(struct start *start, void *argument) {
  start->argument = argument;
  start->hidden = hidden_signals();
  start->process = current_process();
  start->has_own_mask = false;
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                            void *argument) {
  thread_maker *maker = next_maker();
  if (maker == NULL) return EAGAIN;
  if (!atomic_load(&crash_state.is_installed)) return maker(thread, attributes, function, argument);
  struct start *start = take_stack();
  // Without memory for a stack, the thread runs all the same.
  if (start == NULL) return maker(thread, attributes, function, argument);
  fill_start(start, argument);
  start->function = function;
  start->has_own_mask = has_own_mask(attributes);
  if (start->has_own_mask) start->hidden = 0;
  int error = maker(thread, attributes, atomic_load(&has_key) ? start_thread : start_without_key, start);
  if (error != 0) keep_stack(start);
  return error;
}

// MARK: Threads that libc starts

#if defined(CRASH_PRECEDES_LIBC)

static int start_c11(void *raw) {
  struct start start = begin_thread(raw);
  return start.c11_function(start.argument);
}

static int start_c11_without_key(void *raw) {
  struct start start = begin_thread(raw);
  int result = start.c11_function(start.argument);
  free_stack(raw);
  return result;
}

// libc's own calls its pthread_create, not ours. The types are those of thrd_t and thrd_start_t.
EXPORTED int thrd_create(void *thread, int (*function)(void *), void *argument) {
  static void *_Atomic known;
  typedef int c11_maker(void *, int (*)(void *), void *);
  c11_maker *maker = next_function(&known, "thrd_create", NULL, NULL);
  const int kError = 2;  // thrd_error
  if (maker == NULL) return kError;
  struct start *start = atomic_load(&crash_state.is_installed) ? take_stack() : NULL;
  if (start == NULL) return maker(thread, function, argument);
  fill_start(start, argument);
  start->c11_function = function;
  int error = maker(thread, atomic_load(&has_key) ? start_c11 : start_c11_without_key, start);
  if (error != 0) keep_stack(start);
  return error;
}

// A function that libc calls in a thread of its own (SIGEV_THREAD).
struct callback {
  void (*function)(union sigval);
  union sigval value;
};

// Each pair is kept once, and never removed: a call may come after its timer is deleted.
enum { kCallbacks = 1024 };
static struct callback *callbacks;
static size_t callback_count;
static pthread_mutex_t callback_lock = PTHREAD_MUTEX_INITIALIZER;

static struct callback *keep_callback(const struct sigevent *event) {
  struct callback *callback = NULL;
  pthread_mutex_lock(&callback_lock);
  if (callbacks == NULL) callbacks = calloc(kCallbacks, sizeof *callbacks);
  for (size_t index = 0; index < callback_count && callback == NULL; index++) {
    bool is_equal = callbacks[index].function == event->sigev_notify_function &&
                    callbacks[index].value.sival_ptr == event->sigev_value.sival_ptr;
    if (is_equal) callback = &callbacks[index];
  }
  if (callback == NULL && callbacks != NULL && callback_count < kCallbacks) {
    callback = &callbacks[callback_count++];
    callback->function = event->sigev_notify_function;
    callback->value = event->sigev_value;
  }
  pthread_mutex_unlock(&callback_lock);
  return callback;
}

static void start_callback(union sigval value) {
  const struct callback *callback = value.sival_ptr;
  adopt_thread(current_process());
  crash_capture_prepare_thread();
  // libc starts these threads with all signals blocked.
  hide_blocked();
  callback->function(callback->value);
}

// Puts our function in place of the program's, if there is one.
static struct sigevent *wrap(struct sigevent *event, struct sigevent *wrapped) {
  if (event == NULL || event->sigev_notify != SIGEV_THREAD || !atomic_load(&crash_state.is_installed)) return event;
  struct callback *callback = keep_callback(event);
  if (callback == NULL) return event;
  *wrapped = *event;
  wrapped->sigev_notify_function = start_callback;
  wrapped->sigev_value.sival_ptr = callback;
  return wrapped;
}

EXPORTED int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
  static void *_Atomic known;
  int (*maker)(clockid_t, struct sigevent *, timer_t *) = next_function(&known, "timer_create", NULL, NULL);
  struct sigevent wrapped;
  return maker == NULL ? missing() : maker(clock, wrap(event, &wrapped), timer);
}

EXPORTED int mq_notify(mqd_t queue, const struct sigevent *event) {
  static void *_Atomic known;
  int (*notifier)(mqd_t, const struct sigevent *) = next_function(&known, "mq_notify", NULL, NULL);
  struct sigevent wrapped;
  return notifier == NULL ? missing() : notifier(queue, wrap((struct sigevent *)event, &wrapped));
}

#endif

// MARK: Threads that run already

// A stack for the thread that gets the signal; NULL once it is taken.
static void *_Atomic given_stack;
static _Atomic int given_to;

// The kernel adopts the handler's uc_stack when the handler returns.
HANDLER CRASH_TIME static void give_stack(int number, siginfo_t *information, void *raw_context) {
  (void)number;
  (void)information;
  ucontext_t *context = raw_context;
  if (atomic_load(&given_to) != current_thread()) return;
  void *stack = atomic_exchange(&given_stack, NULL);
  if (stack == NULL) return;
  if (context->uc_stack.ss_flags & SS_DISABLE) {
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = 64 << 10;
    context->uc_stack.ss_flags = 0;
    struct thread_facts *facts = thread_facts();
    if (facts != NULL) {
      facts->stacks[kOwnStack].low = stack;
      facts->stacks[kOwnStack].size = context->uc_stack.ss_size;
    }
  }
  atomic_store(&given_to, 0);
}

// Whether the signal may be pending for a thread that did not take it in time.
static bool is_late;

static void give_to(int directory, int thread) {
  // A thread that waits for this signal would take it as its own, and one that has ended needs no stack.
  bool is_running;
  if (proc_attention(directory, thread, kStopSignal) != kListens) return;
  // If it is blocked, the signal would be delivered after the earlier action is back, which may end the process.
  if (proc_blocks_signal(thread, kStopSignal, &is_running)) return;
  void *stack = make_stack();
  if (stack == NULL) return;
  atomic_store(&given_stack, stack);
  atomic_store(&given_to, thread);
  if (SYSTEM_CALL_3(SYS_tgkill, current_process(), thread, kStopSignal) != 0) atomic_store(&given_to, 0);
  // Waits up to 20 ms. A thread that blocks the signal, or gets no processor, gets no stack.
  for (int tries = 0; atomic_load(&given_to) != 0 && tries < 100; tries++) usleep(200);
  if (atomic_exchange(&given_to, 0) != 0) is_late = true;
  void *left = atomic_exchange(&given_stack, NULL);
  if (left != NULL) keep_stack(left);
}

// Waits up to a second until no thread has the signal pending. Returns false if one still has.
static bool wait_for_late(void) {
  for (int tries = 0; tries < 1000; tries++) {
    bool is_pending = false;
    DIR *directory = opendir("/proc/self/task");
    if (directory == NULL) return false;
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
      int thread = (int)parse_number(entry->d_name);
      if (thread > 0 && proc_may_have_pending(thread, kStopSignal)) is_pending = true;
    }
    closedir(directory);
    if (!is_pending) return true;
    usleep(1000);
  }
  return false;
}

static void give_to_others(void) {
  DIR *directory = opendir("/proc/self/task");
  if (directory == NULL) return;
  int self = current_thread();
  struct signal_action earlier;
  struct signal_action action = make_action(give_stack, ~UINT64_C(0), SA_RESTART);
  bool is_installed = false;
  const int kNoFile = -1;
  memory_begin(kNoFile);
  struct dirent *entry;
  while ((entry = readdir(directory)) != NULL) {
    int thread = (int)parse_number(entry->d_name);
    if (thread <= 0 || thread == self) continue;
    if (!is_installed) set_action(kStopSignal, &action, &earlier);
    is_installed = true;
    give_to(dirfd(directory), thread);
  }
  closedir(directory);
  // A signal that is still pending must not meet the default action, which ends the process; this handler does nothing then.
  bool may_restore = !is_late || wait_for_late();
  memory_end();
  if (is_installed && may_restore) set_action(kStopSignal, &earlier, NULL);
}

void stacks_install(void) {
  next_maker();
  atomic_store(&has_key, create_key(&stack_of_thread, free_stack) == 0);
  prepare_first_thread();
  // glibc knows whether there are other threads; with another libc they are searched for.
  extern char __libc_single_threaded __attribute__((weak));
  bool may_have_others = &__libc_single_threaded == NULL || !__libc_single_threaded;
  if (may_have_others && !leaves_stacks()) give_to_others();
}
