// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The dumps of a run, and what is said of them.
@Suite("crashpadctl run tells what crashed", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct RunDumpTests {
  /// Runs a program with the handler, and returns the document of the run.
  private static func document(_ program: String, options: String = "", in folder: TemporaryFolder, status: Int)
    throws
    -> JSONDocument
  {
    let result = try RunTests.shell(
      "crashpadctl run --database db --no-system --format json -o run.json \(options) -- \(program); echo $?",
      in: folder)
    #expect(result.text.hasSuffix("\(status)\n"), "\(result.text)\(result.errorText)")
    return try JSONDocument(Data(contentsOf: folder.url("run.json")))
  }

  @Test("A shell that kills itself by SIGSEGV leaves a dump, and dies by it")
  func shell() throws {
    let folder = try TemporaryFolder()
    let run = try Self.document("sh -c 'kill -SEGV $$'", in: folder, status: 139)
    #expect(run["schema"].string == "crashpadctl-run/1")
    #expect(run["signal"].string == "SIGSEGV")
    #expect(run["exit_status"].isNull)
    #expect(run["dumps"].array.count == 1)
    let dump = run["dumps"][0]
    #expect(dump["pid"].int == run["pid"].int)
    #expect(dump["stack"]["pid"].int == run["pid"].int)
    #expect(dump["stack"]["complete"].bool == true)
    #expect(dump["stack"]["crash_info"]["type"].string == "SIGSEGV / SI_USER")
    #expect(
      dump["stack"]["crashing_thread"]["frames"].array.count > 3
        || dump["stack"]["threads"][0]["frames"].array.count > 3)
    #expect(try RunTests.dumps(in: folder).count == 1)
  }

  @Test("The summary of --process names the report, and its hint can be pasted into a shell")
  func hint() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.url("it's here/symbols"), withIntermediateDirectories: true)
    let result = try RunTests.shell(
      """
      cd "it's here"; bash -c 'exec crashpadctl run -d "my db" --process --no-system -s symbols sh -c "kill -SEGV \\$\\$"' 2>said
      sed -n 's/^crashpadctl: for all threads: //p' said > hint; cat hint; bash ./hint > /dev/null; echo $?
      head -n 2 said | sed -n 's/, made of .*: intermediate dump.*//p' | xargs -d '\\n' ls
      """, in: folder)
    let lines = result.text.split(separator: "\n")
    try #require(lines.count == 3, "\(result.text)\(result.errorText)")
    #expect(lines[0].hasPrefix("crashpadctl symbolize --threads all -s symbols --no-system '/"))
    #expect(lines[0].contains(#"/it'\''s here/my db/pending/"#))
    #expect(lines[1] == "0", "\(result.errorText)")
    #expect(lines[2].hasSuffix(".dmp"))
  }

  /// A program whose signal handlers return through code of its own without call frame information, as musl's and Go's do.
  private static let ownReturn = """
    #include <signal.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    struct action { void (*handler)(int); unsigned long flags; void (*restorer)(void); unsigned long mask; };
    void give_back(void);
    #if defined(__x86_64__)
    __asm__(".text\\n nop\\n.type give_back,@function\\ngive_back: mov $15, %rax\\n syscall\\n ud2\\n.size give_back,.-give_back");
    #else
    __asm__(".text\\n nop\\n.type give_back,%function\\ngive_back: mov x8, #139\\n svc #0\\n.size give_back,.-give_back");
    #endif
    static volatile int sink;
    static void handler(int number) { sink = number; abort(); }
    __attribute__((noinline)) static int raiser(int n) {
      if (n == 0) { syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1); return 1; }
      int result = raiser(n - 1);
      sink = result;
      return result + n;
    }
    int main(void) {
      struct action action = {handler, 0x04000000, give_back, 0};
      syscall(SYS_rt_sigaction, SIGUSR1, &action, 0, 8);
      return raiser(3);
    }

    """

  @Test("A crash in a handler that returns through code without frame rules shows what the signal interrupted")
  func ownReturn() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.ownReturn.utf8), to: "own.c")
    let compiled = try Tool.shell("cc -O1 -g -fomit-frame-pointer -fno-optimize-sibling-calls own.c -o own", in: folder)
    try #require(compiled.status == 0, "\(compiled.errorText)")
    let result = try RunTests.shell(
      "crashpadctl run --database db --format json -o run.json -- ./own; echo $?", in: folder)
    #expect(result.text.hasSuffix("134\n"), "\(result.text)\(result.errorText)")
    let run = try JSONDocument(Data(contentsOf: folder.url("run.json")))
    let thread = run["dumps"][0]["stack"]["crashing_thread"]
    let frames = thread["frames"].array
    let names = frames.map { $0["function"].string ?? "??" }
    let place = try #require(names.firstIndex(of: "handler"), "\(names)")
    #expect(frames.dropFirst(place + 1).first?["signal_frame"].bool == true, "\(names)")
    #expect(names.dropFirst(place + 1).first == "give_back", "\(names)")
    let interrupted = names.dropFirst(place + 2).filter { ["raiser", "main"].contains($0) }
    #expect(interrupted == ["raiser", "raiser", "raiser", "raiser", "main"], "\(names)")
    #expect(names.contains { $0.hasPrefix("__libc_start") || $0 == "_start" }, "\(names)")
  }

  @Test("Python crashes", .enabled(if: RunTests.hasPython, "python3 is not installed"))
  func python() throws {
    let folder = try TemporaryFolder()
    let run = try Self.document("python3 -c 'import ctypes; ctypes.string_at(0)'", in: folder, status: 139)
    #expect(run["dumps"].array.count == 1)
    #expect(run["dumps"][0]["stack"]["crash_info"]["type"].string == "SIGSEGV / SEGV_MAPERR")
  }

  @Test("A program that another one becomes has the handler, under its own name")
  func chain() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("#!/bin/sh\nexec bash -c 'exec sh -c \"kill -ABRT \\$\\$\"'\n".utf8), to: "script")
    let run = try Self.document("sh -c 'chmod +x script; exec ./script'", in: folder, status: 134)
    #expect(run["dumps"].array.count == 1)
    #expect(run["dumps"][0]["pid"].int == run["pid"].int)
  }

  @Test("Children that crash are told, and the program's status is its own")
  func children() throws {
    let folder = try TemporaryFolder()
    let program = "sh -c 'sh -c \"kill -SEGV \\$\\$\"; sh -c \"kill -FPE \\$\\$\"; exit 4'"
    let run = try Self.document(program, in: folder, status: 4)
    #expect(run["exit_status"].int == 4)
    #expect(run["signal"].isNull)
    let types = run["dumps"].array.compactMap { $0["stack"]["crash_info"]["type"].string }
    #expect(types.sorted() == ["SIGFPE / SI_USER", "SIGSEGV / SI_USER"])
    let none = try Self.document(program, options: "--no-children", in: folder, status: 4)
    #expect(none["dumps"].array.isEmpty)
  }

  @Test("Dumps of other runs are not told, nor made reports of")
  func otherRuns() throws {
    let folder = try TemporaryFolder()
    _ = try Self.document("sh -c 'kill -SEGV $$'", in: folder, status: 139)
    let clean = try Self.document("true", options: "--process", in: folder, status: 0)
    #expect(clean["dumps"].array.isEmpty)
    let run = try Self.document("sh -c 'kill -ILL $$'", options: "--process", in: folder, status: 132)
    #expect(run["dumps"].array.count == 1)
    #expect(run["dumps"][0]["error"].isNull)
    let report = try #require(run["dumps"][0]["report"].string)
    #expect(FileManager.default.fileExists(atPath: report))
    #expect(try RunTests.dumps(in: folder).count == 1)
    let inspected = try Tool.shell("crashpadctl inspect '\(report)'", in: folder)
    #expect(inspected.text.contains("SIGILL"), "\(inspected.text)\(inspected.errorText)")
  }

  @Test("The options reach the handler")
  func options() throws {
    let folder = try TemporaryFolder()
    let options = """
      --program-id com.example.shell --annotation version=1.2.3 --annotation 'a=b=c' --environment KEPT \
      --stack 8KiB --crashed-stack 64KiB --timeout 400
      """
    let result = try RunTests.shell(
      "KEPT=yes LOST=no crashpadctl run -d db --quiet \(options) -- sh -c 'kill -SEGV $$'; cp db/pending-*/* dump; ls db/pending-*",
      in: folder)
    #expect(result.text.hasPrefix("com.example.shell@"), "\(result.text)\(result.errorText)")
    let inspected = try Tool.shell("crashpadctl inspect dump; crashpadctl convert --to json dump -o -", in: folder).text
    #expect(inspected.contains("version = 1.2.3"))
    #expect(inspected.contains("a = b=c"))
    let hex = { (text: String) in text.utf8.map { String(format: "%02x", $0) }.joined() }
    #expect(inspected.contains(hex("KEPT=yes")) || inspected.contains("KEPT=yes"))
    #expect(!inspected.contains(hex("LOST=no")) && !inspected.contains("LOST=no"))
  }

  @Test("An LD_PRELOAD that is there stays, behind the handler's")
  func preload() throws {
    let folder = try TemporaryFolder()
    let library = try HandlerLibrary.path()
    let result = try RunTests.shell("LD_PRELOAD='\(library):libm.so.6' handled sh -c 'echo $LD_PRELOAD'", in: folder)
    #expect(result.text == "\(library):libm.so.6\n")
  }

  @Test("Programs that take no library run, with a warning")
  func warnings() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("int main(void) { return 3; }\n".utf8), to: "main.c")
    guard try Tool.shell("cc -static main.c -o static", in: folder).status == 0 else { return }
    let run = try Self.document("./static", in: folder, status: 3)
    #expect(run["warnings"].array.count == 1)
    #expect(run["warnings"][0].string?.contains("linked statically") == true)
  }

  @Test("A library that is not there is said with the places where it was looked for")
  func noLibrary() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell("crashpadctl run -d db --handler-library no/such.so -- true; echo $?", in: folder)
    #expect(result.text == "66\n")
    #expect(result.errorText.contains("\(folder.work.path)/no/such.so"), "\(result.errorText)")
    #expect(!folder.exists("db"))
  }
}
