// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import ToolRunner

/// The programs of Programs/ with the handler linked into them. Each is built once for all tests of a process, and the handler
/// once for all programs.
enum HandlerProgram: String {
  case company, files, surroundings, unharmed

  private struct NotBuilt: Error { let description: String }

  private static let folder = FileManager.default.temporaryDirectory.appending(
    path: "crashpadctl-programs-\(getpid())")
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let sources = tests.appending(path: "../../Sources/CCrashCapture").standardizedFileURL.path
  private static let compiler = "'\(HandlerLibrary.compiler ?? "clang")' -std=gnu17 -g1 -O1 -fno-omit-frame-pointer"
  private static let built = Mutex<[HandlerProgram: String]>([:])

  /// The handler's objects.
  private static let handler: Result<Void, NotBuilt> = Result {
    () throws(NotBuilt) in
    atexit { try? FileManager.default.removeItem(at: HandlerProgram.folder) }
    try run(
      "mkdir -p '\(folder.path)' && cd '\(folder.path)' && \(compiler) -I'\(sources)/include' -c '\(sources)'/*/*.c")
  }

  private static func run(_ command: String) throws(NotBuilt) {
    let result: Tool.Outcome
    do { result = try Tool.shell(command, in: TemporaryFolder(), limit: 120) } catch {
      throw NotBuilt(description: "\(error)")
    }
    if result.status != 0 { throw NotBuilt(description: result.errorText) }
  }

  /// The path of the program.
  private func path() throws -> String {
    try Self.built.withLock { built in
      if let path = built[self] { return path }
      try Self.handler.get()
      let path = Self.folder.appending(path: rawValue).path
      try Self.run(
        """
        \(Self.compiler) -I'\(Self.sources)/include' '\(Self.tests.path)/Programs/\(rawValue).c' '\(Self.folder.path)'/*.o \
          -pthread -ldl -o '\(path)'
        """)
      built[self] = path
      return path
    }
  }

  /// Puts the program into a folder, if it is not there.
  func link(into folder: TemporaryFolder) throws {
    if folder.exists(rawValue) { return }
    try FileManager.default.createSymbolicLink(
      at: folder.url(rawValue), withDestinationURL: URL(fileURLWithPath: path()))
  }

  /// A folder with the program in it.
  func crasher() throws -> Crasher {
    let crasher = try Crasher()
    try link(into: crasher.folder)
    return crasher
  }
}
