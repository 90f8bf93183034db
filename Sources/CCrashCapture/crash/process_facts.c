// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "process_facts.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "dump_writer.h"
#include "proc.h"
#include "state.h"

enum { kTextSize = 16 << 10 };
// The text of one file of /proc, and the part of it that the dump gets.
static char source[kTextSize];
static char taken[kTextSize];
static char release[4096];
static struct utsname names;

// A property that does not fit is left out; half of one would spoil everything after it.
CRASH_TIME static void write_if_it_fits(struct dump_writer *writer, enum dump_key key, const void *value, size_t size) {
  const size_t kHeaderSize = 11;
  if (writer->size - writer->used >= size + kHeaderSize) dump_property(writer, key, value, size);
}

CRASH_TIME static void write_text(struct dump_writer *writer, enum dump_key key, const char *text) {
  write_if_it_fits(writer, key, text, text_length(text, kTextSize));
}

// MARK: Text

// beginning: in lower case.
CRASH_TIME static bool begins_in_any_case(const char *text, const char *beginning) {
  while (*beginning != 0 && (*text >= 'A' && *text <= 'Z' ? *text | 0x20 : *text) == *beginning) {
    text++;
    beginning++;
  }
  return *beginning == 0;
}

CRASH_TIME static uint64_t take_number(const char **text) {
  uint64_t value = 0;
  for (; **text >= '0' && **text <= '9'; (*text)++) value = value * 10 + (uint64_t)(**text - '0');
  return value;
}

CRASH_TIME static size_t append(char *to, size_t size, size_t end, const char *text, size_t length) {
  if (length > size - end) length = size - end;
  copy_bytes(to + end, text, length);
  return end + length;
}

// MARK: The system

// The value of NAME=value or NAME="value" in os-release(5); empty if there is none.
CRASH_TIME static void find_in_release(const char *name, char *value, size_t size) {
  size_t length = text_length(name, size);
  value[0] = 0;
  for (const char *line = release; *line != 0;) {
    if (begins_with(line, name) && line[length] == '=') {
      const char *start = line + length + 1;
      char quote = *start == '"' || *start == '\'' ? *start++ : '\n';
      size_t count = 0;
      while (start[count] != 0 && start[count] != quote && start[count] != '\n' && count + 1 < size) count++;
      copy_bytes(value, start, count);
      value[count] = 0;
      return;
    }
    while (*line != 0 && *line++ != '\n') {
    }
  }
}

CRASH_TIME static void find_processor(char vendor[13], char model[49]) {
  vendor[0] = model[0] = 0;
#if defined(__x86_64__)
  unsigned words[4];
  __cpuid(0, words[0], words[1], words[2], words[3]);
  copy_bytes(vendor, &words[1], 4);
  copy_bytes(vendor + 4, &words[3], 4);
  copy_bytes(vendor + 8, &words[2], 4);
  vendor[12] = 0;
  const unsigned kModel = 0x80000002;
  if (__get_cpuid_max(0x80000000, NULL) < kModel + 2) return;
  for (unsigned part = 0; part < 3; part++) {
    __cpuid(kModel + part, words[0], words[1], words[2], words[3]);
    copy_bytes(model + 16 * part, words, 16);
  }
  model[48] = 0;
#endif
}

CRASH_TIME static void add_text(struct encoded_facts *facts, enum dump_key key, const char *text) {
  if (text[0] == 0) return;
  struct dump_writer writer;
  dump_writer_start(&writer, -1, facts->bytes, sizeof facts->bytes);
  writer.used = facts->size;
  write_text(&writer, key, text);
  facts->size = writer.used;
}

static bool has_processor;

CRASH_TIME void facts_add_processor(void) {
  if (has_processor) return;
  has_processor = true;
  char vendor[13];
  char model[49];
  find_processor(vendor, model);
  add_text(&crash_state.system_facts, kCpuVendor, vendor);
  add_text(&crash_state.linux_facts, kCPUModel, model);
}

// The number of processors in a list such as "0-3,6"; without /sys, as in some containers, the number that
// this process may use.
CRASH_TIME static uint32_t count_processors(void) {
  char text[1024];
  if (proc_read("/sys/devices/system/cpu/online", text, sizeof text) <= 0) return crash_state.processors;
  uint64_t count = 0;
  for (const char *place = text; *place >= '0' && *place <= '9';) {
    uint64_t first = take_number(&place);
    uint64_t last = first;
    if (*place == '-') {
      place++;
      last = take_number(&place);
    }
    if (last >= first) count += last - first + 1;
    if (*place == ',') place++;
  }
  return (uint32_t)count;
}

CRASH_TIME static void write_time_zone(struct dump_writer *writer) {
  const struct time_zone *zone = &crash_state.time_zone;
  if (!zone->is_known) return;
  uint8_t has = zone->has_daylight;
  uint8_t is = zone->is_daylight;
  dump_property(writer, kHasDaylightSavingTime, &has, 1);
  dump_property(writer, kIsDaylightSavingTime, &is, 1);
  dump_u32(writer, kStandardOffsetSeconds, (uint32_t)zone->standard_offset);
  dump_u32(writer, kDaylightOffsetSeconds, (uint32_t)zone->daylight_offset);
  write_text(writer, kStandardName, zone->standard_name);
  write_text(writer, kDaylightName, zone->daylight_name);
}

CRASH_TIME static void write_system_facts(const char *distribution) {
  struct dump_writer writer;
  struct encoded_facts *facts = &crash_state.system_facts;
  dump_writer_start(&writer, -1, facts->bytes, sizeof facts->bytes);
  uint32_t version[3];
  zero_bytes(version, sizeof version);
  const char *place = names.release;
  for (int part = 0; part < 3 && *place >= '0' && *place <= '9'; part++) {
    version[part] = (uint32_t)take_number(&place);
    if (*place == '.') place++;
  }
  dump_u32(&writer, kOSVersionMajor, version[0]);
  dump_u32(&writer, kOSVersionMinor, version[1]);
  dump_u32(&writer, kOSVersionBugfix, version[2]);
  char build[1024];
  size_t end = append_text(build, sizeof build, 0, names.release);
  end = append_text(build, sizeof build, end, " ");
  end = append_text(build, sizeof build, end, names.version);
  if (distribution[0] != 0) end = append_text(build, sizeof build, end, " ");
  append_text(build, sizeof build, end, distribution);
  write_text(&writer, kOSVersionBuild, build);
  write_text(&writer, kMachineDescription, names.machine);
  dump_u32(&writer, kCpuCount, count_processors());
  dump_u64(&writer, kPageSize, crash_state.page_size);
  // On arm64 pointers may be signed in all bits above the address space of user programs. Intel's have no such bits.
#if defined(__aarch64__)
  dump_u64(&writer, kAddressMask, UINT64_C(0xff7f000000000000));
#else
  dump_u64(&writer, kAddressMask, 0);
#endif
  write_time_zone(&writer);
  facts->size = writer.used;
}

// MARK: Arguments and environment

static const char *const kSecretWords[] = {"pass", "secret", "token",   "key", "credential",
                                     "auth", "cookie", "session", "dsn"};

// Whether an option's name stands for a secret value: --password=x, --token x, API_KEY=x.
CRASH_TIME static bool names_a_secret(const char *text, size_t length) {
  for (size_t start = 0; start < length; start++) {
    for (size_t word = 0; word < sizeof kSecretWords / sizeof *kSecretWords; word++) {
      size_t size = text_length(kSecretWords[word], kTextSize);
      if (start + size <= length && begins_in_any_case(text + start, kSecretWords[word])) return true;
    }
  }
  return false;
}

static const char kRemoved[] = "<removed>";

// Finds the name and password in scheme://name:password@host. Returns their start; NULL if there are none.
CRASH_TIME static const char *find_credentials(const char *text, const char **end) {
  const char *start = text;
  while (*start != 0 && !begins_with(start, "://")) start++;
  if (*start == 0) return NULL;
  start += 3;
  *end = NULL;
  for (const char *place = start; *place != 0 && *place != '/' && *place != '?' && *place != '#'; place++) {
    if (*place == '@') *end = place;
  }
  return *end == NULL ? NULL : start;
}

// Copies arguments without secrets. In both texts each argument ends with NUL; another NUL follows `from`.
CRASH_TIME static size_t copy_arguments(const char *from, size_t count, char *to, size_t size) {
  size_t end = 0;
  bool hides_next = false;
  for (size_t place = 0; place < count;) {
    const char *argument = from + place;
    size_t length = text_length(argument, count - place);
    place += length + 1;
    size_t name = 0;
    while (name < length && argument[name] != '=') name++;
    bool has_value = name < length;
    const char *credentials_end = NULL;
    const char *credentials = find_credentials(argument, &credentials_end);
    if (hides_next && argument[0] != '-') {
      end = append(to, size, end, kRemoved, sizeof kRemoved - 1);
    } else if (has_value && names_a_secret(argument, name)) {
      end = append(to, size, end, argument, name + 1);
      end = append(to, size, end, kRemoved, sizeof kRemoved - 1);
    } else if (credentials != NULL) {
      end = append(to, size, end, argument, (size_t)(credentials - argument));
      end = append(to, size, end, kRemoved, sizeof kRemoved - 1);
      end = append(to, size, end, credentials_end, length - (size_t)(credentials_end - argument));
    } else {
      end = append(to, size, end, argument, length);
    }
    hides_next = !has_value && argument[0] == '-' && names_a_secret(argument, length);
    end = append(to, size, end, "", 1);
  }
  return end;
}

CRASH_TIME static bool is_name(const char *name, const char *text, size_t length) {
  return text_length(name, length + 1) == length && begins_with(text, name);
}

// Variables that describe how a program runs, but not who runs it.
static const char *const kHarmlessVariables[] = {
    "PATH", "LANG", "LANGUAGE", "TZ", "TERM", "SHELL",
    "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_BIND_NOW", "MALLOC_ARENA_MAX", "MALLOC_CHECK_", "MALLOC_PERTURB_",
    "SWIFT_BACKTRACE", "SWIFT_DETERMINISTIC_HASHING", "GOTRACEBACK", "RUST_BACKTRACE", "PYTHONFAULTHANDLER",
    "OMP_NUM_THREADS",
    "CONTAINER", "container", "KUBERNETES_SERVICE_HOST", "AWS_EXECUTION_ENV", "AWS_LAMBDA_FUNCTION_NAME",
    "SNAP", "SNAP_NAME", "SNAP_VERSION", "INVOCATION_ID",
};

CRASH_TIME static bool is_harmless(const char *name, size_t length) {
  if (length > 3 && begins_with(name, "LC_")) return true;
  for (size_t index = 0; index < sizeof kHarmlessVariables / sizeof *kHarmlessVariables; index++) {
    if (is_name(kHarmlessVariables[index], name, length)) return true;
  }
  return false;
}

CRASH_TIME static bool is_allowed(const char *name, size_t length) {
  const char *const *kept = crash_state.kept_variables;
  for (; kept != NULL && *kept != NULL; kept++) {
    if (is_name(*kept, name, length)) return true;
  }
  return is_harmless(name, length);
}

CRASH_TIME static size_t copy_environment(char *to, size_t size) {
  size_t end = 0;
  for (char **variable = *crash_state.environment; variable != NULL && *variable != NULL; variable++) {
    size_t length = text_length(*variable, size);
    size_t name = 0;
    while (name < length && (*variable)[name] != '=') name++;
    if (name == length || !is_allowed(*variable, name)) continue;
    if (end + length + 1 > size) break;
    end = append(to, size, end, *variable, length);
    end = append(to, size, end, "", 1);
  }
  return end;
}

CRASH_TIME static void write_linux_facts(const char *distribution, size_t release_size) {
  struct dump_writer writer;
  struct encoded_facts *facts = &crash_state.linux_facts;
  dump_writer_start(&writer, -1, facts->bytes, sizeof facts->bytes);
  write_text(&writer, kOSFamily, names.sysname);
  write_text(&writer, kKernelRelease, names.release);
  write_text(&writer, kKernelVersion, names.version);
  if (distribution[0] != 0) write_text(&writer, kDistribution, distribution);
  write_text(&writer, kExecutable, crash_state.executable);
  facts->size = writer.used;
  long size = proc_read("/proc/self/cmdline", source, sizeof source);
  write_if_it_fits(&writer, kCommandLine, taken,
                   copy_arguments(source, size > 0 ? (size_t)size : 0, taken, sizeof taken));
  facts->size = writer.used;
  write_if_it_fits(&writer, kEnvironment, taken, copy_environment(taken, sizeof taken));
  size = proc_read("/proc/self/auxv", source, sizeof source);
  if (size > 0) write_if_it_fits(&writer, kAuxiliaryVector, source, (size_t)size);
  if (release_size > 0) write_if_it_fits(&writer, kRelease, release, release_size);
  facts->size = writer.used;
}

// MARK: The process

CRASH_TIME static long find_executable(char *path, size_t size) {
  return SYSTEM_CALL_4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, size - 1);
}

// Finds the time at which the process began, which /proc gives in clock ticks since the boot. Without it, takes the
// time at which the handler was installed.
CRASH_TIME static void find_start_time(void) {
  int64_t now = (int64_t)(clock_time(CLOCK_REALTIME) / 1000);
  int64_t start = now - (int64_t)((clock_time(CLOCK_MONOTONIC) - crash_state.installed_at) / 1000);
  long size = proc_read("/proc/self/stat", source, sizeof source);
  // The second field is a name in parentheses, which may contain any character.
  const char *place = source;
  for (long index = 0; index < size; index++) {
    if (source[index] == ')') place = source + index;
  }
  const int kStartTimeField = 22;
  for (int field = 2; size > 0 && field < kStartTimeField; field++) {
    while (*place != 0 && *place != ' ') place++;
    if (*place == ' ') place++;
  }
  if (size > 0 && *place >= '0' && *place <= '9' && crash_state.clock_ticks > 0) {
    int64_t since_boot = (int64_t)(take_number(&place) * 1000000 / crash_state.clock_ticks);
    start = now - ((int64_t)(clock_time(CLOCK_BOOTTIME) / 1000) - since_boot);
  }
  crash_state.start_seconds = start / 1000000;
  crash_state.start_microseconds = (int32_t)(start % 1000000);
}

CRASH_TIME void facts_complete(void) {
  struct state *state = &crash_state;
  if (state->has_all_facts) return;
  state->has_all_facts = true;
  append_text(state->executable, sizeof state->executable, 0, state->started_path);
  long length = find_executable(source, sizeof source);
  if (length > 0 && (size_t)length < sizeof state->executable) {
    copy_bytes(state->executable, source, (size_t)length);
    state->executable[length] = 0;
  }
  find_start_time();
  SYSTEM_CALL_1(SYS_uname, &names);
  long size = proc_read("/etc/os-release", release, sizeof release);
  if (size <= 0) size = proc_read("/usr/lib/os-release", release, sizeof release);
  if (size <= 0) release[0] = 0;
  char distribution[256];
  find_in_release("PRETTY_NAME", distribution, sizeof distribution);
  write_system_facts(distribution);
  write_linux_facts(distribution, size > 0 ? (size_t)size : 0);
}

// Whether two paths lead to the same file.
CRASH_TIME static bool is_same_file(const char *one, const char *other) {
  struct stat first;
  struct stat second;
  return SYSTEM_CALL_4(SYS_newfstatat, AT_FDCWD, one, &first, 0) == 0 &&
         SYSTEM_CALL_4(SYS_newfstatat, AT_FDCWD, other, &second, 0) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

CRASH_TIME void facts_name_program(void) {
  struct state *state = &crash_state;
  if (state->program_id[0] != 0) return;
  // Prefers the path by which the program was started, if it leads to the executable: redis-server is a link to
  // redis-check-rdb, and applets of busybox are links to one file. For a script it leads to another file.
  const char *path = state->started_path;
  if (path[0] == 0 || !is_same_file(path, "/proc/self/exe")) {
    long length = find_executable(source, sizeof source);
    if (length > 0) {
      source[length] = 0;
      path = source;
    }
  }
  const char *name = path;
  for (; *path != 0; path++) {
    if (*path == '/') name = path + 1;
  }
  // Wrappers rename programs to names with a dot (".program-wrapped"), but files with such names are no dumps.
  while (*name == '.') name++;
  if (*name == 0) name = "program";
  size_t end = append_text(state->program_id, sizeof state->program_id, 0, name);
  // Removes an incomplete UTF-8 character.
  if (name[end] != 0) {
    while (end > 1 && ((uint8_t)name[end] & 0xc0) == 0x80) end--;
    state->program_id[end] = 0;
  }
}
