// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

#include "../crash/state.h"
#include "install.h"

// Held by writers; a crash reads without it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void hold(void) {
  atomic_fetch_add(&crash_state.annotation_users, 1);
  pthread_mutex_lock(&lock);
}

static void release(void) {
  pthread_mutex_unlock(&lock);
  atomic_fetch_sub(&crash_state.annotation_users, 1);
}

void annotations_release(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  atomic_store(&crash_state.annotation_users, 0);
}

static struct text_annotation *find_text(const char *name) {
  struct text_annotation *free_place = NULL;
  for (int index = 0; index < CRASH_CAPTURE_ANNOTATIONS; index++) {
    struct text_annotation *text = &crash_state.texts[index];
    if (text->is_used && strcmp(text->name, name) == 0) return text;
    if (!text->is_used && free_place == NULL) free_place = text;
  }
  return free_place;
}

static int find_free_value(void) {
  bool is_taken[kTextValues] = {false};
  for (int index = 0; index < CRASH_CAPTURE_ANNOTATIONS; index++) {
    struct text_annotation *text = &crash_state.texts[index];
    if (text->is_used) is_taken[text->value] = true;
  }
  int place = 0;
  while (is_taken[place]) place++;
  return place;
}

int crash_capture_set_annotation(const char *name, const char *value) {
  if (strlen(name) >= sizeof crash_state.texts[0].name || name[0] == 0) return E2BIG;
  if (value != NULL && strlen(value) >= sizeof crash_state.text_values[0]) return E2BIG;
  hold();
  struct text_annotation *text = find_text(name);
  int error = text == NULL ? ENOSPC : 0;
  if (text != NULL) {
    if (value == NULL) {
      atomic_store(&text->is_used, false);
    } else {
      int place = find_free_value();
      strcpy(crash_state.text_values[place], value);
      if (!atomic_load(&text->is_used)) strcpy(text->name, name);
      atomic_store(&text->value, place);
      atomic_store(&text->is_used, true);
    }
  }
  release();
  return error;
}

void crash_annotation_register(struct crash_annotation *annotation) {
  if (__atomic_exchange_n(&annotation->registered, 1, __ATOMIC_ACQ_REL) != 0) return;
  struct crash_annotation *first = atomic_load(&crash_state.annotations);
  do {
    annotation->next = first;
  } while (!atomic_compare_exchange_weak(&crash_state.annotations, &first, annotation));
}

int crash_capture_add_memory(const void *address, size_t size) {
  if (size == 0 || size > kMaximumRangeSize) return E2BIG;
  int error = ENOSPC;
  hold();
  for (int index = 0; index < kMaximumRanges && error != 0; index++) {
    struct memory_range *range = &crash_state.ranges[index];
    if (atomic_load(&range->address) != 0) continue;
    atomic_store(&range->size, size);
    atomic_store(&range->address, (uint64_t)address);
    error = 0;
  }
  release();
  return error;
}

void crash_capture_remove_memory(const void *address) {
  hold();
  for (int index = 0; index < kMaximumRanges; index++) {
    struct memory_range *range = &crash_state.ranges[index];
    if (atomic_load(&range->address) != (uint64_t)address) continue;
    atomic_store(&range->address, 0);
    break;
  }
  release();
}
