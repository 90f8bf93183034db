// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Real servers and runtimes that have crash handlers of their own, where they are installed: `scripts/dependencies soak`
/// installs all of them.
@Suite(
  "Servers and runtimes with crash handlers of their own",
  .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"), .serialized)
struct ServerTests {
  /// How a program is crashed, and what has to be seen then.
  struct Program: Sendable, CustomTestStringConvertible {
    let name: String
    /// The programs that have to be in PATH.
    let commands: [String]
    /// Done once, before the program runs without the handler and with it.
    var setup = "true"
    /// `handled PROGRAM …` runs it; its status is that of the script.
    let script: String
    let status: Int32
    let signal: Int32
    /// Its own message, on standard output or error.
    var message = ""
    /// The lines that standard output and error have to share with those without the handler.
    var comparison = Comparison.lines(ignoring: nil)
    /// The address of the fault, if the dump knows it.
    var address: UInt64?

    var testDescription: String { name }
    var isInstalled: Bool { commands.allSatisfy { ServerTests.path(of: $0) != nil } }
  }

  enum Comparison: Sendable {
    /// Standard error to the last byte, but for numbers.
    case wholeErrors
    /// The same lines, but for numbers, in whatever order, and for those that a regular expression finds: what they say
    /// differs from run to run without the handler too.
    case lines(ignoring: String?)
  }

  /// Servers are in directories that not everybody has in PATH.
  static func path(of command: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + ["/usr/sbin", "/sbin", "/usr/lib/postgresql/15/bin"]).map { "\($0)/\(command)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// `await COMMAND` repeats it until it succeeds, and ends the script and its server after half a minute. A script runs
  /// twice in one folder: files that it waits for are removed first.
  private static let awaiting = """
    await() { for i in $(seq 300); do "$@" 2>/dev/null && return; sleep 0.1; done; kill $server $(cat pid 2>&-); exit 99; }

    """

  /// A server on a socket of its own folder, which no other process can reach.
  private static func redis(_ how: String) -> String {
    """
    \(awaiting)rm -f s; handled redis-server --port 0 --unixsocket "$PWD/s" --save '' --enable-debug-command yes \
      --crash-memcheck-enabled no \
      >out 2>err & server=$!
    await redis-cli -s s ping >/dev/null; redis-cli -s s debug \(how) >/dev/null 2>&1; wait $server; status=$?; cat out; cat err >&2; exit $status
    """
  }

  /// Loops without calls are interrupted by signals, for which Go looks at the stack of its handler.
  private static let go = """
    package main
    /*
    #include <stdlib.h>
    static void c_fault(void) { *(volatile int *)8 = 1; }
    */
    import "C"
    import ("fmt"; "os"; "runtime"; "time")
    func spins() {
      done := make(chan int)
      go func() {
        n := 0
        for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); { for i := 0; i < 20000000; i++ { n += i & 3 } }
        done <- n
      }()
      for i := 0; i < 5; i++ { runtime.GC(); time.Sleep(10 * time.Millisecond) }
      fmt.Println("spun", <-done > 0)
      for runtime.NumGoroutine() > 1 { time.Sleep(time.Millisecond) }
    }
    func recovers() { defer func() { fmt.Println("recovered", recover()) }(); var p *int; *p = 1 }
    func main() { recovers(); spins(); if os.Args[1] == "fault" { C.c_fault() } else { C.abort() } }
    """
  private static let buildGo =
    "printf 'module m\\n' >go.mod; cat >main.go <<'E'\n\(go)\nE\nGOFLAGS=-mod=mod GOCACHE='\(GoCache.path)' HOME=$PWD CGO_ENABLED=1 go build -o program ."

  private static let rust = """
    #[inline(never)]
    fn f(n: u64) -> u64 { let mut a = [n; 100]; std::hint::black_box(&mut a); if n == 0 { 0 } else { f(n + 1) + a[1] } }
    fn main() { println!("{}", f(1)); }
    """

  private static let java = """
    public class U {
      public static void main(String[] a) throws Exception {
        java.lang.reflect.Field f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        f.setAccessible(true);
        ((sun.misc.Unsafe) f.get(null)).putLong(8, 1);
      }
    }
    """

  /// The toolchain that the user has installed for himself needs his home.
  private static let home = NSHomeDirectory()

  /// The signal goes to whichever thread the kernel takes, and that thread says what it was at; addr2line finds its place
  /// or not.
  /// The second of the two runs recovers from the crash of the first.
  private static let mariadbLines = Comparison.lines(
    ignoring:
      "crash recovery|To recover: |Connection ID|Optimizer switch|ready for connections|temporary tablespace|^/|^Query|^Status|Thread pointer|stack_bottom|addrNline"
  )
  /// The memory map has the handler's library.
  private static let rubyLines = Comparison.lines(ignoring: "^N-N [r-][w-][x-][sp] ")
  /// Goroutines of the runtime may wait or run.
  private static let goLines = Comparison.lines(
    ignoring:
      "^goroutine N \\[|gopark|runtime/(mfinal|proc|mgc|mgcsweep|mgcscavenge|asm_amdN|asm_armN)|finq|bgs|scavengerState|forcegc|created by runtime|goexit"
  )

  static let programs: [Program] = [
    Program(
      name: "redis-server, a fault", commands: ["redis-server", "redis-cli"], script: redis("segfault"),
      status: 128 + SIGSEGV, signal: SIGSEGV, message: "REDIS BUG REPORT END"),
    Program(
      name: "redis-server, an assertion", commands: ["redis-server", "redis-cli"], script: redis("assert"),
      status: 128 + SIGABRT, signal: SIGABRT, message: "ASSERTION FAILED"),
    Program(
      name: "redis-server, a panic", commands: ["redis-server", "redis-cli"], script: redis("panic"),
      status: 128 + SIGABRT, signal: SIGABRT, message: "Guru Meditation"),
    Program(
      name: "mariadbd", commands: ["mariadbd", "mariadb-install-db"],
      setup: "mariadb-install-db --user=$(id -un) --datadir=$PWD/data --skip-test-db >/dev/null 2>&1",
      script: """
        \(awaiting)rm -f s pid out; handled mariadbd --no-defaults --user=$(id -un) --datadir=$PWD/data --socket=$PWD/s \
          --skip-networking --pid-file=$PWD/pid >out 2>&1 & server=$!
        await grep -q '^Version: ' out; await test -s pid; kill -SEGV $(cat pid); wait $server; status=$?; cat out; exit $status
        """, status: 128 + SIGSEGV, signal: SIGSEGV, message: "got signal 11", comparison: mariadbLines),
    Program(
      name: "node, sent a signal", commands: ["node"],
      script: "handled node -e 'process.kill(process.pid, \"SIGSEGV\"); setTimeout(() => {}, 10000)'",
      status: 128 + SIGSEGV, signal: SIGSEGV, comparison: .wholeErrors),
    Program(
      name: "ruby", commands: ["ruby"], script: "handled ruby -rfiddle -e 'Fiddle::Pointer.new(8)[0]'",
      status: 128 + SIGABRT, signal: SIGABRT, message: "[BUG] Segmentation fault at 0x0000000000000008",
      comparison: rubyLines),
    Program(
      name: "Java", commands: ["java", "javac"],
      setup: "cat >U.java <<'E'\n\(java)\nE\njavac -nowarn U.java 2>/dev/null",
      script: "handled java U; status=$?; ls hs_err_* | wc -l; rm -f hs_err_*; exit $status", status: 128 + SIGABRT,
      signal: SIGABRT, message: "A fatal error has been detected by the Java Runtime Environment"),
    Program(
      name: "Rust, an overflow of the stack", commands: ["rustc", "cc"],
      setup: "HOME='\(home)'; export HOME; cat >o.rs <<'E'\n\(rust)\nE\n\(path(of: "rustc") ?? "rustc") -O o.rs",
      script: "handled ./o", status: 128 + SIGABRT, signal: SIGABRT, message: "has overflowed its stack",
      comparison: .wholeErrors),
    Program(
      name: "Go, a fault of C", commands: ["go", "cc"], setup: buildGo, script: "handled ./program fault", status: 2,
      signal: SIGSEGV, message: "[signal SIGSEGV: segmentation violation", comparison: goLines, address: 8),
    Program(
      name: "Go, abort of C", commands: ["go", "cc"], setup: buildGo, script: "handled ./program abort", status: 2,
      signal: SIGABRT, message: "SIGABRT: abort", comparison: goLines),
    Program(
      name: "python3 with faulthandler", commands: ["python3"],
      script: "handled python3 -X faulthandler -c 'import ctypes; ctypes.string_at(8)'", status: 128 + SIGSEGV,
      signal: SIGSEGV, message: "Fatal Python error: Segmentation fault", comparison: .wholeErrors, address: 8),
  ]

  @Test(
    "A whole dump, the program's own message, and the same end",
    arguments: Soak.some(5, of: programs.filter(\.isInstalled)))
  func crashes(_ program: Program) throws {
    let pair = try HandlerTests.Pair(setup: program.setup, program.script)
    #expect(pair.without.status == program.status, "\(pair.without.text)\(pair.without.errorText)")
    #expect(pair.with.status == program.status, "\(pair.with.text)\(pair.with.errorText)")
    for result in [pair.without, pair.with] {
      #expect(program.message.isEmpty || (result.text + result.errorText).contains(program.message))
    }
    switch program.comparison {
    case .wholeErrors: #expect(Self.withoutNumbers(pair.with.errorText) == Self.withoutNumbers(pair.without.errorText))
    case .lines(let pattern): try Self.compareLines(pair, ignoring: pattern)
    }
    let dumps = try pair.dumps()
    try #require(dumps.count == 1)
    #expect(dumps[0].signal == UInt64(program.signal) && dumps[0].isComplete)
    #expect(!dumps[0].wholeThreads.isEmpty)
    if let address = program.address { #expect(dumps[0].json["exception"]["address"].hex == address) }
  }

  /// Process ids, addresses, registers and times differ from run to run.
  private static func withoutNumbers(_ text: String) -> String {
    text.replacing(/0x[0-9a-fA-F]+|\b[0-9a-fA-F]{4,}\b/.wordBoundaryKind(.simple), with: "N").replacing(
      /-?[0-9]+/, with: "N"
    )
    .replacing(/N\.N[KMG]/, with: "N.N")
    .replacing(/[A-Z][a-z][a-z] [A-Z][a-z][a-z] +N/, with: "DAY")
  }

  /// Each line that was printed with the handler was printed without it, and the other way round.
  private static func compareLines(_ pair: HandlerTests.Pair, ignoring pattern: String?) throws {
    let ignored = try pattern.map { try Regex($0) }
    func lines(_ result: Tool.Outcome) -> Set<String> {
      let lines = withoutNumbers(result.text + "\n" + result.errorText).split(whereSeparator: \.isNewline).map(
        String.init)
      return Set(lines.filter { line in ignored.map { line.firstMatch(of: $0) == nil } ?? true })
    }
    let (with, without) = (lines(pair.with), lines(pair.without))
    #expect(!without.isEmpty)
    #expect(with.subtracting(without).isEmpty, "only with the handler: \(with.subtracting(without))")
    #expect(without.subtracting(with).isEmpty, "only without it: \(without.subtracting(with))")
  }

  // MARK: Servers of root, whose workers are another user's

  @Test(
    "A worker that gave up the rights of root leaves a dump in root's database: nginx",
    .enabled(if: Machine.isRoot && path(of: "nginx") != nil, "not root, or nginx is not installed"))
  func nginx() throws {
    let configuration = """
      daemon off; user nobody nogroup; worker_processes 2; pid pid; error_log log; events {}
      http { access_log off; server { listen unix:listening; } }
      """
    try checkWorkers(
      configuration, message: "exited on signal 11", start: "nginx -p $PWD -c $PWD/configuration")
  }

  @Test(
    "A worker that gave up the rights of root leaves a dump in root's database: apache2",
    .enabled(if: Machine.isRoot && path(of: "apache2") != nil, "not root, or apache2 is not installed"))
  func apache() throws {
    let modules = "/usr/lib/apache2/modules"
    let configuration = """
      ServerRoot ${FOLDER}
      ServerName localhost
      DefaultRuntimeDir ${FOLDER}
      PidFile ${FOLDER}/pid
      Listen 127.0.0.1:${PORT}
      LoadModule mpm_event_module \(modules)/mod_mpm_event.so
      LoadModule authz_core_module \(modules)/mod_authz_core.so
      User nobody
      Group nogroup
      ErrorLog ${FOLDER}/log
      StartServers 1
      Mutex pthread
      """
    try checkWorkers(
      configuration, message: "exit signal Segmentation fault", start: "apache2 -f $PWD/configuration -DFOREGROUND")
  }

  private func checkWorkers(_ configuration: String, message: String, start: String) throws {
    let pair = try HandlerTests.Pair(
      setup: "cat >configuration <<'E'\n\(configuration)\nE",
      """
      \(Self.awaiting)rm -f pid listening log; export FOLDER=$PWD PORT=$((20000 + $$ % 20000))
      handled \(start) >out 2>err & server=$!
      await test -s pid
      worker() {
        for worker in $(cat /proc/$(cat pid)/task/*/children); do
          if test "$(stat -c %U /proc/$worker)" = nobody; then return 0; fi
        done
        return 1
      }
      await worker
      kill -SEGV $worker; await grep -q '\(message)' log
      kill -TERM $(cat pid); wait $server; status=$?; cat log err; exit $status
      """)
    #expect(pair.with.status == pair.without.status)
    for result in [pair.without, pair.with] { #expect(result.text.contains(message), "\(result.text)") }
    try Self.compareLines(pair, ignoring: nil)
    let dumps = try pair.dumps()
    #expect(dumps.map(\.signal) == [UInt64(SIGSEGV)])
  }

  @Test(
    "A backend of PostgreSQL",
    .enabled(if: path(of: "postgres") != nil && path(of: "psql") != nil && Machine.hasSetpriv, "not installed"))
  func postgres() throws {
    let server = Self.path(of: "postgres") ?? ""
    let initialize = URL(fileURLWithPath: server).resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "initdb").path
    let pair = try HandlerTests.Pair(
      setup:
        "mkdir -p db/pending-serialized-ios-dump && chmod 777 . db db/* && as-nobody '\(initialize)' -D $PWD/data -U nobody >/dev/null",
      """
      \(Self.awaiting)export PGHOST=$PWD PGUSER=nobody PGDATABASE=postgres
      ask() { psql -Atc "$1" 2>/dev/null; }; answers() { ask 'select 1' >/dev/null; }
      handled as-nobody '\(server)' -D $PWD/data -k $PWD -c listen_addresses= >out 2>&1 & server=$!
      await answers; ask 'select pg_sleep(60)' &
      find() { backend=$(ask "select pid from pg_stat_activity where query = 'select pg_sleep(60)'"); test -n "$backend"; }
      await find; kill -SEGV $backend; await grep -q 'signal 11' out; await answers
      kill -QUIT $(head -n 1 data/postmaster.pid); wait $server; status=$?; cat out; exit $status
      """)
    #expect(pair.with.status == pair.without.status)
    #expect(pair.with.text.contains("was terminated by signal 11"))
    // The work of recovery after a restart, and the clients turned away meanwhile, depend on the time of the request.
    try Self.compareLines(
      pair,
      ignoring:
        "FATAL|HINT|DETAIL|redo|checkpoint|recover|starting up|invalid record|interrupted|shut down at|could not (send|receive)|unexpected EOF"
    )
    #expect(try pair.dumps().map(\.signal) == [UInt64(SIGSEGV)])
  }
}
