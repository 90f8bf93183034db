// SPDX-License-Identifier: Apache-2.0
// Faults of C to be captured, one for each name; see README.md. The part of the set that rules were written against.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct customer {
  const char *name;
  int number;
};
struct order {
  struct customer *customer;
  int *lines;
  int count;
  int (*price)(int);
};

static volatile int zero;
static volatile long sink;

static int line_price(int line) { return line * 3 + 1; }

// A pointer that is null, read in a helper.
static int customer_number(const struct order *order) { return order->customer->number; }
static int null_customer(struct order *order) {
  order->customer = NULL;
  sink += customer_number(order);
  return (int)sink;
}

// A pointer to nowhere, written in a loop.
__attribute__((noinline)) static void clear_lines(int *lines, int count) {
  for (int i = 0; i < count; i++) ((volatile int *)lines)[i] = 0;
}
int wild_lines(struct order *order) {
  order->lines = (int *)(0x7f0000000000 + (long)zero);
  clear_lines(order->lines, order->count);
  return 1;
}

int double_free(struct order *order) {
  int *lines = malloc(64 + sizeof(int) * (size_t)order->count);
  free(lines);
  sink += (long)lines;
  free((void *)(sink - (sink - (long)lines)));
  return 1;
}

__attribute__((noinline)) static int check_total(int total) {
  assert(total >= 0);
  return total;
}
int negative_total(struct order *order) { return check_total(-order->count) + 1; }

static int average(int sum, int count) { return sum / count; }
int no_lines(struct order *order) {
  int result = average(order->count, zero);
  sink += result;
  return result;
}

static int parse_group(const char *text, int depth);
__attribute__((noinline)) static int parse_item(const char *text, int depth) {
  volatile char room[128];
  room[depth & 127] = text[0];
  return parse_group(text, depth + 1) + room[0];
}
__attribute__((noinline)) static int parse_group(const char *text, int depth) {
  volatile char room[96];
  room[depth & 63] = 1;
  return parse_item(text, depth + 1) + room[1];
}
int endless_groups(struct order *order) { return parse_group("(((", order->count); }

static int by_name(const void *a, const void *b) {
  const struct customer *const *one = a, *const *two = b;
  return strcmp((*one)->name, (*two)->name);
}
int sort_customers(struct order *order) {
  struct customer first = {"a", 1}, *list[4] = {&first, &first, NULL, &first};
  qsort(list, 4, sizeof list[0], by_name);
  return order->count;
}

__attribute__((noinline)) static void stop_for(const char *reason) {
  fprintf(stderr, "%s\n", reason);
  abort();
}
int closed_shop(struct order *order) {
  if (order->count > 0) stop_for("closed");
  return 1;
}

// One fault, which two functions of the C library notice.
__attribute__((noinline)) static long print_label(char *room, const char *label, int is_long) {
  return is_long ? (long)strlen(label) : (long)(strcpy(room, label) - room);
}
int null_label(struct order *order) {
  char room[32] = "";
  const char *label = zero ? "x" : NULL;
  return (int)print_label(room, label, order->count & 1);
}

__attribute__((noinline)) static int total_price(struct order *order) {
  return order->price(order->count) + 1;
}
int null_function(struct order *order) {
  order->price = zero ? line_price : NULL;
  return total_price(order);
}

typedef int (*fault)(struct order *);
static const struct {
  const char *name;
  fault run;
} faults[] = {
  {"null-customer", null_customer}, {"wild-lines", wild_lines}, {"double-free", double_free},
  {"negative-total", negative_total}, {"no-lines", no_lines}, {"endless-groups", endless_groups},
  {"sort-customers", sort_customers}, {"closed-shop", closed_shop}, {"null-label", null_label},
  {"null-function", null_function},
};

static fault chosen;
static struct order current = {NULL, NULL, 5, line_price};

static void *worker(void *unused) {
  (void)unused;
  return (void *)(long)chosen(&current);
}
static void *idle(void *unused) {
  for (;;) pause();
  return unused;
}
__attribute__((noinline)) static int handle(const char *path, int depth) {
  return depth == 0 ? chosen(&current) + (int)strlen(path) : handle(path, depth - 1) + 1;
}

int main(int argc, char **argv) {
  int route = argc > 2 ? atoi(argv[2]) : 0;
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    if (strcmp(argv[1], faults[i].name) == 0) chosen = faults[i].run;
  pthread_t thread, other;
  pthread_create(&other, NULL, idle, NULL);
  current.count = 5 + route;
  if (route == 1) {
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
  } else if (route == 2) {
    return handle("/orders", 3);
  }
  return chosen(&current);
}
