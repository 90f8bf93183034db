// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

@Suite("Servers of debug information", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct DebuginfodTests {
  @Test("A server that gives no answer is reported")
  func refusing() throws {
    let folder = try TemporaryFolder()
    let crash = try RunTests.shell(
      "cp /bin/sh program; handled ./program -c 'kill -SEGV $$'; rm program; mv db/p*/* crash.idump", in: folder)
    try #require(folder.exists("crash.idump"), "\(crash.errorText)")
    // No program listens on port 1 of the loopback interface.
    let settings = "XDG_CACHE_HOME=cache DEBUGINFOD_URLS=http://127.0.0.1:1"
    let result = try Tool.shell("\(settings) crashpadctl symbolize --debuginfod crash.idump", in: folder)
    #expect(result.errorText.contains("http://127.0.0.1:1 is not asked again: no connection"), "\(result.errorText)")
    let silent = try Tool.shell("\(settings) crashpadctl symbolize crash.idump", in: folder)
    #expect(!silent.errorText.contains("127.0.0.1"))
  }
}
