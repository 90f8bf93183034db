// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../crash/proc.h"
#include "../crash/state.h"
#include "install.h"

extern char **environ;

// MARK: The environment

int find_variable(char *const environment[], const char *name) {
  for (int index = 0; environment != NULL && environment[index] != NULL; index++) {
    if (begins_with(environment[index], name)) return index;
  }
  return -1;
}

const char *find_value(char *const environment[], const char *name) {
  int index = find_variable(environment, name);
  return index < 0 ? NULL : environment[index] + strlen(name);
}

// MARK: The time zone

static void find_time_zone(struct time_zone *zone) {
  // Comparing the offsets in January and July shows which is summer time, on either hemisphere.
  time_t now = (time_t)(clock_time(CLOCK_REALTIME) / 1000000000);
  struct tm today;
  if (localtime_r(&now, &today) == NULL) return;
  zone->is_known = true;
  zone->is_daylight = today.tm_isdst > 0;
  zone->standard_offset = zone->daylight_offset = (int32_t)today.tm_gmtoff;
  for (int month = 0; month < 12; month += 6) {
    struct tm day = {.tm_year = today.tm_year, .tm_mon = month, .tm_mday = 15, .tm_hour = 12, .tm_isdst = -1};
    if (mktime(&day) == (time_t)-1) continue;
    zone->has_daylight |= day.tm_isdst > 0;
    *(day.tm_isdst > 0 ? &zone->daylight_offset : &zone->standard_offset) = (int32_t)day.tm_gmtoff;
    char *name = day.tm_isdst > 0 ? zone->daylight_name : zone->standard_name;
    if (day.tm_zone != NULL) append_text(name, sizeof zone->standard_name, 0, day.tm_zone);
  }
  if (!zone->has_daylight) {
    zone->daylight_offset = zone->standard_offset;
    memcpy(zone->daylight_name, zone->standard_name, sizeof zone->daylight_name);
  }
}

// Copies one field of a text, up to the next comma or its end.
static void take_field(const char **text, char *field, size_t size) {
  size_t length = strcspn(*text, ",");
  size_t count = length < size ? length : size - 1;
  memcpy(field, *text, count);
  field[count] = 0;
  *text += length;
  if (**text == ',') (*text)++;
}

static int32_t take_offset(const char **text) {
  char field[16];
  take_field(text, field, sizeof field);
  bool is_negative = field[0] == '-';
  int64_t number = parse_number(field + is_negative);
  if (number < 0) return 0;
  return (int32_t)(is_negative ? -number : number);
}

// "STANDARD OFFSET,DAYLIGHT OFFSET,HAS DAYLIGHT,IS DAYLIGHT,STANDARD NAME,DAYLIGHT NAME,TZ". Fails if this process has
// another value of the variable TZ.
static bool parse_time_zone(const char *text, struct time_zone *zone) {
  const char *own = find_value(environ, "TZ=");
  zone->standard_offset = take_offset(&text);
  zone->daylight_offset = take_offset(&text);
  zone->has_daylight = take_offset(&text) != 0;
  zone->is_daylight = take_offset(&text) != 0;
  take_field(&text, zone->standard_name, sizeof zone->standard_name);
  take_field(&text, zone->daylight_name, sizeof zone->daylight_name);
  zone->is_known = zone->standard_name[0] != 0 && strcmp(text, own == NULL ? "" : own) == 0;
  return zone->is_known;
}

// MARK: Modules

static int find_executable(struct dl_phdr_info *information, size_t size, void *data) {
  (void)size;
  (void)data;
  struct state *state = &crash_state;
  state->executable_bias = information->dlpi_addr;
  state->program_headers = (uint64_t)information->dlpi_phdr;
  state->program_header_count = information->dlpi_phnum;
  for (int index = 0; index < information->dlpi_phnum; index++) {
    const Elf64_Phdr *header = &information->dlpi_phdr[index];
    if (header->p_type != PT_DYNAMIC) continue;
    const Elf64_Dyn *entry = (const Elf64_Dyn *)(information->dlpi_addr + header->p_vaddr);
    for (; entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_DEBUG) state->loader_debug = entry->d_un.d_ptr;
    }
  }
  return 1;  // The first is the executable.
}

// 0 if it is not known. sysconf(3) would read the file that is read for a dump.
static uint32_t count_usable_processors(void) {
  uint64_t mask[128];
  long size = SYSTEM_CALL_3(SYS_sched_getaffinity, 0, sizeof mask, mask);
  uint32_t count = 0;
  for (long word = 0; word < size / (long)sizeof *mask; word++) count += (uint32_t)__builtin_popcountll(mask[word]);
  return count;
}

void facts_install(const char *const *environment, const char *time_zone) {
  struct state *state = &crash_state;
  state->environment = &environ;
  state->kept_variables = environment;
  state->page_size = getauxval(AT_PAGESZ);
  state->processors = count_usable_processors();
  state->clock_ticks = getauxval(AT_CLKTCK);
  state->loader_base = getauxval(AT_BASE);
  state->vdso = getauxval(AT_SYSINFO_EHDR);
  // The start of the data that the kernel put on the first thread's stack: the executable's name lies above its
  // arguments.
  extern void *__libc_stack_end __attribute__((weak));
  state->main_stack_end = &__libc_stack_end != NULL ? (uint64_t)__libc_stack_end : 0;
  dl_iterate_phdr(find_executable, NULL);
  const char *path = (const char *)getauxval(AT_EXECFN);
  append_text(state->start_paths, PATH_MAX, 0, path == NULL ? "" : path);
  state->started_path = state->start_paths;
  if (time_zone == NULL || !parse_time_zone(time_zone, &state->time_zone)) find_time_zone(&state->time_zone);
}
