// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Tells the source files of the application from those of libraries, for frames whose module is not known: sanitizers, runtimes
/// and debuggers print the file in its place.
package enum OwnSources {
  /// - Parameter path: as it is in the debug information, which may be relative to the place of the build.
  package static func contains(_ path: String) -> Bool {
    if path.isEmpty || path.utf8.first == UInt8(ascii: "<") || SymbolOrigin.isSystemHeader(path) { return false }
    // Code in assembly is of the C library as a rule.
    if path.hasSuffix(".S") || path.hasSuffix(".s") { return false }
    // Services list frames of Dart without saying of what package they are.
    if path.containsBytes(".dart") { return false }
    if starts.contains(where: { path.hasPrefix($0) }) || parts.contains(where: { path.containsBytes($0) }) {
      return false
    }
    return !files.contains(lastPathComponent(path))
  }

  private static let starts = [
    "/usr/src/", "/usr/local/go/", "/build/glibc", "library/std/",
    "library/core/", "library/alloc/", "./csu/", "../csu/", "./nptl/", "../nptl/", "./stdlib/", "../stdlib/",
    "./malloc/",
    "./libio/", "./elf/", "./signal/", "./debug/", "./assert/", "./misc/", "./io/", "node:internal",
  ]
  private static let parts = [
    "sysdeps/", "/glibc-", "libsanitizer/", "compiler-rt/lib/", "/library/std/src/", "/library/core/src/",
    "/library/alloc/src/", "/libstdc++-v3/", "/include/bits/", "/site-packages/", "/dist-packages/",
    "/lib/python", "/.cargo/registry/", "/.rustup/", "/go/src/runtime/", "/pkg/mod/", "/libexec/src/runtime/",
    "/node_modules/", "\\vctools\\", "/libcore/", "/libstd/", "/libpanic_unwind/",
  ]
  /// Files of the C library, which debuggers print without directories.
  private static let files: Set<String> = [
    "raise.c", "abort.c", "pthread_kill.c", "pthread_create.c", "malloc.c", "libc_fatal.c", "libc-start.c", "assert.c",
    "libc_start_call_main.h", "fortify_fail.c", "stack_chk_fail.c", "futex-internal.c", "pthread_cond_wait.c",
  ]
}
