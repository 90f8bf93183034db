// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Panics of Go for a fault: its runtime puts `runtime.sigpanic` on the stack of the code that the signal interrupted.
struct GoPanicTests {
  private static let source = """
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

  @Test(.enabled(if: ServerTests.path(of: "go") != nil, "go is not installed"))
  func `A fault of a function's first instruction is in that function`() throws {
    let folder = try TemporaryFolder()
    let script = """
      printf 'module m\\n' >go.mod; cat >main.go <<'E'
      \(Self.source)
      E
      GOFLAGS=-mod=mod GOCACHE='\(GoCache.path)' HOME=$PWD CGO_ENABLED=1 go build -o program . || exit 1
      GOTRACEBACK=crash crashpadctl run -q -d db --handler-library '\(try HandlerLibrary.path())' ./program 2>/dev/null
      dump=$(echo db/pending-serialized-ios-dump/*)
      crashpadctl symbolize "$dump" | grep -o 'main[.][a-z]* + 0 '
      crashpadctl group --format csv "$dump"
      """
    let outcome = try Tool.shell(script, in: folder)
    #expect(outcome.text.contains("main.pay + 0 "), "\(outcome.text)\(outcome.errorText)")
    #expect(outcome.text.contains(" · main.pay"))
  }
}
