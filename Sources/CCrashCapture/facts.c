// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "facts.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "dump_writer.h"
#include "state.h"

extern char **environ;

// Reads a whole file, at most `size` bytes. Returns how many; 0 if there is no such file.
static size_t read_file(const char *path, char *to, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size_t done = 0;
  ssize_t got;
  while (done < size && (got = read(file, to + done, size - done)) > 0) done += (size_t)got;
  close(file);
  return done;
}

static void start_writing(struct dump_writer *writer, struct encoded_facts *facts) {
  dump_writer_start(writer, -1, facts->bytes, sizeof facts->bytes);
}

// A property that does not fit is left out; half of one would spoil all that follows.
static void write_if_it_fits(struct dump_writer *writer, enum dump_key key, const void *value, size_t size) {
  const size_t kHeaderSize = 11;
  if (writer->size - writer->used >= size + kHeaderSize) dump_property(writer, key, value, size);
}

static void write_text(struct dump_writer *writer, enum dump_key key, const char *text) {
  write_if_it_fits(writer, key, text, strlen(text));
}

// MARK: The system

// The value of NAME=value or NAME="value" in os-release(5); empty if there is none.
static void find_in_release(const char *release, const char *name, char *value, size_t size) {
  size_t length = strlen(name);
  value[0] = 0;
  for (const char *line = release; line != NULL && *line != 0; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, name, length) != 0 || line[length] != '=') continue;
    const char *start = line + length + 1;
    char quote = *start == '"' || *start == '\'' ? *start++ : '\n';
    size_t count = strcspn(start, (char[]){quote, '\n', 0});
    snprintf(value, size, "%.*s", (int)(count < size ? count : size - 1), start);
    return;
  }
}

static void write_time_zone(struct dump_writer *writer) {
  // The offsets in January and July tell which of them is summer time, on either half of the earth.
  time_t now = time(NULL);
  struct tm today;
  if (localtime_r(&now, &today) == NULL) return;
  int32_t standard = (int32_t)today.tm_gmtoff;
  int32_t daylight = (int32_t)today.tm_gmtoff;
  char standard_name[64] = "";
  char daylight_name[64] = "";
  bool has_daylight = false;
  for (int month = 0; month < 12; month += 6) {
    struct tm day = {.tm_year = today.tm_year, .tm_mon = month, .tm_mday = 15, .tm_hour = 12, .tm_isdst = -1};
    if (mktime(&day) == (time_t)-1) continue;
    has_daylight |= day.tm_isdst > 0;
    int32_t *offset = day.tm_isdst > 0 ? &daylight : &standard;
    char *name = day.tm_isdst > 0 ? daylight_name : standard_name;
    *offset = (int32_t)day.tm_gmtoff;
    snprintf(name, sizeof standard_name, "%s", day.tm_zone == NULL ? "" : day.tm_zone);
  }
  if (!has_daylight) {
    daylight = standard;
    memcpy(daylight_name, standard_name, sizeof daylight_name);
  }
  uint8_t has = has_daylight;
  uint8_t is = today.tm_isdst > 0;
  dump_property(writer, kHasDaylightSavingTime, &has, 1);
  dump_property(writer, kIsDaylightSavingTime, &is, 1);
  dump_u32(writer, kStandardOffsetSeconds, (uint32_t)standard);
  dump_u32(writer, kDaylightOffsetSeconds, (uint32_t)daylight);
  write_text(writer, kStandardName, standard_name);
  write_text(writer, kDaylightName, daylight_name);
}

static void find_processor(char vendor[13], char model[49]) {
  vendor[0] = model[0] = 0;
#if defined(__x86_64__)
  unsigned words[4];
  if (__get_cpuid(0, &words[0], &words[1], &words[2], &words[3])) {
    memcpy(vendor, &words[1], 4);
    memcpy(vendor + 4, &words[3], 4);
    memcpy(vendor + 8, &words[2], 4);
    vendor[12] = 0;
  }
  for (unsigned part = 0; part < 3; part++) {
    if (!__get_cpuid(0x80000002 + part, &words[0], &words[1], &words[2], &words[3])) return;
    memcpy(model + 16 * part, words, 16);
  }
  model[48] = 0;
#endif
}

// Not scanf(3) and strtoull(3): newer versions of glibc give them names that musl does not have.
static uint64_t take_number(const char **text) {
  uint64_t value = 0;
  for (; isdigit((unsigned char)**text); (*text)++) value = value * 10 + (uint64_t)(**text - '0');
  return value;
}

static void write_system_facts(const struct utsname *name, const char *distribution) {
  struct dump_writer writer;
  start_writing(&writer, &crash_state.system_facts);
  uint32_t version[3] = {0, 0, 0};
  const char *place = name->release;
  for (int part = 0; part < 3 && isdigit((unsigned char)*place); part++) {
    version[part] = (uint32_t)take_number(&place);
    if (*place == '.') place++;
  }
  dump_u32(&writer, kOSVersionMajor, version[0]);
  dump_u32(&writer, kOSVersionMinor, version[1]);
  dump_u32(&writer, kOSVersionBugfix, version[2]);
  char build[1024];
  snprintf(build, sizeof build, "%s %s%s%s", name->release, name->version, distribution[0] == 0 ? "" : " ",
           distribution);
  write_text(&writer, kOSVersionBuild, build);
  write_text(&writer, kMachineDescription, name->machine);
  char vendor[13];
  char model[49];
  find_processor(vendor, model);
  write_text(&writer, kCpuVendor, vendor);
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  dump_u32(&writer, kCpuCount, processors > 0 ? (uint32_t)processors : 0);
  dump_u64(&writer, kPageSize, crash_state.page_size);
  // Pointers may be signed on arm64: all above the address space of user programs. Intel's have no such bits.
#if defined(__aarch64__)
  dump_u64(&writer, kAddressMask, UINT64_C(0xff7f000000000000));
#else
  dump_u64(&writer, kAddressMask, 0);
#endif
  write_time_zone(&writer);
  crash_state.system_facts.size = writer.used;
}

// MARK: The process

// Options whose values are nobody's business: --password=x, --token x, API_KEY=x.
static bool names_a_secret(const char *text, size_t length) {
  static const char *const kWords[] = {"pass", "secret", "token",   "key", "credential",
                                       "auth", "cookie", "session", "dsn"};
  for (size_t start = 0; start < length; start++) {
    for (size_t word = 0; word < sizeof kWords / sizeof *kWords; word++) {
      size_t size = strlen(kWords[word]);
      if (start + size <= length && strncasecmp(text + start, kWords[word], size) == 0) return true;
    }
  }
  return false;
}

static const char kRemoved[] = "<removed>";

// The name and password in scheme://name:password@host.
static const char *find_credentials(const char *text, const char **end) {
  const char *scheme = strstr(text, "://");
  if (scheme == NULL) return NULL;
  const char *start = scheme + 3;
  size_t authority = strcspn(start, "/?#");
  const char *at = memrchr(start, '@', authority);
  *end = at;
  return at == NULL ? NULL : start;
}

static size_t append(char *to, size_t size, size_t end, const char *text, size_t length) {
  if (length > size - end) length = size - end;
  memcpy(to + end, text, length);
  return end + length;
}

// Copies arguments without what should not leave the machine. Both are ended by NUL each.
static size_t copy_arguments(const char *from, size_t count, char *to, size_t size) {
  size_t end = 0;
  bool hides_next = false;
  for (size_t place = 0; place < count;) {
    const char *argument = from + place;
    size_t length = strnlen(argument, count - place);
    place += length + 1;
    const char *equals = memchr(argument, '=', length);
    size_t name = equals == NULL ? length : (size_t)(equals - argument);
    const char *credentials_end = NULL;
    const char *credentials = find_credentials(argument, &credentials_end);
    if (hides_next && argument[0] != '-') {
      end = append(to, size, end, kRemoved, sizeof kRemoved - 1);
    } else if (equals != NULL && names_a_secret(argument, name)) {
      end = append(to, size, end, argument, name + 1);
      end = append(to, size, end, kRemoved, sizeof kRemoved - 1);
    } else if (credentials != NULL) {
      end = append(to, size, end, argument, (size_t)(credentials - argument));
      end = append(to, size, end, kRemoved, sizeof kRemoved - 1);
      end = append(to, size, end, credentials_end, length - (size_t)(credentials_end - argument));
    } else {
      end = append(to, size, end, argument, length);
    }
    hides_next = equals == NULL && argument[0] == '-' && names_a_secret(argument, length);
    end = append(to, size, end, "", 1);
  }
  return end;
}

// Variables that tell how a program runs, and nothing of who runs it.
static bool is_harmless(const char *name, size_t length) {
  static const char *const kNames[] = {
      "PATH",
      "LANG",
      "LANGUAGE",
      "TZ",
      "TERM",
      "SHELL",
      "LD_PRELOAD",
      "LD_LIBRARY_PATH",
      "LD_BIND_NOW",
      "MALLOC_ARENA_MAX",
      "MALLOC_CHECK_",
      "MALLOC_PERTURB_",
      "SWIFT_BACKTRACE",
      "SWIFT_DETERMINISTIC_HASHING",
      "CONTAINER",
      "container",
      "KUBERNETES_SERVICE_HOST",
      "AWS_EXECUTION_ENV",
      "AWS_LAMBDA_FUNCTION_NAME",
      "SNAP",
      "SNAP_NAME",
      "SNAP_VERSION",
      "INVOCATION_ID",
      "GOTRACEBACK",
      "RUST_BACKTRACE",
      "PYTHONFAULTHANDLER",
      "OMP_NUM_THREADS",
  };
  if (length > 3 && strncmp(name, "LC_", 3) == 0) return true;
  for (size_t index = 0; index < sizeof kNames / sizeof *kNames; index++) {
    if (strlen(kNames[index]) == length && strncmp(name, kNames[index], length) == 0) return true;
  }
  return false;
}

static bool is_allowed(const char *name, size_t length, const char *const *environment) {
  for (; environment != NULL && *environment != NULL; environment++) {
    if (strlen(*environment) == length && strncmp(name, *environment, length) == 0) return true;
  }
  return is_harmless(name, length);
}

static size_t copy_environment(const char *const *environment, char *to, size_t size) {
  size_t end = 0;
  for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
    const char *equals = strchr(*variable, '=');
    if (equals == NULL || !is_allowed(*variable, (size_t)(equals - *variable), environment)) continue;
    size_t length = strlen(*variable) + 1;
    if (end + length > size) break;
    end = append(to, size, end, *variable, length);
  }
  return end;
}

static void write_linux_facts(const struct utsname *name, const char *release, size_t release_size,
                              const char *distribution, const char *const *environment) {
  struct dump_writer writer;
  start_writing(&writer, &crash_state.linux_facts);
  write_text(&writer, kOSFamily, name->sysname);
  write_text(&writer, kKernelRelease, name->release);
  write_text(&writer, kKernelVersion, name->version);
  if (distribution[0] != 0) write_text(&writer, kDistribution, distribution);
  write_text(&writer, kExecutable, crash_state.executable);
  char vendor[13];
  char model[49];
  find_processor(vendor, model);
  if (model[0] != 0) write_text(&writer, kCPUModel, model);
  enum { kTextSize = 16 << 10 };
  char *text = malloc(2 * kTextSize);
  if (text != NULL) {
    size_t size = read_file("/proc/self/cmdline", text, kTextSize);
    size = copy_arguments(text, size, text + kTextSize, kTextSize);
    write_if_it_fits(&writer, kCommandLine, text + kTextSize, size);
    size = copy_environment(environment, text, kTextSize);
    write_if_it_fits(&writer, kEnvironment, text, size);
    size = read_file("/proc/self/auxv", text, kTextSize);
    if (size > 0) write_if_it_fits(&writer, kAuxiliaryVector, text, size);
    free(text);
  }
  if (release_size > 0) write_if_it_fits(&writer, kRelease, release, release_size);
  crash_state.linux_facts.size = writer.used;
}

// When the process began: so many clock ticks after the machine.
static void find_start_time(void) {
  struct timespec real;
  struct timespec boot;
  clock_gettime(CLOCK_REALTIME, &real);
  clock_gettime(CLOCK_BOOTTIME, &boot);
  int64_t now = (int64_t)real.tv_sec * 1000000 + real.tv_nsec / 1000;
  int64_t start = now;
  char text[1024];
  size_t size = read_file("/proc/self/stat", text, sizeof text - 1);
  text[size] = 0;
  // The second field is a name in parentheses, in which anything may stand.
  const char *place = strrchr(text, ')');
  const int kStartTimeField = 22;
  for (int field = 2; place != NULL && field < kStartTimeField; field++) place = strchr(place + 1, ' ');
  long ticks = sysconf(_SC_CLK_TCK);
  if (place != NULL && ticks > 0) {
    place++;
    int64_t since_boot = (int64_t)(take_number(&place) * 1000000 / (unsigned long)ticks);
    start = now - ((int64_t)boot.tv_sec * 1000000 + boot.tv_nsec / 1000 - since_boot);
  }
  crash_state.start_seconds = start / 1000000;
  crash_state.start_microseconds = (int32_t)(start % 1000000);
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

void facts_gather(const char *const *environment) {
  struct state *state = &crash_state;
  state->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
  state->loader_base = getauxval(AT_BASE);
  state->vdso = getauxval(AT_SYSINFO_EHDR);
  // What the kernel put on the stack of the first thread: the name of the executable lies above its arguments.
  extern void *__libc_stack_end __attribute__((weak));
  state->main_stack_end = &__libc_stack_end != NULL ? (uint64_t)__libc_stack_end : 0;
  dl_iterate_phdr(find_executable, NULL);
  ssize_t length = readlink("/proc/self/exe", state->executable, sizeof state->executable - 1);
  if (length < 0) {
    const char *name = (const char *)getauxval(AT_EXECFN);
    snprintf(state->executable, sizeof state->executable, "%s", name == NULL ? "" : name);
  }
  find_start_time();
  struct utsname name;
  memset(&name, 0, sizeof name);
  uname(&name);
  char release[4096];
  size_t release_size = read_file("/etc/os-release", release, sizeof release - 1);
  if (release_size == 0) release_size = read_file("/usr/lib/os-release", release, sizeof release - 1);
  release[release_size] = 0;
  char distribution[256];
  find_in_release(release, "PRETTY_NAME", distribution, sizeof distribution);
  write_system_facts(&name, distribution);
  write_linux_facts(&name, release, release_size, distribution, environment);
}
