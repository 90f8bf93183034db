// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Libraries for `LD_PRELOAD` that make calls of the tool fail, each compiled once for all tests of a process. They are no
/// products of the package, so that no other package sees them.
public enum PreloadedLibrary {
  /// Lets calls that change the disk fail, or ends the tool between two: `Tests/FaultInjection/FaultInjection.h`.
  public static let faultInjection = path("FaultInjection")
  /// Stands for inputs that end the tool: `Tests/Poison/Poison.h`.
  public static let poison = path("Poison")

  private static let folder: URL = {
    let folder = FileManager.default.temporaryDirectory.appending(path: "crashpadctl-preloaded-\(getpid())")
    atexit { try? FileManager.default.removeItem(at: PreloadedLibrary.folder) }
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }()

  /// The path of the library that is compiled of `Tests/NAME/NAME.c`. Ends the process if it does not compile.
  private static func path(_ name: String) -> String {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "..").standardizedFileURL
    let library = folder.appending(path: "lib\(name).so").path
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: HandlerLibrary.compiler ?? "/usr/bin/gcc")
    compiler.arguments = [
      "-std=gnu17", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-pthread", "-o", library,
      tests.appending(path: "\(name)/\(name).c").path,
    ]
    do { try compiler.run() } catch { fatalError("\(compiler.executableURL!.path): \(error)") }
    compiler.waitUntilExit()
    precondition(compiler.terminationStatus == 0, "\(name).c does not compile")
    return library
  }
}
