// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

extension CrashEvidence.Frame {
  /// Whether it is a function of an allocator: a fault there comes of the pointer that it was given, or of what was written
  /// over its memory before.
  var isOfAllocator: Bool {
    guard let function else { return false }
    let name = function.prefix { $0 != "(" }
    return Self.allocatorFunctions.contains(String(name)) || Self.allocatorStarts.contains { name.hasPrefix($0) }
  }

  /// Whether such a function was given a block by its caller.
  var takesBlock: Bool {
    guard let function else { return false }
    return ["free", "realloc", "delete", "munmap_chunk"].contains { function.containsBytes($0) }
  }

  private static let allocatorFunctions: Set<String> = [
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "memalign", "posix_memalign", "aligned_alloc",
    "malloc_consolidate", "malloc_usable_size", "unlink_chunk", "munmap_chunk", "mremap_chunk", "sysmalloc",
    "operator new", "operator new[]", "operator delete", "operator delete[]",
  ]
  private static let allocatorStarts = [
    "_int_free", "_int_malloc", "_int_realloc", "_int_memalign", "__libc_malloc", "__libc_free", "__libc_calloc",
    "__libc_realloc", "__GI___libc_malloc", "__GI___libc_free", "__GI___libc_calloc", "__GI___libc_realloc",
    "tcache_", "szone_", "nanov2_", "tiny_malloc", "tiny_free", "small_malloc", "small_free",
  ]
}
