// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// A program that dumps are taken of goes on as if nothing had been.
@Suite("A dump without crash leaves the program unharmed")
struct UnharmedTests {
  /// `CRASHPADCTL_UNHARMED` says for how many seconds, and how many dumps a second ("1200 1").
  private static let length = ProcessInfo.processInfo.environment["CRASHPADCTL_UNHARMED"] ?? "1 0"

  @Test(
    "Threads that lock, allocate, calculate, send, wait and sleep all do what they should",
    .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
  func plain() throws {
    let folder = try TemporaryFolder()
    try HandlerProgram.unharmed.link(into: folder)
    try run(in: folder, "plain")
  }

  @Test("ThreadSanitizer finds nothing in it", .enabled(if: sanitizer != nil, "there is no ThreadSanitizer for C"))
  func threadSanitizer() throws {
    let folder = try TemporaryFolder()
    let compiled = try Tool.shell(
      Self.compile("unharmed", "-O1 -fsanitize=thread \(Self.sanitizer ?? "")"), in: folder)
    try #require(compiled.status == 0, "\(compiled.errorText)")
    try run(in: folder, "under ThreadSanitizer")
  }

  @Test(
    "Threads that answer late, or when it is about another dump already, are not ended by the stop signal",
    .enabled(if: clang != nil, "clang is not installed"))
  func late() throws {
    let folder = try TemporaryFolder()
    // Several at once, as each meets the moment only now and then.
    let result = try Tool.shell(
      """
      \(Self.compile("late", "-O1 -DCRASH_TEST_LATE_ANSWERS")) || exit
      ulimit -c 0
      for number in 1 2 3 4; do (./late db$number \(Soak.times(4, or: 2)) >out$number 2>&1; echo $? >status$number) & done
      wait
      cat status*
      """, in: folder, limit: 120)
    #expect(result.text == "0\n0\n0\n0\n", "\(result.text)\(result.errorText)")
  }

  private func run(in folder: TemporaryFolder, _ how: String) throws {
    let limit = 120 + (Self.length.split(separator: " ").first.flatMap { Int($0) } ?? 0)
    let result = try Tool.shell("ulimit -c 0; ./unharmed db \(Self.length)", in: folder, limit: limit)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.errorText.isEmpty, "\(result.errorText)")
    let dumps = result.outputLines.last { $0.hasPrefix("dumps ") }.flatMap { Int($0.dropFirst(6)) }
    #expect(dumps ?? 0 > 0)
    print("unharmed, \(how): \(result.outputLines.suffix(4))")
    // All but the last were removed as soon as they were there.
    let names = try folder.names(in: "db/pending-serialized-ios-dump").filter { !$0.hasSuffix(".locked") }
    for name in names {
      let validation = try Tool.run(["validate", "db/pending-serialized-ios-dump/\(name)"], in: folder)
      #expect(validation.status == 0, "\(validation.text)\(validation.errorText)")
    }
  }

  /// The command that makes `name` of the program and the handler's sources.
  private static func compile(_ name: String, _ options: String) -> String {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let sources = tests.appending(path: "../../Sources/CCrashCapture").standardizedFileURL.path
    return """
      '\(clang ?? "")' -std=gnu17 -g1 -I'\(sources)/include' '\(tests.path)/Programs/\(name).c' \
        '\(sources)'/*/*.c -pthread -ldl \(options) -o \(name)
      """
  }

  /// Any compiler would do, but the sanitizers of others want libraries of their own.
  private static let clang: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/clang" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  /// The libraries to link with it: the sanitizer of a Swift toolchain's clang wants that toolchain's libdispatch.
  private static let sanitizer: String? = {
    guard let clang else { return nil }
    let compiler = URL(fileURLWithPath: clang).resolvingSymlinksInPath()
    let libraries = compiler.deletingLastPathComponent().appending(path: "../lib/swift/linux").standardizedFileURL.path
    let choices = ["", "-L'\(libraries)' -Wl,-rpath,'\(libraries)' -ldispatch -lBlocksRuntime"]
    return choices.first { choice in
      let test =
        "echo 'int main(void) { return 0; }' | '\(compiler.path)' -x c - -x none -fsanitize=thread \(choice) -o try 2>&1 && ./try"
      return (try? Tool.shell(test, in: TemporaryFolder()).status) == 0
    }
  }()
}
