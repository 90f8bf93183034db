// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Threads that do not stop, or do not show where they are.
@Suite("Threads that are hard to find or to stop", .enabled(if: HandlerLibrary.canBeBuilt, "no clang"))
struct HardThreadTests {
  private static func run(_ arguments: String, wrapper: String = "", _ crasher: Crasher) throws -> Tool.Outcome {
    try Tool.shell("ulimit -c 0; \(wrapper) ./surroundings \(arguments)", in: crasher.folder)
  }

  @Test("A main thread that has ended is not waited for, and noted")
  func leader() throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    #expect(try Self.run("leader db", crasher).status == 128 + SIGSEGV)
    let dump = try crasher.dump()
    #expect(dump.wholeThreads.count == 3 && dump.threads.count == 3)
    #expect(dump.notes == ["the main thread had ended before the others"])
    // Half of the program's timeout.
    #expect((dump.json["capture"]["duration_ns"].int ?? .max) < 15_000_000_000)
  }

  @Test("Threads that wait for a child of vfork are not waited for")
  func vfork() throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    #expect(try Self.run("vfork db", crasher).status == 128 + SIGSEGV)
    let dump = try crasher.dump()
    #expect(dump.wholeThreads.count == 5)
    #expect(dump.notes.count { $0.contains("only its stack and program pointer are known") } == 4)
    #expect((dump.json["capture"]["duration_ns"].int ?? .max) < 1_900_000_000)
  }

  @Test("A thread that reads its signals from a descriptor reads none of ours")
  func signalDescriptor() throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    let result = try Self.run("signalfd db", crasher)
    #expect(result.text == "0\n" && result.status == 0, "\(result.errorText)")
  }

  @Test("A thread that blocked the stop signal at the start may unblock it later")
  func late() throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    let result = try Self.run("late db", crasher)
    #expect(result.text == "unblocked\n" && result.status == 0)
  }

  @Test("A program that wants its addresses aligned")
  func unaligned() throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    #expect(try Self.run("unaligned db", crasher).status == 128 + SIGSEGV)
    #expect(try crasher.dump().wholeThreads.count == 3)
  }

  @Test("A stack pointer that leads nowhere: the stack is found by the frame pointer")
  func lostStackPointer() throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    #expect(try Self.run("lost db", crasher).status > 128)
    #expect(try crasher.dump().wholeThreads.count == 1)
    let text = try Tool.shell("crashpadctl symbolize db/pending-serialized-ios-dump/*", in: crasher.folder).text
    // The caller of main has a name only if libc's symbols are installed.
    let caller = text.split(separator: "\n").drop { !$0.contains(" main + ") }.dropFirst().first
    #expect(caller?.contains("libc.so.6 + 0x") == true, "\(text)")
  }

  @Test("Swift's backtracer, which comes next, stops the threads that were stopped for the dump")
  func backtracer() throws {
    let crasher = try Crasher()
    let result = try Tool.shell(
      """
      ulimit -c 0; export SWIFT_BACKTRACE=enable=yes,color=no,interactive=no
      ./program null --threads 6 --database db
      """, in: crasher.folder)
    #expect(
      result.errorText.contains("Program crashed") || result.text.contains("Program crashed"), "\(result.errorText)")
    #expect(!result.errorText.contains("failed to suspend"), "\(result.errorText)")
    #expect(try crasher.dump().wholeThreads.count == 6)
  }

  @Test("Four files and no more", arguments: [4, 5])
  func fewFiles(_ count: Int) throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    let result = try Self.run("plain db", wrapper: "ulimit -S -n \(count);", crasher)
    #expect(result.status == 128 + SIGSEGV, "\(result.errorText)")
    #expect(try crasher.dump().wholeThreads.count == 6)
  }

  @Test(
    "In a namespace of process ids with the /proc of another",
    .enabled(if: Machine.canMount, "no rights to make namespaces"))
  func otherProc() throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    let result = try Self.run("plain db", wrapper: "unshare --pid --fork \(Machine.mapping)", crasher)
    #expect(result.status == 128 + SIGSEGV, "\(result.errorText)")
    let dump = try crasher.dump()
    #expect(dump.wholeThreads.count == 6 && dump.isComplete)
    #expect(dump.notes.isEmpty)
    #expect(dump.threads.allSatisfy { $0["name"].string == "surroundings" })
  }
}
