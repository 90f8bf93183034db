import Foundation
import ToolRunner

/// Programs/surroundings.c with the handler linked into it, built once for all tests of a process.
enum SurroundingsProgram {
  private struct NotBuilt: Error { let description: String }

  private static let folder = FileManager.default.temporaryDirectory.appending(
    path: "crashpadctl-surroundings-\(getpid())")

  private static let built: Result<String, NotBuilt> = {
    atexit { try? FileManager.default.removeItem(at: SurroundingsProgram.folder) }
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let sources = tests.appending(path: "../../Sources/CCrashCapture").standardizedFileURL.path
    let path = folder.appending(path: "surroundings").path
    let command = """
      '\(HandlerLibrary.compiler ?? "clang")' -std=gnu17 -g1 -O1 -fno-omit-frame-pointer -I'\(sources)/include' \
        '\(tests.path)/Programs/surroundings.c' '\(sources)'/*.c -pthread -ldl -o '\(path)'
      """
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let result = try Tool.shell(command, in: TemporaryFolder(), limit: 120)
      return result.status == 0 ? .success(path) : .failure(NotBuilt(description: result.errorText))
    } catch {
      return .failure(NotBuilt(description: "\(error)"))
    }
  }()

  /// A folder with `./surroundings` in it.
  static func crasher() throws -> Crasher {
    let crasher = try Crasher()
    try FileManager.default.createSymbolicLink(
      at: crasher.folder.url("surroundings"), withDestinationURL: URL(fileURLWithPath: try built.get()))
    return crasher
  }
}
