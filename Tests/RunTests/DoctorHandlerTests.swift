// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Programs with signal handlers of their own, by name.
@Suite(
  "crashpadctl doctor names a program's handlers", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct DoctorHandlerTests {
  /// Sets a handler as its first argument says, writes "ready", and sleeps; writes what was left of a second's sleep.
  private static let program = """
    #define _GNU_SOURCE
    #include <signal.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    struct kernel_action { void (*handler)(int); unsigned long flags; void (*restorer)(void); unsigned long mask; };
    void on_fault(int number) { signal(number, SIG_DFL); raise(number); }
    void on_unseen_fault(int number) { _exit(number); }
    int main(int count, char **words) {
      if (strcmp(words[1], "sigaction") == 0) {
        struct sigaction action = {.sa_handler = on_fault};
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
        signal(SIGFPE, SIG_IGN);
      }
      if (strcmp(words[1], "once") == 0) {
        struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_RESETHAND};
        sigaction(SIGSEGV, &action, NULL);
      }
      if (strcmp(words[1], "raw") == 0) {
        struct kernel_action action = {on_unseen_fault, 0, 0, 0}, standard = {0, 0, 0, 0};
        syscall(SYS_rt_sigaction, SIGSEGV, &action, 0, 8);
        syscall(SYS_rt_sigaction, SIGILL, &standard, 0, 8);
      }
      puts("ready");
      fflush(stdout);
      printf("%u of 3 s\\n", sleep(3));
      fflush(stdout);
      for (;;) pause();
    }
    """

  private static func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try folder.write(Array(program.utf8), to: "server.c")
    let compiled = try Tool.shell(
      "'\(HandlerLibrary.compiler ?? "clang")' -w -g server.c -o server", in: folder)
    try #require(compiled.status == 0, "\(compiled.errorText)")
    return folder
  }

  /// Runs doctor with `words` and returns what it says about the program.
  private static func doctor(_ script: String, in folder: TemporaryFolder) throws -> JSONDocument {
    let result = try RunTests.shell(
      "doctor() { crashpadctl doctor -d db -f json \"$@\" > doctor.json; }\n\(script)", in: folder)
    #expect(result.status < 2, "\(result.errorText)")
    return try JSONDocument(Data(contentsOf: folder.url("doctor.json")))
  }

  private static func owners(_ document: JSONDocument) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: document["program"]["handlers"].array.map { row in
        let function = row["function"].string.map { " " + $0 } ?? ""
        return (row["signal"].string ?? "", (row["owner"].string ?? "") + function)
      })
  }

  private static func states(_ document: JSONDocument) -> [String: String] {
    Dictionary(
      document["checks"].array.map { ($0["name"].string ?? "", $0["state"].string ?? "") },
      uniquingKeysWith: { a, _ in a })
  }

  @Test(
    "A program that doctor starts",
    arguments: [
      ("none", [:]), ("once", ["SIGSEGV": "program on_fault"]),
      ("sigaction", ["SIGSEGV": "program on_fault", "SIGBUS": "program on_fault", "SIGFPE": "ignored"]),
      ("raw", ["SIGSEGV": "unseen on_unseen_fault", "SIGILL": "unseen"]),
    ])
  func started(_ kind: String, _ own: [String: String]) throws {
    let folder = try Self.folder()
    let document = try Self.doctor("doctor --after 300ms -- ./server \(kind)", in: folder)
    let owners = Self.owners(document)
    #expect(owners.count == 7)
    #expect(owners.filter { $0.value != "crashpad" } == own)
    #expect(document["program"]["has_library"].bool == true)
    let states = Self.states(document)
    #expect(states["handlers"] == "ok")
    #expect(states["SIGSEGV"] == (own.isEmpty ? nil : kind == "raw" ? "limited" : "note"))
    let process = document["program"]["pid"].int ?? 0
    #expect(kill(pid_t(process), 0) != 0, "the program still runs")
    #expect(!folder.exists("db"))
  }

  @Test("A program that can't load the handler is not started, and its crashes are not captured")
  func linkedStatically() throws {
    let folder = try Self.folder()
    try folder.write(Array("int main(void) { for (;;) {} }".utf8), to: "alone.c")
    let compiled = try Tool.shell("'\(HandlerLibrary.compiler ?? "clang")' -w -static alone.c -o alone", in: folder)
    try #require(compiled.status == 0, "\(compiled.errorText)")
    let result = try RunTests.shell("crashpadctl doctor -d db -- ./alone; echo $?", in: folder)
    #expect(result.text.contains("./alone: it is linked statically and can't load the handler"), "\(result.text)")
    #expect(result.text.contains("crashes are not captured here") && result.text.hasSuffix("\n1\n"))
  }

  @Test(
    "The advice for a program that can't load the handler fits the reason",
    arguments: [
      ("another processor", "use crashpadctl and its handler library, built for the program's system"),
      ("no loader", "install /lib/ld-gone.so"),
      // Only root can give a file to another user.
    ] + (geteuid() == 0 ? [("set-user-id", "start it as the user whose rights it gets")] : []))
  func obstacles(_ reason: String, _ advice: String) throws {
    let folder = try Self.folder()
    var program = try folder.bytes(of: "server")
    switch reason {
    // The machine of Alpha.
    case "another processor": program.replaceSubrange(18..<20, with: [0x26, 0x90])
    case "no loader":
      let loader = try #require(program.indices.first { program[$0...].starts(with: Array("/lib".utf8)) })
      let end = try #require(program[loader...].firstIndex(of: 0))
      let gone = Array("/lib/ld-gone.so".utf8)
      program.replaceSubrange(loader..<end, with: gone + Array(repeating: 0, count: end - loader - gone.count))
    default: break
    }
    try folder.write(program, to: "server")
    let rights = reason == "set-user-id" ? "chown 12345 server && chmod 4755 server && " : ""
    let result = try RunTests.shell("\(rights)crashpadctl doctor -d db -- ./server sigaction; echo $?", in: folder)
    #expect(result.text.contains("to do: \(advice)"), "\(result.text)")
    #expect(result.text.hasSuffix("\n1\n") && !result.text.contains("link it dynamically"))
  }

  @Test("A running program, with the handler and without, which goes on", arguments: [true, false])
  func running(_ isHandled: Bool) throws {
    let folder = try Self.folder()
    let document = try Self.doctor(
      """
      \(isHandled ? "crashpadctl run -q -d db -- " : "")./server sigaction > said & server=$!
      until grep -q ready said; do sleep 0.05; done
      process=$server; \(isHandled ? "process=$(cat /proc/$server/task/$server/children)" : "")
      for i in 1 2 3; do doctor --pid $process; done
      until grep -q of said; do sleep 0.05; done
      kill $process; wait $server; true
      """, in: folder)
    #expect(document["program"]["has_library"].bool == isHandled)
    #expect(
      Self.owners(document).filter { !["crashpad", "standard"].contains($0.value) }
        == ["SIGSEGV": "program on_fault", "SIGBUS": "program on_fault", "SIGFPE": "ignored"])
    #expect(Self.states(document)["handlers"] == (isHandled ? "ok" : "missing"))
    // The call that it was in was not interrupted.
    #expect(String(decoding: try folder.bytes(of: "said"), as: UTF8.self) == "ready\n0 of 3 s\n")
  }

  @Test("A stopped or ended program is not examined, and a missing one is an error")
  func notExamined() throws {
    let folder = try Self.folder()
    let stopped = try Self.doctor(
      """
      ./server raw > said & server=$!
      until grep -q ready said; do sleep 0.05; done
      kill -STOP $server; doctor --pid $server; kill -CONT $server; sleep 0.1; kill $server; wait $server; echo $? > status
      """, in: folder)
    let check = try #require(stopped["checks"].array.first { $0["name"].string == "handlers" })
    #expect(check["found"].string?.hasSuffix("is stopped, so it was not examined; it has handlers for SIGSEGV") == true)
    #expect(try folder.bytes(of: "status") == Array("143\n".utf8))
    for words in ["--pid 2147483647", "-- ./nowhere"] {
      #expect(try RunTests.shell("crashpadctl doctor -d db \(words)", in: folder).status == 66)
    }
    do {
      let words = "--after 10s -- true"
      let document = try Self.doctor("doctor \(words)", in: folder)
      #expect(document["program"].isNull)
      #expect(Self.states(document)["handlers"] != nil)
    }
  }
}
