// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The effects that pass through `crashpadctl run`, by real processes: a program with it and without it does the same.
@Suite("A program does not notice crashpadctl run", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct RunTests {
  /// `handled PROGRAM …` is the program with the handler, its database `db`.
  static func shell(_ script: String, in folder: TemporaryFolder) throws -> Tool.Outcome {
    let handled = "handled() { crashpadctl run --quiet --database db -- \"$@\"; }\n"
    return try Tool.shell(
      "export \(HandlerLibrary.variable)='\(try HandlerLibrary.path())'\n\(handled)\(script)", in: folder)
  }

  /// The contents of a folder's database, all of it dumps.
  static func dumps(in folder: TemporaryFolder) throws -> [String] {
    folder.exists("db/pending-serialized-ios-dump") ? try folder.names(in: "db/pending-serialized-ios-dump") : []
  }

  /// Runs a script twice, with `handled` as what it says and as nothing.
  private static func checkSame(_ script: String, _ comment: Comment? = nil) throws {
    let folder = try TemporaryFolder()
    let with = try shell(script, in: folder)
    let without = try Tool.shell("handled() { \"$@\"; }\n\(script)", in: folder)
    #expect(with.output == without.output, comment)
    #expect(with.status == without.status, comment)
    #expect(!without.output.isEmpty, comment)
  }

  @Test("Every exit status is the program's")
  func exitStatuses() throws {
    let some = [0, 1, 2, 63, 64, 65, 77, 124, 125, 126, 127, 128, 129, 137, 139, 192, 254, 255]
    let statuses = Soak.isOn ? Array(0...255) : some
    try Self.checkSame(
      "for i in \(statuses.map(String.init).joined(separator: " ")); do handled sh -c \"exit $i\"; echo $?; done")
  }

  @Test("A program that a signal kills takes crashpadctl with it, by the same signal")
  func signals() throws {
    // The signals 32 and 33 are the C library's; 19 to 22 stop.
    try Self.checkSame(
      "for i in $(seq 1 18) $(seq 23 31) $(seq 34 64); do handled sh -c \"kill -$i \\$\\$; exit 200\"; echo $i $?; done"
    )
  }

  @Test(
    "A library that was loaded by a name of its process alone has its symbols",
    arguments: ["./plug.so", "/proc/self/fd/3"])
  func ownName(name: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("int plug(int *p) { return *p; }\n".utf8), to: "plug.c")
    let host = """
      #include <dlfcn.h>
      #include <fcntl.h>
      #include <unistd.h>
      int main(int count, char **words) {
        dup2(open("plug.so", O_RDONLY), 3);
        return ((int (*)(int *))dlsym(dlopen(words[1], RTLD_NOW), "plug"))(0) + 1;
      }
      """
    try folder.write(Array(host.utf8), to: "host.c")
    let script = """
      cc -g -O0 -shared -fPIC plug.c -o plug.so -Wl,--build-id && cc -g host.c -o host -ldl || exit 1
      handled ./host \(name); crashpadctl symbolize db/p*/*
      """
    let outcome = try Self.shell(script, in: folder)
    #expect(outcome.text.contains("plug.c:1)"), "\(outcome.text)\(outcome.errorText)")
  }

  @Test("A program that may have four files at once starts")
  func fewFiles() throws {
    try Self.checkSame("ulimit -n 4; handled sh -c 'echo started; exit 7'; echo $?")
  }

  @Test("A crash leaves no core file of crashpadctl")
  func noCore() throws {
    let folder = try TemporaryFolder()
    let result = try Self.shell(
      "ulimit -c unlimited; handled sh -c 'ulimit -c 0; kill -ABRT $$'; echo $?; ls", in: folder)
    #expect(result.text == "134\ndb\n")
  }

  @Test("Standard input, and output of any size, are the program's")
  func streams() throws {
    try Self.checkSame(
      "seq 1 3000000 | handled cat | cksum; handled head -c 40000000 /dev/zero | cksum; echo a | handled cat")
  }

  @Test("A pipe that its reader closes kills the program, and not what stands behind it")
  func closedPipe() throws {
    try Self.checkSame("(handled yes; echo $? > status) | head -n 1; cat status")
  }

  @Test("Streams that are closed stay closed")
  func closedStreams() throws {
    try Self.checkSame(
      "for s in 0 1 2; do eval \"handled sh -c 'test -e /proc/self/fd/$s || exit 7' $s>&-\"; echo $?; done")
  }

  @Test("Ignored signals stay ignored, others are not")
  func ignoredSignals() throws {
    let line = "handled grep -E 'SigIgn|SigBlk' /proc/self/status"
    try Self.checkSame("\(line); trap '' PIPE USR1 HUP; \(line)")
  }

  @Test("Arguments are passed byte for byte")
  func arguments() throws {
    try Self.checkSame(
      "handled printf '%s|' '' ' ' \"$(printf 'a\\377b')\" --help -- --database x '$HOME' | od -c")
  }

  @Test("Signals that crashpadctl gets are the program's", arguments: ["TERM", "HUP", "USR1", "USR2", "ABRT"])
  func passedSignals(_ name: String) throws {
    let folder = try TemporaryFolder()
    let program = "trap \"echo got; exit 9\" \(name); echo ready > ready; while :; do sleep 0.05; done"
    let result = try Self.shell(
      """
      crashpadctl run --quiet --database db -- bash -c '\(program)' & process=$!
      until [ -e ready ]; do sleep 0.05; done
      kill -\(name) $process; wait $process; echo $?
      """, in: folder)
    #expect(result.text == "got\n9\n")
  }

  @Test("A signal that kills the program when crashpadctl gets it kills both")
  func passedDeath() throws {
    let folder = try TemporaryFolder()
    let result = try Self.shell(
      """
      crashpadctl run --quiet --database db -- sh -c 'echo ready > ready; exec sleep 300' & process=$!
      until [ -e ready ]; do sleep 0.05; done
      kill -TERM $process; wait $process; echo $?
      """, in: folder)
    #expect(result.text == "143\n")
    #expect(try Self.dumps(in: folder) == [])
  }

  @Test("A program that can't be executed has env's exit statuses")
  func notExecutable() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("text\n".utf8), to: "text")
    let result = try Self.shell(
      "handled no-such-program; echo $?; handled ./no/such; echo $?; handled ./text; echo $?; handled /; echo $?; ls",
      in: folder)
    #expect(result.text == "127\n127\n126\n126\ntext\n")
    #expect(
      result.errorText == """
        crashpadctl: error: no-such-program: No such file or directory
        crashpadctl: error: ./no/such: No such file or directory
        crashpadctl: error: ./text: Permission denied
        crashpadctl: error: /: Permission denied

        """)
  }

  @Test("Scripts run, with a first line that names an interpreter and without")
  func scripts() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("#!/bin/sh\necho one $1\nexit 3\n".utf8), to: "one")
    try folder.write(Array("echo two $1\nexit 4\n".utf8), to: "two")
    let result = try Self.shell("chmod +x one two; handled ./one x; echo $?; handled ./two y; echo $?", in: folder)
    #expect(result.text == "one x\n3\ntwo y\n4\n")
  }

  @Test("A program that ends in good order leaves nothing in the database")
  func cleanExit() throws {
    let folder = try TemporaryFolder()
    let result = try Self.shell(
      "handled sh -c 'true; sh -c true; exec true'; handled sh -c 'kill -KILL $$'; echo $?", in: folder)
    #expect(result.text == "137\n")
    #expect(try Self.dumps(in: folder) == [])
  }

  @Test(
    "Without a directory that can be written to the program runs, and ends, as without the handler",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "root may do everything, and setpriv is not installed"))
  func readOnlyDatabase() throws {
    let folder = try TemporaryFolder()
    let result = try Self.shell(
      """
      mkdir db; chmod 555 db
      as-nobody crashpadctl run --database db -- sh -c 'echo out; exit 5'; echo $?
      as-nobody crashpadctl run --database db -- sh -c 'kill -SEGV $$'; echo $?
      """, in: folder)
    #expect(result.text == "out\n5\n139\n")
    #expect(result.errorText.contains("crashpad: "), "\(result.errorText)")
    #expect(result.errorText.contains("left no dump"), "\(result.errorText)")
  }

  @Test(
    "As process 1 it takes up what others left, passes signals on, and ends with the signal's status",
    .enabled(if: canBeProcessOne, "process id namespaces are not permitted"))
  func processOne() throws {
    let folder = try TemporaryFolder()
    let result = try Self.shell(
      """
      one() { unshare \(Machine.mapping) -p -f --mount-proc crashpadctl run --quiet --database db -- "$@"; }
      one sh -c '(sleep 0.1 &); (sleep 0.1 &); sleep 1; grep -l "^State:.Z" /proc/[0-9]*/status; echo $PPID'
      one sh -c 'exit 6'; echo $?
      one sh -c 'kill -SEGV $$'; echo $?
      one sh -c 'trap "echo got; exit 3" TERM; kill -TERM 1; while :; do sleep 0.05; done'; echo $?
      """, in: folder)
    #expect(result.text == "1\n6\n139\ngot\n3\n")
    #expect(try Self.dumps(in: folder).count == 1)
  }

  static let canBeProcessOne: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    return (try? Tool.shell("unshare \(Machine.mapping) -p -f --mount-proc true", in: folder).status) == 0
  }()

  @Test(
    "A job on a terminal is stopped, goes on and is interrupted as without",
    .enabled(if: hasPython, "python3 is not installed"))
  func terminal() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.job.utf8), to: "job.py")
    try folder.write(Array(Self.program.utf8), to: "program.py")
    let result = try Self.shell(
      """
      python3 job.py crashpadctl run --quiet --database db -- python3 program.py
      python3 job.py python3 program.py
      """, in: folder)
    let once = "ready\n^Zstopped 20\ncontinued\n^Cinterrupts 1\nended 1280\n"
    #expect(result.text == once + once, "\(result.errorText)")
  }

  static let hasPython: Bool = {
    guard let folder = try? TemporaryFolder() else { return false }
    return (try? Tool.shell("python3 -c 'import ctypes, pty'", in: folder).status) == 0
  }()

  /// A shell of one job: stops it by Ctrl-Z, lets it go on, interrupts it by Ctrl-C.
  private static let job = """
    import os, pty, signal, sys
    child, master = pty.fork()
    if child == 0:
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpgrp())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execvp(sys.argv[1], sys.argv[1:])
        _, status = os.waitpid(job, os.WUNTRACED)
        print("stopped", os.WIFSTOPPED(status) and os.WSTOPSIG(status), flush=True)
        os.tcsetpgrp(0, os.getpgrp())
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)
        _, status = os.waitpid(job, os.WUNTRACED)
        print("ended", status, flush=True)
        os._exit(0)
    text = b""
    def until(mark):
        global text
        while mark not in text:
            try: part = os.read(master, 4096)
            except OSError: break
            if not part: break
            text += part
    until(b"ready")
    os.write(master, b"\\x1a")
    until(b"continued")
    os.write(master, b"\\x03")
    until(b"ended")
    os.waitpid(child, 0)
    sys.stdout.write(text.decode().replace("\\r", ""))

    """

  /// Tells of SIGCONT, and counts SIGINT.
  private static let program = """
    import os, signal, sys, time
    count = [0]
    def interrupt(number, frame): count[0] += 1
    def go_on(number, frame): os.write(1, b"continued\\n")
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGCONT, go_on)
    print("ready", flush=True)
    while count[0] == 0: time.sleep(0.05)
    time.sleep(0.3)
    print("interrupts", count[0])
    sys.exit(5)

    """
}
