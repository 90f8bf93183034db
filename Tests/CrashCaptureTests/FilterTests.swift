// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Filters of system calls (seccomp) that were made for the program, and know nothing of the handler.
@Suite("The handler under filters of system calls", .enabled(if: HandlerLibrary.canBeBuilt, "no clang"))
struct FilterTests {
  /// The system calls of the handler at a crash, and those that it falls back on.
  private static let calls = """
    read write close fstat newfstatat statx lseek rt_sigaction pread64 rt_sigprocmask pwrite64 getpid fcntl ftruncate \
    getrusage sysinfo getppid getpriority prctl gettid futex getdents64 tgkill openat readlinkat renameat2 pipe2 \
    rt_tgsigqueueinfo nanosleep clock_gettime getrandom process_vm_readv ptrace clone wait4 mkdirat unlinkat
    """.split(separator: " ").map(String.init)

  @Test(
    "Whichever call is refused or trapped, a fault leaves a dump and ends the program as without",
    arguments: ["errno", "trap"])
  func sweep(_ how: String) throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    // One half under each of the two.
    let calls = Soak.every(2, of: Array(Self.calls.dropFirst(Soak.isOn || how == "errno" ? 0 : 1)))
    let result = try Tool.shell(
      """
      ulimit -c 0
      for call in \(calls.joined(separator: " ")); do
        timeout -s KILL 20 ./surroundings filter db-$call segv \(how) deny $call; echo $?
      done
      """, in: crasher.folder)
    let statuses = result.outputLines.filter { !$0.isEmpty }
    try #require(statuses.count == calls.count, "\(result.text)\(result.errorText)")
    for (call, status) in zip(calls, statuses) {
      #expect(status == "\(128 + SIGSEGV)", "\(call)")
      let dump = try crasher.dump(database: "db-\(call)")
      #expect(dump.signal == UInt64(SIGSEGV) && dump.isComplete, "\(call)")
      // Nothing is known of a thread that blocks all signals and sits in a file that can't be read.
      #expect(dump.threads.count == 5 && dump.wholeThreads.count >= 4, "\(call): \(dump.notes)")
    }
  }

  @Test("abort ends the program as without", arguments: ["errno", "trap"])
  func abort(_ how: String) throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    for call in ["rt_tgsigqueueinfo", "rt_sigprocmask", "tgkill", "renameat2", "newfstatat"] {
      let ends = try ["none", "db-\(call)"].map { database in
        try Tool.shell("ulimit -c 0; ./surroundings filter \(database) abort \(how) deny \(call)", in: crasher.folder)
          .status
      }
      #expect(ends[0] == ends[1], "\(call)")
      // A trapped raise(3) is not an abort that ends the program.
      let signal = try crasher.dump(database: "db-\(call)").signal
      #expect(signal.map { Int32($0) + 128 } == ends[0] || how == "errno", "\(call)")
    }
  }

  @Test(
    "A list of allowed calls that leaves the handler few: memory is read by reading it", arguments: ["errno", "trap"])
  func allowed(_ how: String) throws {
    let crasher = try HandlerProgram.surroundings.crasher()
    let list = "read write exit_group rt_sigreturn rt_sigprocmask futex newfstatat close renameat2"
    let result = try Tool.shell(
      "ulimit -c 0; ./surroundings filter db segv \(how) allow \(list)", in: crasher.folder, limit: 20)
    #expect(result.status == 128 + SIGSEGV, "\(result.errorText)")
    let dump = try crasher.dump()
    #expect(dump.isComplete && dump.wholeThreads.count == 1)
    #expect(!dump.json["modules"].array.isEmpty)
    #expect(dump.notes.contains { $0.hasPrefix("system calls that a filter refused: ") && $0.contains("tgkill") })
  }
}
