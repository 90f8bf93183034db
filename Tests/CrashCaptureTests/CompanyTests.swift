// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Programs whose threads, children or place in the system get into a handler's way: each ends as it would without.
@Suite("The handler and what else goes on in the process", .enabled(if: HandlerLibrary.canBeBuilt, "no clang"))
struct CompanyTests {
  @Test("A thread that waits for all signals gets none of ours, in a crash and in dumps without")
  func waitingForSignals() throws {
    let crasher = try HandlerProgram.company.crasher()
    let result = try Tool.shell("ulimit -c 0; ./company waiting db", in: crasher.folder)
    #expect(result.status == 128 + SIGSEGV, "\(result.errorText)")
    let dump = try crasher.dump()
    #expect(dump.signal == UInt64(SIGSEGV) && dump.isComplete)
    #expect(dump.wholeThreads.count == 3)
    let dumps = try Tool.shell("./company waiting-dumps other", in: crasher.folder)
    #expect(dumps.status == 0, "\(dumps.errorText)")
    #expect(dumps.errorText == "company: signal \(SIGTERM)\n")
    #expect(try crasher.dump(database: "other").wholeThreads.count == 3)
  }

  @Test("Children that are forked in the midst of a dump crash as others do, and hold no file of their parent")
  func forkedMeanwhile() throws {
    let crasher = try HandlerProgram.company.crasher()
    let result = try Tool.shell("ulimit -c 0; ./company fork db 200", in: crasher.folder, limit: 300)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.text == "200 crashed\n", "\(result.errorText)")
    #expect(try crasher.dumps().count { !$0.hasSuffix(".locked") } == 200)
  }

  @Test("A thread crashes while the main one exits: either it has a dump, or the program ended before")
  func exitMeanwhile() throws {
    let crasher = try HandlerProgram.company.crasher()
    let count = Soak.times(60, or: 20)
    let result = try Tool.shell(
      """
      ulimit -c 0
      for number in $(seq 1 \(count)); do ./company exit db$number $((number * \(9_000 / count))); echo $?; done 2>err
      """, in: crasher.folder, limit: 120)
    let states = result.outputLines.filter { Int($0) != nil }
    #expect(states.count == count)
    for (index, state) in states.enumerated() {
      if state == "0" { continue }
      #expect(state == "\(128 + SIGSEGV)")
      let dump = try crasher.dump(database: "db\(index + 1)")
      #expect(dump.isComplete && dump.signal == UInt64(SIGSEGV))
    }
    let errors = String(decoding: try crasher.folder.bytes(of: "err"), as: UTF8.self)
    #expect(!errors.contains("crashpad:"), "\(errors)")
  }

  @Test(
    "Process 1 goes on after signals that were sent, each with its dump, and ends by its own crash",
    .enabled(if: Machine.canMount, "no rights to make namespaces"))
  func firstProcess() throws {
    let crasher = try HandlerProgram.company.crasher()
    let result = try Tool.shell(
      "ulimit -c 0; unshare --pid --fork --mount-proc --mount \(Machine.mapping) ./company first db",
      in: crasher.folder)
    #expect(result.status == 128 + SIGSEGV, "\(result.errorText)")
    #expect(result.text == "goes on\n", "\(result.errorText)")
    let names = try crasher.dumps().filter { !$0.hasSuffix(".locked") }
    let signals = try names.map {
      try crasher.inspect("db/pending-serialized-ios-dump/\($0)").signal ?? 0
    }
    #expect(signals.sorted() == [UInt64(SIGABRT), UInt64(SIGSEGV), UInt64(SIGSEGV)].sorted())
  }

  @Test(
    "A signal that ends the program waits for the dump of its crash, and comes to a program that survives it",
    arguments: [
      (SIGTERM, "default"), (SIGINT, "default"), (SIGHUP, "default"), (SIGALRM, "default"), (64, "default"),
      (SIGTERM, "handled"), (SIGUSR1, "handled"), (SIGTERM, "survived"), (SIGINT, "survived"),
    ])
  func endedMeanwhile(_ number: Int32, _ how: String) throws {
    let crasher = try HandlerProgram.company.crasher()
    let result = try Tool.shell("ulimit -c 0; ./company ended db \(number) \(how)", in: crasher.folder)
    let survives = how == "survived"
    #expect(result.status == (survives ? 7 : 128 + SIGSEGV), "\(result.errorText)")
    #expect(result.text == (survives ? "signal \(number)\n" : ""))
    let dump = try crasher.dump()
    #expect(dump.signal == UInt64(SIGSEGV) && dump.isComplete)
    #expect(dump.wholeThreads.count == 102)
  }

  @Test("A breakpoint ends a program that ignores SIGTRAP; one that was sent does not")
  func ignored() throws {
    let crasher = try HandlerProgram.company.crasher()
    let result = try Tool.shell("ulimit -c 0; ./company ignored db", in: crasher.folder)
    #expect(result.status == 128 + SIGTRAP, "\(result.errorText)")
    #expect(result.text == "sent\n")
    #expect(try crasher.dump().signal == UInt64(SIGTRAP))
  }
}
