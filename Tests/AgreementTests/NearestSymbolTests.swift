// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

@Suite("Addresses that no function has")
struct NearestSymbolTests {
  @Test("The nearest symbol is marked as such, in code and in data")
  func nearest() throws {
    let folder = try TemporaryFolder()
    // A label without a size, with code behind it, and a variable.
    try folder.write(
      Array(".text\n.globl label\nlabel: nop\nnop\nnop\n.data\n.globl word\nword: .long 1\n".utf8), to: "a.s")
    let build = try Tool.shell("cc -shared -nostdlib -o liba.so a.s && nm liba.so", in: folder)
    try #require(build.status == 0, "\(build.errorText)")
    func address(_ name: String) throws -> UInt64 {
      let line = try #require(build.outputLines.first { $0.hasSuffix(" \(name)") })
      return try #require(UInt64(line.prefix { $0 != " " }, radix: 16))
    }
    func lookup(_ address: UInt64) throws -> String? {
      try Tool.run(["symbols", "lookup", "liba.so", String(address, radix: 16)], in: folder).outputLines.first
        .map(String.init)
    }
    #expect(try lookup(try address("label") + 1) == "label (nearest symbol)")
    #expect(try lookup(try address("word")) == "word (data)")
    #expect(try lookup(try address("word") + 2) == "word + 2 (nearest data)")
    #expect(try lookup(0x1000_0000) == "??")
  }
}
