// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// A page has everything that the text of the other commands says: each word and number of their output is searched on it.
struct EverythingTests {
  /// Each prints one view of a crash.
  private static let commands = [
    ["inspect"], ["inspect", "--threads", "all", "--modules", "--annotations", "--registers", "--memory-list"],
    ["symbolize", "--no-system", "--threads", "all", "--addresses", "--frames", "all"],
    ["symbolize", "--no-system", "--modules"], ["symbolize", "--no-system", "--missing"],
    ["explain", "--no-system"],
  ]

  /// Words of tables and hints that a page says otherwise.
  private static let labels: Set<String> = [
    "inspect", "--annotations", "shows", "all", "missing", "--missing", "lists", "them", "crashed", "recorded",
    "searched",
    "more", "name", "captured", "what", "address", "none", "from", "unknown", "context", "loader", "with", "memory",
    "Summary", "annotations", "identity", "prints", "version", "Exception", "priority", "suspended", "type", "messages",
    "these", "stacks", "debug", "symbols", "have",
  ]

  private static func words(_ text: String) -> Set<String> {
    let pieces = text.split { !($0.isLetter || $0.isNumber || "_.:+-/$".contains($0)) }
    return Set(
      pieces.map { piece in
        let word = piece.trimmingCharacters(in: CharacterSet(charactersIn: ".:+-"))
        // Pages write addresses with all digits.
        let digits = word.hasPrefix("0x") ? String(word.dropFirst(2)) : word
        let isHex = digits.count >= 4 && digits.allSatisfy { $0.isHexDigit && !$0.isUppercase }
        return isHex ? String(digits.drop { $0 == "0" }) : word
      }
      // Short numbers are those of lines.
      .filter { $0.count >= 3 && ($0.count > 3 || Int($0) == nil) })
  }

  private static func missing(_ name: String, in folder: TemporaryFolder) throws -> [String] {
    let made = try Tool.run(["report", "--no-system", name, "-o", "a.html"], in: folder)
    #expect([0, 1].contains(made.status), "\(made.errorText)")
    var page = String(decoding: try folder.bytes(of: "a.html"), as: UTF8.self)
    if let start = page.range(of: "<section id=\"text\"") { page.removeSubrange(start.lowerBound...) }
    let text = page.replacing(/<[^>]*>/, with: " ").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    let known = words(text).union(words(text.replacing(" ", with: ""))).union(labels)
    var missing: Set<String> = []
    for command in commands {
      let result = try Tool.run(command + [name], in: folder)
      #expect([0, 1].contains(result.status), "\(result.errorText)")
      for word in words(result.text) where !known.contains(word) && !text.contains(word) {
        missing.insert("\(command[0]): \(word)")
      }
    }
    return missing.sorted()
  }

  @Test(arguments: [(SynthArchitecture.arm64, 3), (.x86_64, 4), (.arm64, 5)] as [(SynthArchitecture, UInt64)])
  func `Everything that the text of a dump says is on its page`(architecture: SynthArchitecture, seed: UInt64) throws {
    let folder = try TemporaryFolder()
    var parameters = SynthParameters(architecture: architecture, seed: seed)
    parameters.exception = .badAccess
    try folder.write(SynthDump(parameters).bytes, to: "a.idump")
    #expect(try Self.missing("a.idump", in: folder) == [])
    _ = try Tool.run(["convert", "a.idump", "-o", "a.dmp"], in: folder)
    #expect(try Self.missing("a.dmp", in: folder) == [])
  }

  @Test func `Everything that the text of a minidump says is on its page`() throws {
    let folder = try TemporaryFolder()
    try folder.write(SynthMinidump().bytes, to: "a.dmp")
    #expect(try Self.missing("a.dmp", in: folder) == [])
  }

  @Test func `Everything that the text of a report says is on its page`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(FaultNameTests.report(["abort", "Cart.total()", "main"]).utf8), to: "a.ips")
    #expect(try Self.missing("a.ips", in: folder) == [])
    try folder.write(Array(CrashPageTests.report(annotation: "left by the program").utf8), to: "a.crash")
    #expect(try Self.missing("a.crash", in: folder) == [])
  }
}
