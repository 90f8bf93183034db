// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "capture.h"
#include "memory.h"
#include "modules.h"
#include "proc.h"

enum { kExecutableFile = 2, kLibraryFile = 6, kLoaderFile = 7 };  // MH_EXECUTE, MH_DYLIB, MH_DYLINKER

// "libstdc++.so.6.0.30" is 6.0.30, in 16, 8 and 8 bits; 0 if the name has no version.
CRASH_TIME static uint32_t version_of(const char *name) {
  const char *found = NULL;
  for (const char *place = name; *place != 0; place++) {
    if (place[0] == '/') found = NULL;
    if (place[0] == '.' && place[1] == 's' && place[2] == 'o' && place[3] == '.') found = place + 4;
  }
  if (found == NULL) return 0;
  uint32_t version = 0;
  const int shifts[] = {16, 8, 0};
  for (int part = 0; part < 3; part++) {
    int64_t number = parse_number(found);
    if (number < 0) break;
    int64_t limit = part == 0 ? 0xffff : 0xff;
    version |= (uint32_t)(number < limit ? number : limit) << shifts[part];
    while (*found >= '0' && *found <= '9') found++;
    if (*found++ != '.') break;
  }
  return version;
}

// The number of bytes of a text up to its NUL, at most `limit`.
CRASH_TIME static uint32_t text_size(uint64_t address, uint32_t limit) {
  char part[256];
  uint32_t size = 0;
  while (size < limit) {
    uint32_t wanted = limit - size < sizeof part ? limit - size : sizeof part;
    size_t count = memory_read(part, address + size, wanted);
    for (size_t index = 0; index < count; index++) {
      if (part[index] == 0) return size + (uint32_t)index;
    }
    if (count < wanted) break;
    size += wanted;
  }
  return limit;
}

CRASH_TIME static void write_objects(struct dump_writer *writer) {
  const int kMaximumObjects = 1024;
  const uint16_t kTextAnnotation = 1;
  uint64_t place = (uint64_t)atomic_load(&crash_state.annotations);
  bool is_open = false;
  for (int count = 0; place != 0 && count < kMaximumObjects; count++) {
    struct crash_annotation annotation;
    if (memory_read(&annotation, place, sizeof annotation) != sizeof annotation) break;
    place = (uint64_t)annotation.next;
    char name[kMaximumAnnotationName + 1];
    uint32_t size = annotation.size < kMaximumAnnotationValue ? annotation.size : kMaximumAnnotationValue;
    if (annotation.type == kTextAnnotation) size = text_size((uint64_t)annotation.value, size);
    size_t length = size == 0 ? 0 : memory_read_text(name, sizeof name, (uint64_t)annotation.name);
    if (length == 0) continue;
    if (!is_open) dump_array_start(writer, kAnnotationObjects);
    is_open = true;
    dump_element_start(writer);
    dump_property(writer, kAnnotationName, name, length);
    dump_property(writer, kAnnotationType, &annotation.type, sizeof annotation.type);
    dump_memory(writer, kAnnotationValue, (uint64_t)annotation.value, size);
    dump_map_end(writer);
  }
  if (is_open) dump_array_end(writer);
}

CRASH_TIME static void write_ranges(struct dump_writer *writer) {
  bool is_open = false;
  for (int index = 0; index < kMaximumRanges; index++) {
    uint64_t address = atomic_load(&crash_state.ranges[index].address);
    uint64_t size = atomic_load(&crash_state.ranges[index].size);
    if (address == 0 || size == 0) continue;
    if (!is_open) dump_array_start(writer, kModuleExtraMemoryRegions);
    is_open = true;
    dump_element_start(writer);
    dump_u64(writer, kModuleExtraMemoryRegionAddress, address);
    uint64_t readable = memory_readable(address, size);
    if (readable > 0) dump_memory(writer, kModuleExtraMemoryRegionData, address, readable);
    dump_map_end(writer);
  }
  if (is_open) dump_array_end(writer);
}

static char message[8192];

CRASH_TIME static void write_message(struct dump_writer *writer, size_t length) {
  while (length > 0 && message[length - 1] == '\n') length--;
  if (length == 0) return;
  dump_map_start(writer, kAnnotationsCrashInfo);
  dump_property(writer, kAnnotationsCrashInfoMessage1, message, length);
  dump_map_end(writer);
}

CRASH_TIME static uint64_t pointer_at(uint64_t address) {
  uint64_t pointer = 0;
  return address != 0 && memory_read(&pointer, address, sizeof pointer) == sizeof pointer ? pointer : 0;
}

CRASH_TIME static void write_message_at(struct dump_writer *writer, uint64_t address) {
  write_message(writer, memory_read_text(message, sizeof message, address));
}

static char name[kMaximumModuleName];
static char path[kMaximumModuleName];

// The loader's name of a module is the one that it was given, which may be no absolute path.
CRASH_TIME static const char *find_path(const struct module *module, size_t *length) {
  bool is_path = *length == 0 || name[0] == '/' || module->bias == crash_state.vdso;
  size_t found = is_path ? 0 : proc_mapped_path(module->address, path, sizeof path);
  if (found == 0) return name;
  *length = found;
  return path;
}

CRASH_TIME void write_module(struct capture *capture, int executable, int libc, int swift) {
  struct dump_writer *writer = &capture->writer;
  const int index = capture->index;
  const struct module *module = modules_at(index);
  size_t length = modules_name(module, name, sizeof name);
  dump_element_start(writer);
  const char *full = find_path(module, &length);
  dump_property(writer, kName, full, length);
  dump_u64(writer, kAddress, module->address);
  dump_u64(writer, kSize, module->size);
  dump_u32(writer, kFileType, module->is_executable ? kExecutableFile : module->is_loader ? kLoaderFile : kLibraryFile);
  uint32_t version = version_of(name);
  if (version != 0) dump_u32(writer, kDylibCurrentVersion, version);
  uint8_t uuid[16];
  zero_bytes(uuid, sizeof uuid);
  copy_bytes(uuid, module->build_id, module->build_id_size < sizeof uuid ? module->build_id_size : sizeof uuid);
  dump_property(writer, kUUID, uuid, sizeof uuid);
  if (module->build_id_size > 0) dump_property(writer, kBuildID, module->build_id, module->build_id_size);
  if (index == executable) {
    write_objects(writer);
    write_ranges(writer);
  }
  // A static executable has all of them; only the most informative message is written.
  uint64_t swift_message = index == swift ? pointer_at(crash_state.swift_fatal_message) : 0;
  // glibc's struct abort_msg_s: its whole size as mapped, u32, and the text.
  uint64_t abort_message = index == libc ? pointer_at(crash_state.abort_message) : 0;
  if (index == executable && crash_state.terminate_message[0] != 0) {
    write_message(writer, append_text(message, sizeof message, 0, crash_state.terminate_message));
  } else if (swift_message != 0) {
    write_message_at(writer, swift_message);
  } else if (abort_message != 0) {
    write_message_at(writer, abort_message + sizeof(uint32_t));
  }
  dump_map_end(writer);
}
