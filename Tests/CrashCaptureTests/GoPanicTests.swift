// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Panics of Go for a fault: its runtime puts `runtime.sigpanic` on the stack of the code that the signal interrupted.
struct GoPanicTests {
  private static let fault = """
    package main
    // #include <stdlib.h>
    import "C"
    type Order struct { id int }
    //go:noinline
    func before(o *Order) int { return o.id * 3 }
    //go:noinline
    func pay(o *Order) int { return o.id }
    //go:noinline
    func route(o *Order) int { return pay(o) + before(o) }
    func main() { C.free(C.malloc(3)); route(nil) }
    """

  private static let fatalError = """
    package main
    // #include <stdlib.h>
    import "C"
    import "sync"
    var drawer sync.Mutex
    //go:noinline
    func release() { drawer.Unlock() }
    //go:noinline
    func closeTill() int { release(); return 1 }
    func main() { C.free(C.malloc(3)); closeTill() }
    """

  /// The C function uses the register that has the goroutine in code of Go.
  private static let callOfC = """
    package main
    /*
    static int deep(int *p) {
    #if defined(__x86_64__)
      __asm__ volatile("xor %%r14d, %%r14d" ::: "r14");
    #else
      __asm__ volatile("mov x28, 0" ::: "x28");
    #endif
      return *p + 1;
    }
    __attribute__((noinline)) static int price_of(int *p) { return deep(p) * 2; }
    */
    import "C"
    //go:noinline
    func price(n int) int { return int(C.price_of(nil)) + n }
    //go:noinline
    func basket(n int) int { return price(n+1) + 1 }
    func main() { println(basket(2)) }
    """

  /// Runs a program until it crashes; then `script`, with the dump's path in `$dump`.
  private static func crash(_ source: String, then script: String) throws -> Tool.Outcome {
    let folder = try TemporaryFolder()
    let run = """
      printf 'module m\\n' >go.mod; cat >main.go <<'E'
      \(source)
      E
      GOFLAGS=-mod=mod GOCACHE='\(GoCache.path)' HOME=$PWD CGO_ENABLED=1 go build -o program . || exit 1
      GOTRACEBACK=crash crashpadctl run -q -d db --handler-library '\(try HandlerLibrary.path())' ./program 2>/dev/null
      dump=$(echo db/pending-serialized-ios-dump/*)
      """
    return try Tool.shell(run + "\n" + script, in: folder)
  }

  @Test(.enabled(if: ServerTests.path(of: "go") != nil, "go is not installed"))
  func `A fault of a function's first instruction is in that function`() throws {
    let outcome = try Self.crash(
      Self.fault,
      then: """
        crashpadctl symbolize "$dump" | grep -o 'main[.][a-z]* + 0 '
        crashpadctl group --format csv "$dump"
        """)
    #expect(outcome.text.contains("main.pay + 0 "), "\(outcome.text)\(outcome.errorText)")
    #expect(outcome.text.contains(" · main.pay"))
  }

  /// Go calls C on a stack of its runtime, from which only a word that it leaves there leads to the goroutine's.
  @Test(.enabled(if: ServerTests.path(of: "go") != nil, "go is not installed"))
  func `A crash in C has the functions of Go that called it`() throws {
    try Self.expect("main.price main.basket main.main ", "bad-access[null] · deep", ofCrash: Self.callOfC)
  }

  /// Go's runtime raises fatal errors on a stack of its own, from which only its records lead to the goroutine's.
  @Test(.enabled(if: ServerTests.path(of: "go") != nil, "go is not installed"))
  func `A fatal error has the goroutine's stack, and so have its minidump and its redacted copy`() throws {
    try Self.expect("main.release main.closeTill main.main ", "abort[Go] · main.release", ofCrash: Self.fatalError)
  }

  /// Checks the program's functions on the stacks of the dump, of its minidump and of both redacted; and the signature.
  private static func expect(_ functions: String, _ signature: String, ofCrash source: String) throws {
    let outcome = try crash(
      source,
      then: """
        crashpadctl convert -q "$dump" -o whole.dmp
        crashpadctl redact -q "$dump" -o redacted && crashpadctl redact -q whole.dmp -o redacted.dmp
        for file in "$dump" whole.dmp redacted redacted.dmp; do
          crashpadctl symbolize "$file" --symbols program |
            sed -n 's/^[> ]*[0-9]*  \\(main[.][a-zA-Z]*\\) .*/\\1/p' | tr '\\n' ' '
          echo
        done
        crashpadctl group --format csv "$dump"
        """)
    #expect(
      outcome.text.split(separator: "\n").prefix(4) == ArraySlice(repeatElement(Substring(functions), count: 4)),
      "\(outcome.text)\(outcome.errorText)")
    #expect(outcome.text.contains(signature))
  }
}
