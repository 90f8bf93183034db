// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Programs that do something of their own with the signals of crashes, with the handler and without: they see the same,
/// end the same way, and leave a dump where they crash.
@Suite(
  "The program's own handlers and masks", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct HandlerTests {
  /// The program's output without the handler and with it, and the folder of the database `db`.
  struct Pair {
    let folder: TemporaryFolder
    let without: Tool.Outcome
    let with: Tool.Outcome

    /// - Parameters:
    ///   - setup: done once before both.
    ///   - script: `handled PROGRAM …` runs a program.
    ///   - handled: the command that captures its crashes; nil for `crashpadctl run`.
    init(setup: String, _ script: String, limit: Int = 120, handled: String? = nil) throws {
      folder = try TemporaryFolder()
      let common = "ulimit -c 0; export HOME=$PWD\n"
      let prepared = try Tool.shell(setup, in: folder, limit: limit)
      try #require(prepared.status == 0, "\(prepared.text)\(prepared.errorText)")
      without = try Tool.shell("\(common)handled() { \"$@\"; }\n\(script)", in: folder, limit: limit)
      with = try Tool.shell(
        """
        \(common)export \(HandlerLibrary.variable)='\(try HandlerLibrary.path())'
        handled() { \(handled ?? #"crashpadctl run --quiet --database "$HOME/db" -- "$@""#); }
        \(script)
        """, in: folder, limit: limit)
    }

    /// The dumps, each checked by `validate`.
    func dumps() throws -> [CapturedDump] {
      let place = "db/pending-serialized-ios-dump"
      guard folder.exists(place) else { return [] }
      return try folder.names(in: place).map { name in
        #expect(!name.hasSuffix(".locked"))
        let validation = try Tool.run(["validate", "\(place)/\(name)"], in: folder)
        #expect(validation.status == 0, "\(validation.text)\(validation.errorText)")
        let inspection = try Tool.run(["inspect", "--format", "json", "\(place)/\(name)"], in: folder)
        return CapturedDump(json: try JSONDocument(inspection.output))
      }
    }

    func expectSame(_ comment: Comment? = nil) {
      #expect(with.status == without.status, comment)
      #expect(with.text == without.text, comment)
      #expect(with.errorText == without.errorText, comment)
    }
  }

  private static func pair(_ mode: String) throws -> Pair {
    let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Programs/handlers.c")
      .path
    // Without optimization what a call leaves in registers is not what it was called with.
    let compile = "'\(HandlerLibrary.compiler ?? "clang")' -std=gnu17 -O0 -w '\(program)' -pthread -o handlers"
    return try Pair(
      setup: compile, "handled ./handlers \(mode) >out 2>err; status=$?; cat out; cat err >&2; exit $status")
  }

  @Test("A program sees its own actions and masks", arguments: ["ask", "show", "ignore", "masks"])
  func shown(_ mode: String) throws {
    let pair = try Self.pair(mode)
    pair.expectSame()
    #expect(pair.with.status == 7 && !pair.with.output.isEmpty)
    #expect(try pair.dumps().isEmpty)
  }

  @Test(
    "A fault whose handler restores the default, or is called with one argument, leaves its own cause in the dump",
    arguments: ["returns", "once", "once-raises", "one-argument", "blocked", "blocked-handled"])
  func cause(_ mode: String) throws {
    let pair = try Self.pair(mode)
    pair.expectSame()
    #expect(pair.with.status == 128 + SIGSEGV)
    let dumps = try pair.dumps()
    try #require(dumps.count == 1)
    #expect(dumps[0].signal == UInt64(SIGSEGV) && dumps[0].isComplete)
    #expect(dumps[0].json["exception"]["address"].hex == 8)
  }

  @Test("A handler that raises the signal again ends in a dump")
  func raises() throws {
    let pair = try Self.pair("raises")
    pair.expectSame()
    #expect(pair.with.status == 128 + SIGSEGV)
    #expect(try pair.dumps().map(\.signal) == [UInt64(SIGSEGV)])
  }

  @Test(
    "A signal that was sent to a thread which blocks it waits, with its sender, and ends the process when unblocked")
  func sent() throws {
    let pair = try Self.pair("sent")
    pair.expectSame()
    #expect(pair.with.status == 128 + SIGSEGV)
    #expect(pair.with.text.hasSuffix("still alive\n"))
    #expect(try pair.dumps().map(\.signal) == [UInt64(SIGSEGV)])
  }
}
