// SPDX-License-Identifier: Apache-2.0
/// The functions of systems that have no caller: those that start a program or a thread.
///
/// The name alone is no evidence where programs may have a function of that name; then the module's name has to fit too.
/// Sources: sysdeps/*/start.S and clone3.S of glibc, crt/ and src/thread of musl, dyld's startup, libpthread's start and
/// ntdll.
enum OutermostFunction {
  private static let names: [String: [String]] = [
    // The prefixes of the names of modules without directories; none for names that are reserved for the system.
    "_start": [], "__start": [], "_dyld_start": ["dyld"], "dyld_start": ["dyld"],
    "start": ["dyld", "libdyld.dylib"],
    "__clone": [], "__clone3": [], "__clone_internal": [], "__bionic_clone": [],
    "clone": ["libc.so", "libc-", "libpthread", "ld-musl"], "clone3": ["libc.so", "libc-", "libpthread"],
    "thread_start": ["libsystem_pthread", "libsystem_c"], "start_wqthread": ["libsystem_pthread", "libsystem_c"],
    "RtlUserThreadStart": ["ntdll"], "_RtlUserThreadStart": ["ntdll"], "__RtlUserThreadStart": ["ntdll"],
  ]

  /// - Parameters:
  ///   - name: the function's name as in the symbol table.
  ///   - module: the path or name of its module.
  static func isKnown(_ name: String, in module: String) -> Bool {
    guard let modules = names[name] else { return false }
    let file = module.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last?.lowercased() ?? ""
    return modules.isEmpty || modules.contains { file.hasPrefix($0) }
  }
}
