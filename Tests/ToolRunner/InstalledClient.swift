// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The client as it is installed for programs in C and C++, linked from the objects of the tests, once for all tests of a
/// process.
public enum InstalledClient {
  public struct NotInstalled: Error, CustomStringConvertible { public let description: String }

  private static let folder = FileManager.default.temporaryDirectory.appending(path: "crashpadctl-client-\(getpid())")

  private static let installed: Result<URL, NotInstalled> = Result {
    () throws(NotInstalled) in
    atexit { try? FileManager.default.removeItem(at: InstalledClient.folder) }
    // Beside the tool there may be links.
    let build = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().appending(path: "libcrashpad_client.so")
      .resolvingSymlinksInPath().deletingLastPathComponent()
    let prefix = folder.appending(path: "prefix")
    let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../scripts/packages")
      .standardizedFileURL.path
    let result: Tool.Outcome
    do {
      result = try shell(
        """
        '\(scripts)/client' '\(build.path)/crashpad_client.product/Objects.LinkFileList' '\(folder.path)/libraries' &&
          '\(scripts)/client-files' '\(folder.path)/libraries' '' '\(prefix.path)' lib
        """, in: TemporaryFolder())
    } catch { throw NotInstalled(description: "\(error)") }
    guard result.status == 0 else { throw NotInstalled(description: result.text + result.errorText) }
    return prefix
  }

  /// The prefix below which it is installed.
  public static func prefix() throws -> URL { try installed.get() }

  private static let path = ProcessInfo.processInfo.environment["PATH"] ?? ""

  /// Whether there is a program of this name, wherever the tests were started with their PATH.
  public static func has(_ program: String) -> Bool {
    path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }

  /// Whether the client can be linked.
  public static var canBeBuilt: Bool { has("swiftc") && has("ld.bfd") && has("objcopy") }

  /// A command that finds compilers, too.
  public static func shell(_ command: String, in folder: TemporaryFolder) throws -> Tool.Outcome {
    try Tool.shell("export PATH=\"$PATH:\(path)\"\n\(command)", in: folder)
  }

  /// How a program is linked with it.
  public enum Link: String, CaseIterable, CustomStringConvertible, Sendable {
    case shared, archive
    public var description: String { rawValue }
    /// The name that pkg-config and CMake have for it.
    public var name: String { self == .shared ? "crashpad_client" : "crashpad_client_static" }
  }

  /// Options of a compiler. A shared library is found at run time by its path.
  public static func options(_ link: Link) throws -> String {
    let prefix = try prefix().path
    let libraries =
      switch link {
      case .shared: "-L'\(prefix)/lib' -lcrashpad_client -Wl,-rpath,'\(prefix)/lib'"
      case .archive: "'\(prefix)/lib/libcrashpad_client.a' -lm -lpthread -ldl"
      }
    return "-I'\(prefix)/include' \(libraries)"
  }
}
