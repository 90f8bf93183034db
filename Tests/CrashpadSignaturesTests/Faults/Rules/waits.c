// SPDX-License-Identifier: Apache-2.0
// Ends in functions of the C library that rules of signatures take: waits that a signal interrupts, and calls with bad arguments.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_t waiting;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ends[2];
static volatile size_t size = 64;

static void *interrupt(void *unused) {
  usleep(300000);
  pthread_kill(waiting, SIGTRAP);
  return unused;
}

static void wait_for_message(void) { struct pollfd one = {ends[0], POLLIN, 0}; poll(&one, 1, -1); }
static void wait_for_time(void) { sleep(60); }
static void read_journal(void) { char byte; if (read(ends[0], &byte, 1)) return; }
static void receive_order(void) {
  int pair[2];
  char byte;
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  recv(pair[0], &byte, 1, 0);
}
static void wait_for_worker(void) {
  pid_t child = fork();
  if (child == 0) { sleep(2); _exit(0); }
  int status;
  waitpid(child, &status, 0);
}
static void lock_twice(void) { pthread_mutex_lock(&mutex); pthread_mutex_lock(&mutex); }
static void wait_for_stock(void) { pthread_mutex_lock(&mutex); pthread_cond_wait(&condition, &mutex); }
static void wait_for_slot(void) { sem_t slots; sem_init(&slots, 0, 0); sem_wait(&slots); }
static void call_kernel(void) { syscall(SYS_pause); }
static const char *volatile long_name = "a name that is longer than sixteen bytes";
static void copy_too_much(void) { char name[16]; strcpy(name, long_name); if (write(ends[1], name, 1)) return; }
static void open_plugin(void) { dlopen((const char *)16, RTLD_NOW); }
static void free_order(void) { free((void *)0x1230); }
static void compare_names(void) { if (strcmp((const char *)size, "x") == 0) abort(); }
static void copy_lines(void) { memcpy((void *)16, &mutex, size * 100); }
static void check_total(void) { if (size) abort(); }
static void at_signal(int number) { (void)number; *(volatile int *)8 = 1; }
static void handle_signal(void) { signal(SIGUSR1, at_signal); raise(SIGUSR1); }
static void *start(void *(*function)(void *)) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, (void *)16);
  pthread_join(thread, NULL);
  return NULL;
}
// The thread's first function is one of the C library, so that none of the program is in the stack.
static void start_thread_wrong(void) { start((void *(*)(void *))strlen); }
static void leave(void) { on_exit((void (*)(int, void *))(void (*)(void))memchr, (void *)16); exit(7); }

static const struct { const char *name; void (*function)(void); int waits; } faults[] = {
  {"wait-poll", wait_for_message, 1},    {"wait-sleep", wait_for_time, 1},       {"wait-read", read_journal, 1},
  {"wait-receive", receive_order, 1},    {"wait-child", wait_for_worker, 1},     {"wait-lock", lock_twice, 1},
  {"wait-condition", wait_for_stock, 1}, {"wait-semaphore", wait_for_slot, 1},   {"wait-kernel", call_kernel, 1},
  {"copy-checked", copy_too_much, 0},    {"open-library", open_plugin, 0},       {"free-bad", free_order, 0},
  {"compare-bad", compare_names, 0},     {"copy-bad", copy_lines, 0},            {"call-abort", check_total, 0},
  {"signal-handler", handle_signal, 0},  {"thread-start", start_thread_wrong, 0}, {"process-end", leave, 0},
};

int main(int count, char **arguments) {
  if (count < 2 || pipe(ends) != 0) return 64;
  for (size_t index = 0; index < sizeof faults / sizeof *faults; ++index) {
    if (strcmp(faults[index].name, arguments[1]) != 0) continue;
    waiting = pthread_self();
    pthread_t thread;
    if (faults[index].waits) pthread_create(&thread, NULL, interrupt, NULL);
    faults[index].function();
  }
  if (strcmp(arguments[1], "main-itself") == 0) *(volatile int *)8 = 1;
  return 0;
}
