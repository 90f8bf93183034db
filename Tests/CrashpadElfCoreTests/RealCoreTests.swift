// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadElfCore
import Foundation
import CrashpadMinidump
import CrashpadSnapshot
import Testing
import ToolRunner

/// A core that this machine's kernel wrote of a program with eight threads, and what the program said of itself.
struct RealCore: Sendable {
  let folder: TemporaryFolder
  let name: String
  let reading: Reading
  /// A place on the stack of each thread.
  let frames: [UInt64: UInt64]
  let processID: Int32
  /// The addresses of `main` and of a variable with a known value.
  let main: UInt64
  let variable: UInt64

  /// Nil where there is no compiler, or the kernel hands cores to a program, or none may be written.
  static let example: RealCore? = try? make()

  private static let source = """
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <stdio.h>
    #include <sys/resource.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static pthread_barrier_t all;
    volatile unsigned long variable = 0x1122334455667788;
    static void *run(void *argument) {
      volatile int here = 0;
      flockfile(stdout);
      printf("thread %ld %p\\n", (long)syscall(SYS_gettid), (void *)&here);
      fflush(stdout);
      funlockfile(stdout);
      pthread_barrier_wait(&all);
      for (;;) pause();
      return argument;
    }
    int main(void) {
      volatile int here = 0;
      struct rlimit limit;
      getrlimit(RLIMIT_CORE, &limit);
      limit.rlim_cur = limit.rlim_max;
      setrlimit(RLIMIT_CORE, &limit);
      pthread_barrier_init(&all, 0, 8);
      printf("process %d %p %p\\n", getpid(), (void *)main, (void *)&variable);
      printf("thread %ld %p\\n", (long)syscall(SYS_gettid), (void *)&here);
      fflush(stdout);
      for (long index = 0; index < 7; index++) {
        pthread_t thread;
        pthread_create(&thread, 0, run, 0);
      }
      pthread_barrier_wait(&all);
      *(volatile int *)0x1230 = 1;
      return 0;
    }
    """

  private struct NoCore: Error {}

  private static func make() throws -> RealCore {
    let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
    guard pattern.trimmingCharacters(in: .whitespacesAndNewlines) == "core" else { throw NoCore() }
    let folder = try TemporaryFolder()
    try folder.write(Array(source.utf8), to: "crash.c")
    guard try Tool.shell("cc -g -O1 -pthread crash.c -o crash", in: folder).status == 0 else {
      throw NoCore()
    }
    let result = try Tool.shell("./crash 'an argument' another; true", in: folder)
    guard let name = try folder.names().first(where: { $0.hasPrefix("core") }) else { throw NoCore() }
    var frames: [UInt64: UInt64] = [:]
    var process: [UInt64] = []
    for line in result.outputLines {
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { word in
        word.hasPrefix("0x") ? UInt64(word.dropFirst(2), radix: 16) : UInt64(word)
      }
      if words.first == "process", numbers.count == 3 { process = numbers }
      if words.first == "thread", numbers.count == 2 { frames[numbers[0]] = numbers[1] }
    }
    guard process.count == 3 else { throw NoCore() }
    return RealCore(
      folder: folder, name: name, reading: Reading(core: try folder.bytes(of: name)), frames: frames,
      processID: Int32(process[0]), main: process[1], variable: process[2])
  }

  static let hasGDB = FileManager.default.isExecutableFile(atPath: "/usr/bin/gdb")
}

@Suite(
  "A core of this machine", .enabled(if: RealCore.example != nil, "no compiler, or the kernel writes no core here"))
struct RealCoreTests {
  @Test("It has the threads, the signal and the memory that the program said")
  func truth() throws {
    let core = try #require(RealCore.example)
    let reading = core.reading
    #expect(reading.errors.isEmpty, "\(reading.errors)")
    let snapshot = try #require(reading.snapshot)
    #expect(snapshot.processID == core.processID)
    #expect(Set(snapshot.threads.compactMap(\.id)) == Set(core.frames.keys))
    #expect(snapshot.threads.count == 8)
    for thread in snapshot.threads {
      let place = try #require(thread.id.flatMap { core.frames[$0] })
      let stack = try #require(thread.stack?.region)
      #expect(place >= stack.address && place < stack.end ?? 0)
      #expect(place >= thread.context?.stackPointer ?? .max)
    }
    let exception = try #require(snapshot.exception)
    #expect(exception.code == 11 && exception.info == 1 && exception.address == 0x1230)
    #expect(exception.threadID == UInt64(core.processID))
    #expect(reading.bytes(at: core.variable, count: 8) == [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11])
    #expect(reading.text(snapshot.linux?.commandLine) == "./crash\0an argument\0another\0")
    #expect(reading.text(snapshot.linux?.environment)?.contains("LC_ALL=C\0") == true)
    let program = try #require(snapshot.modules.first)
    #expect(reading.text(program.name)?.hasSuffix("/crash") == true)
    #expect(program.fileType == .executable)
    let pc = try #require(exception.context?.instructionPointer)
    #expect(pc >= core.main && pc < core.main + 4096)
    #expect(pc >= program.address ?? .max && pc < (program.address ?? 0) + (program.size ?? 0))
    #expect(snapshot.modules.contains { reading.text($0.name) == "linux-gate.so" })
    #expect(snapshot.modules.contains { reading.text($0.name)?.contains("libc.so") == true })
  }

  @Test("The minidump made of it is small, whole, and says the same")
  func minidump() throws {
    let core = try #require(RealCore.example)
    let dump = try core.reading.minidump(.stacks)
    #expect(dump.findings.isEmpty, "\(dump.findings)")
    #expect(dump.bytes.count < 256 * 1024)
    let (a, b) = (try #require(core.reading.snapshot), try #require(dump.snapshot))
    #expect(a.threads.map { $0.context?.instructionPointer } == b.threads.map { $0.context?.instructionPointer })
    #expect(a.modules.map { core.reading.buildID($0) } == b.modules.map { dump.buildID($0) })
    let all = try core.reading.minidump(.all)
    #expect(all.memory.map(\.address) == core.reading.memory.map(\.address))
    #expect(all.memory.map(\.bytes) == core.reading.memory.map(\.bytes))
  }

  @Test("Registers, thread by thread, are those that gdb reads", .enabled(if: RealCore.hasGDB, "no gdb"))
  func registers() throws {
    let core = try #require(RealCore.example)
    let isX86 = core.reading.snapshot?.system.architecture == .x86_64
    let names =
      isX86 ? ["rip", "rsp", "rbp", "rbx", "rax", "rdi", "rsi", "r8", "r12", "r15"] : ["pc", "sp", "x0", "x19"]
    let command = "thread apply all info registers " + names.joined(separator: " ")
    let result = try Tool.shell(
      "gdb -nx -batch -ex 'set debuginfod enabled off' -ex '\(command)' ./crash \(core.name)", in: core.folder)
    var id: UInt64?
    var compared = 0
    for line in result.outputLines {
      if let start = line.range(of: "(LWP ") {
        id = UInt64(line[start.upperBound...].prefix { $0.isNumber })
      }
      let words = line.split(separator: " ")
      guard let id, words.count >= 2, names.contains(String(words[0])), words[1].hasPrefix("0x"),
        let value = UInt64(words[1].dropFirst(2), radix: 16)
      else { continue }
      let thread = core.reading.snapshot?.threads.first { $0.id == id }
      #expect(thread?.context?.register(String(words[0])) == value, "thread \(id), \(words[0])")
      compared += 1
    }
    #expect(compared == 8 * names.count, "\(result.errorText)")
  }
}
