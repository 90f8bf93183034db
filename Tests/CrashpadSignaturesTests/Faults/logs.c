// SPDX-License-Identifier: Apache-2.0
// Faults of C to be captured; see README.md. This part of the set is held out: no rule was written against it.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
  struct entry *next;
  char *text;
  size_t length;
};
struct log {
  struct entry *first;
  FILE *file;
  char *buffer;
  size_t size;
};

static volatile int zero;
static volatile size_t sink;

static size_t walk(struct entry *entry) {
  size_t total = 0;
  for (int i = 0; i < 3; i++, entry = entry->next) total += entry->length;
  return total;
}
int broken_list(struct log *log) {
  struct entry last = {NULL, NULL, 1}, first = {&last, NULL, 2};
  log->first = &first;
  sink += walk(log->first);
  return (int)sink;
}

__attribute__((noinline)) static void append(struct log *log, const char *text, size_t length) {
  memcpy(log->buffer, text, length);
}
int huge_copy(struct log *log) {
  append(log, "text", (size_t)1 << (40 + zero));
  return 1;
}

int foreign_free(struct log *log) {
  char *inner = log->buffer + 24 + zero;
  free(inner);
  return 1;
}

__attribute__((noinline)) static void write_line(FILE *file, int number) { fprintf(file, "%d %s\n", number, "line"); }
int null_file(struct log *log) {
  log->file = zero ? stdout : NULL;
  write_line(log->file, (int)log->size);
  return 1;
}

static void require(int condition) {
  if (!condition) __builtin_trap();
}
int broken_rule(struct log *log) {
  require(log->size == (size_t)zero);
  return 1;
}

__attribute__((noinline)) static int smash(const char *text, size_t size) {
  volatile char room[16];
  volatile char *place = room;
  for (size_t i = 0; i < size; i++) place[i] = text[i & 3];
  return room[0];
}
int smashed_stack(struct log *log) { return smash("abc", 40 + log->size % 3); }

__attribute__((noinline)) static void send_self(int number) { raise(number); }
int wanted_end(struct log *log) {
  send_self(SIGABRT + (log->size == 1));
  return 1;
}

__attribute__((noinline)) static int depth_of(struct entry *entry) {
  volatile char room[200];
  room[0] = (char)entry->length;
  return depth_of(entry) + room[0];
}
int endless_depth(struct log *log) {
  struct entry self = {NULL, NULL, log->size};
  self.next = &self;
  return depth_of(&self);
}

__attribute__((noinline)) static int compare_lines(const char *one, const char *two, int kind) {
  return kind & 1 ? strcmp(one, two) : memcmp(one, two, 8);
}
int wild_line(struct log *log) {
  const char *line = (const char *)(0x10000 + (long)zero);
  return compare_lines(line, "line", (int)log->size);
}

static int scale(int value, int by) { return value % by; }
int zero_scale(struct log *log) {
  int result = scale((int)log->size, zero);
  sink += (size_t)result;
  return result;
}

typedef int (*fault)(struct log *);
static const struct {
  const char *name;
  fault run;
} faults[] = {
  {"broken-list", broken_list}, {"huge-copy", huge_copy}, {"foreign-free", foreign_free}, {"null-file", null_file},
  {"broken-rule", broken_rule}, {"smashed-stack", smashed_stack}, {"wanted-end", wanted_end},
  {"endless-depth", endless_depth}, {"wild-line", wild_line}, {"zero-scale", zero_scale},
};

static fault chosen;
static struct log current;

static void *rotate(void *unused) {
  (void)unused;
  return (void *)(long)chosen(&current);
}
static void *watch(void *unused) {
  for (;;) sleep(100);
  return unused;
}
__attribute__((noinline)) static int deliver(int (*target)(struct log *), int hops) {
  return hops == 0 ? target(&current) : deliver(target, hops - 1) + 1;
}

int main(int argc, char **argv) {
  int route = argc > 2 ? atoi(argv[2]) : 0;
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    if (strcmp(argv[1], faults[i].name) == 0) chosen = faults[i].run;
  pthread_t thread, other;
  pthread_create(&other, NULL, watch, NULL);
  current.buffer = malloc(256);
  current.size = 7 + (size_t)route;
  if (route == 1) {
    pthread_create(&thread, NULL, rotate, NULL);
    pthread_join(thread, NULL);
  } else if (route == 2) {
    return deliver(chosen, 2);
  }
  return chosen(&current);
}
