// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// Tells the modules of the application from those of the system and of language runtimes, by their paths.
package struct OwnModules: Sendable {
  private let executable: Int?
  private let system: OperatingSystem
  private let additional: [Glob]

  /// - Parameter additional: paths and names of modules that count as the application's, whatever else is known of them.
  package init(_ snapshot: ProcessSnapshot, additional: [Glob] = []) {
    executable = snapshot.executableIndex
    system = snapshot.system.operatingSystem
    self.additional = additional
  }

  /// - Parameters:
  ///   - index: the module's, in the snapshot.
  ///   - path: the module's; reports may have the name alone.
  package func contains(_ index: Int, path: String) -> Bool {
    let name = lastPathComponent(path)
    if additional.contains(where: { $0.matches(path) || $0.matches(name) }) { return true }
    if index == executable { return true }
    if name.utf8.count == path.utf8.count { return false }
    if Self.systemNames.contains(where: { $0.matches(name) }) { return false }
    if Self.systemPaths.contains(where: { path.utf8.starts(with: $0.utf8) }) { return false }
    if path.containsBytes("/RuntimeRoot/") { return false }
    switch system {
    case .ios, .macos: return Self.applePaths.contains { path.containsBytes($0) }
    case .windows: return !path.lowercased().contains("\\windows\\")
    default: return path.hasPrefix("/")
    }
  }

  private static let applePaths = [".app/", ".appex/", "/Containers/Bundle/", "/Bundle/Application/"]
  private static let systemPaths = [
    "/lib/", "/lib64/", "/lib32/", "/usr/lib", "/usr/share/", "/System/", "/private/preboot/", "/Library/Apple/",
    "/system/", "/apex/", "/vendor/",
    "/nix/store/", "/snap/", "/Applications/Xcode",
  ]
  private static let systemNames: [Glob] = [
    "libc.so*", "libc-2*", "libm.so*", "libm-2*", "libpthread*", "libstdc++*", "libc++*", "libswift*",
    "lib_Foundation*", "libFoundation*", "libgcc_s*", "libdispatch*",
    "libBlocksRuntime*", "libdl.so*", "librt.so*", "ld-linux*", "ld-musl*", "linux-vdso*", "libasan*", "libubsan*",
    "libtsan*", "libcrashpad*", "libsystem_*", "libobjc*",
  ]
}
