// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// `run` and `doctor` where the system leaves them, or the program, less than usual.
@Suite("crashpadctl run and doctor under limits", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct FilteredTests {
  private static func compile(_ program: String, _ name: String, in folder: TemporaryFolder) throws {
    try folder.write(Array(program.utf8), to: "\(name).c")
    let result = try Tool.shell(
      "'\(HandlerLibrary.compiler ?? "clang")' -w \(name).c -o \(name)", in: folder)
    try #require(result.status == 0, "\(result.errorText)")
  }

  /// `filter HOW CALL PROGRAM …` runs a program with a call that is refused, trapped, or ends it.
  private static let filter = """
    #define _GNU_SOURCE
    #include <errno.h>
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <stddef.h>
    #include <string.h>
    #include <sys/prctl.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    int main(int count, char **arguments) {
      const char *how = arguments[1], *name = arguments[2];
      unsigned number = !strcmp(name, "renameat2") ? SYS_renameat2 : !strcmp(name, "fcntl") ? SYS_fcntl
        : !strcmp(name, "process_vm_readv") ? SYS_process_vm_readv
        : !strcmp(name, "rt_sigaction") ? SYS_rt_sigaction : SYS_clock_gettime;
      unsigned answer = !strcmp(how, "errno") ? SECCOMP_RET_ERRNO | EPERM
        : !strcmp(how, "trap") ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL_PROCESS;
      struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
      struct sock_fprog program = {4, code};
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 97;
      execvp(arguments[3], arguments + 3);
      return 96;
    }
    """

  @Test(
    "doctor survives a filter and names what it forbids", arguments: ["errno", "trap", "kill"],
    ["renameat2", "clock_gettime", "fcntl"])
  func doctor(_ how: String, _ call: String) throws {
    let folder = try TemporaryFolder()
    try Self.compile(Self.filter, "filter", in: folder)
    let result = try RunTests.shell(
      "timeout -s KILL 60 ./filter \(how) \(call) crashpadctl doctor -d db --format json > out; echo $?", in: folder)
    #expect(result.text == "1\n", "\(result.errorText)")
    let document = try JSONDocument(Data(contentsOf: folder.url("out")))
    let check = try #require(document["checks"].array.first { $0["name"].string == "seccomp" })
    #expect(check["state"].string == (how == "kill" ? "missing" : "limited"))
    #expect(check["found"].string?.hasSuffix(call) == true, "\(check["found"].string ?? "")")
    #expect(check["advice"].string == "allow these calls in the seccomp profile")
    // With a call that the files do not need, the trial has its dump.
    if call == "clock_gettime" { #expect((document["trial"]["threads"].int ?? 0) >= 4) }
  }

  @Test("doctor says that it could open no more files, and does not take that for the file system's fault")
  func fewFiles() throws {
    let folder = try TemporaryFolder()
    let result = try RunTests.shell("ulimit -n 6; crashpadctl doctor -d db; echo $?", in: folder)
    #expect(result.text.contains("not tried: Too many open files"), "\(result.text)\(result.errorText)")
    #expect(!result.text.contains("local file system"))
  }

  @Test("A program that left its empty file open in a child leaves none in the database")
  func daemon() throws {
    let folder = try TemporaryFolder()
    // Not by fork(3), whose child closes it: another moment of the same.
    let program = """
      #include <sys/syscall.h>
      #include <unistd.h>
      int main(void) {
        if (syscall(SYS_clone, 17L, 0, 0, 0, 0) == 0) { close(1); close(2); sleep(5); }
        _exit(5);
      }
      """
    try Self.compile(program, "daemon", in: folder)
    let result = try RunTests.shell("handled ./daemon; echo $?; ls db/pending-serialized-ios-dump", in: folder)
    #expect(result.text == "5\n", "\(result.errorText)")
  }

  @Test("--no-children holds for programs with an own unsetenv, as bash", .enabled(if: hasBash, "no bash"))
  func bash() throws {
    let folder = try TemporaryFolder()
    let script = "env | grep -cE 'CRASHPAD_HANDLER_|LD_PRELOAD'; sh -c 'kill -SEGV $$'; exit 3"
    try folder.write(Array(script.utf8), to: "script")
    let result = try RunTests.shell(
      "crashpadctl run -q -d db --no-children -- bash script; echo $?", in: folder)
    // The variable that names the library is the caller's own.
    let lines = result.outputLines
    #expect(lines.first == "0" && lines.dropLast().last == "3", "\(result.text)\(result.errorText)")
    #expect(try RunTests.dumps(in: folder) == [])
  }

  // MARK: Without /proc

  private static let crash = """
    #include <stdlib.h>
    int main(int count, char **arguments) { if (count > 1) abort(); *(volatile int *)8 = 1; }
    """
  private static let withoutProc = "unshare --mount sh -c 'umount -l /proc && { test ! -e /proc/self || exit 97; }"

  @Test(
    "run works without /proc: the dump is whole but for the files of /proc, and the program ends as it would",
    .enabled(if: Machine.isRoot && Machine.canMount, "no rights to unmount"))
  func runWithoutProc() throws {
    let folder = try TemporaryFolder()
    try Self.compile(Self.crash, "crash", in: folder)
    for (argument, status, signal) in [("", 128 + SIGSEGV, SIGSEGV), ("abort", 128 + SIGABRT, SIGABRT)] {
      let result = try RunTests.shell(
        "\(Self.withoutProc); crashpadctl run -d db --format json -o out -- ./crash \(argument); echo $?'",
        in: folder)
      #expect(result.text == "\(status)\n", "\(result.errorText)")
      let dumps = try JSONDocument(Data(contentsOf: folder.url("out")))["dumps"].array
      #expect(dumps.count == 1 && dumps[0]["complete"].bool != false, "\(result.errorText)")
      let text = try String(decoding: folder.bytes(of: "out"), as: UTF8.self)
      #expect(text.contains(signal == SIGSEGV ? "SIGSEGV" : "SIGABRT"), "\(text)")
    }
    let clean = try RunTests.shell("\(Self.withoutProc); crashpadctl run -d db -- true; echo $?'", in: folder)
    #expect(clean.text == "0\n" && clean.errorText.isEmpty, "\(clean.errorText)")
  }

  @Test(
    "doctor works without /proc, and says that it is missing",
    .enabled(if: Machine.isRoot && Machine.canMount, "no rights to unmount"))
  func doctorWithoutProc() throws {
    let folder = try TemporaryFolder()
    let result = try RunTests.shell(
      "\(Self.withoutProc); crashpadctl doctor -d db --format json > out; echo $?'", in: folder)
    #expect(result.text == "1\n", "\(result.errorText)")
    let document = try JSONDocument(Data(contentsOf: folder.url("out")))
    let check = try #require(document["checks"].array.first { $0["name"].string == "proc" })
    #expect(check["state"].string == "limited" && check["advice"].string == "mount proc on /proc")
    #expect((document["trial"]["threads"].int ?? 0) >= 4, "\(document)")
  }

  @Test("An abort ends with 134 if rt_sigaction is refused, and run says that there is no dump")
  func refusedActions() throws {
    let folder = try TemporaryFolder()
    try Self.compile(Self.filter, "filter", in: folder)
    try Self.compile(Self.crash, "crash", in: folder)
    let result = try RunTests.shell(
      "timeout -s KILL 60 ./filter errno rt_sigaction crashpadctl run -d db -- ./crash abort; echo $?", in: folder)
    #expect(result.text == "134\n", "\(result.errorText)")
    #expect(
      result.errorText.contains("crash was killed by SIGABRT and left no dump; \"crashpadctl doctor -- ./crash\""),
      "\(result.errorText)")
    let doctor = try RunTests.shell(
      "timeout -s KILL 60 ./filter errno rt_sigaction crashpadctl doctor -d db; echo $?", in: folder)
    #expect(doctor.text.contains("a filter forbids rt_sigaction"), "\(doctor.text)")
    #expect(doctor.text.hasSuffix("\n1\n"), "\(doctor.text)")
  }

  @Test("SWIFT_BACKTRACE is for the program: the tool itself says nothing of it")
  func swiftBacktrace() throws {
    let folder = try TemporaryFolder()
    let result = try RunTests.shell(
      "export SWIFT_BACKTRACE=enable=yes,swift-backtrace=/nowhere; crashpadctl run -d db -- sh -c 'echo $SWIFT_BACKTRACE'; echo $?",
      in: folder)
    #expect(result.text == "enable=yes,swift-backtrace=/nowhere\n0\n", "\(result.text)")
    // A debug build takes the runtime as a library, whose constructors come first.
    let said = result.errorText.split(separator: "\n").filter { !$0.hasPrefix("swift runtime: ") }
    #expect(said.isEmpty, "\(result.errorText)")
  }

  private static let hasBash = FileManager.default.isExecutableFile(atPath: "/bin/bash")
}
