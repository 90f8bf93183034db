// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// The output on a terminal of some width; script(1) makes one.
@Suite("On a terminal", .enabled(if: Machine.hasTerminals, "\(Machine.noTerminals)"))
struct TerminalTests {
  /// The lines that a command prints on a terminal of `width` columns.
  private static func lines(_ command: String, width: Int, variables: String = "TERM=xterm", in folder: TemporaryFolder)
    throws -> [String]
  {
    let script = "stty cols \(width); \(variables) \(command)"
    let result = try Tool.shell("script -qec '\(script)' /dev/null", in: folder)
    return result.text.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n").map(String.init)
  }

  private static func plain(_ line: String) -> String {
    line.replacingOccurrences(of: "\u{1b}\\[[0-9;]*m", with: "", options: .regularExpression)
  }

  /// Cells, for the characters that these tests use.
  private static func width(_ line: String) -> Int {
    plain(line).unicodeScalars.reduce(0) { $0 + ((0x3041...0x9fff).contains($1.value) ? 2 : 1) }
  }

  private static func report(function: String) throws -> String {
    String(decoding: Samples.files["crash.ips"] ?? [], as: UTF8.self).replacing("Cart.total(of:)", with: function)
  }

  @Test("No line of a stack, a table or the screen is wider than it", arguments: [40, 80, 120])
  func widths(_ columns: Int) throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: "crash.idump signal.idump", to: folder)
    for command in [
      "symbolize --no-system --threads all crash.idump", "inspect crash.idump",
      "inspect --threads --modules crash.idump",
      "symbolize --no-system --modules crash.idump", "validate --rules", "inspect --memory-list crash.idump",
      "symbols check --no-system crash.idump 2> /dev/null", "explain --list",
      "group --no-system crash.idump signal.idump 2> /dev/null",
    ] {
      let lines = try Self.lines("crashpadctl \(command)", width: columns, in: folder)
      #expect(lines.count > 2, "\(command)")
      for line in lines { #expect(Self.width(line) <= columns, "\(command): \(line)") }
    }
  }

  @Test("The table of groups keeps the signatures", arguments: [(40, 32), (80, 48), (200, 51)])
  func groups(_ columns: Int, _ kept: Int) throws {
    let folder = try TemporaryFolder()
    try folder.write(
      Array(try Self.report(function: "ShoppingCartViewController.refreshTotalsAfterDiscount").utf8), to: "crash.ips")
    let lines = try Self.lines("crashpadctl group --no-system crash.ips", width: columns, in: folder)
    let signature = "bad-access[null] · ShoppingCartViewController.refreshTotalsAfterDiscount"
    #expect(lines.contains { $0.contains(signature.prefix(kept - 1)) }, "\(lines)")
    #expect(lines.allSatisfy { Self.width($0) <= columns })
  }

  @Test("COLUMNS wins over the terminal; a pipe gets whole lines")
  func columns() throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: "crash.idump", to: folder)
    let command = "crashpadctl inspect --modules crash.idump"
    let narrow = try Self.lines(command, width: 200, variables: "COLUMNS=60 TERM=xterm", in: folder)
    #expect(narrow.allSatisfy { Self.width($0) <= 60 })
    let piped = try Self.lines("\(command) | cat", width: 60, in: folder)
    #expect(piped.contains { Self.width($0) > 100 })
  }

  @Test(
    "Work on many dumps shows how far it is, and leaves no trace of that",
    arguments: ["inspect in > out", "redact in -o red", "validate in > out", "symbolize --no-system in > out"])
  func progress(_ command: String) throws {
    let folder = try TemporaryFolder()
    for number in 1...20 { try folder.write(Samples.crash, to: "in/crash\(number).idump") }
    let result = try Tool.shell(
      "export TERM=xterm; script -qec 'crashpadctl \(command) ; true' /dev/null", in: folder)
    #expect(result.text.contains("\r10 of 20 (50 %)"), "\(result.text)")
    #expect(result.text.contains("\r\u{1b}[K"), "\(result.text)")
    let piped = try Tool.shell("crashpadctl \(command) -q 2>&1 || crashpadctl \(command) 2>&1", in: folder)
    #expect(!piped.text.contains(" of 20 ("), "\(piped.text)")
  }

  @Test("Colors are for terminals that can show them")
  func colors() throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: "crash.idump", to: folder)
    func isColored(_ variables: String, _ options: String = "") throws -> Bool {
      let command = "crashpadctl symbolize --no-system \(options) crash.idump"
      return try Self.lines(command, width: 80, variables: variables, in: folder).joined().contains("\u{1b}[")
    }
    #expect(try isColored("TERM=xterm"))
    #expect(try !isColored("TERM=dumb"))
    #expect(try !isColored("TERM=xterm NO_COLOR=1"))
    #expect(try isColored("TERM=xterm NO_COLOR="))
    #expect(try isColored("TERM=xterm NO_COLOR=1", "--color always"))
    #expect(try !isColored("TERM=xterm", "--color never"))
    #expect(try !isColored("TERM=xterm", "crash.idump | cat;:"))
  }

  @Test("Columns are straight where names have wide characters")
  func wideCharacters() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("x".utf8), to: "empty")
    let dump = try #require(Samples.files["crash.idump"])
    // The same number of bytes, so that the records stay whole.
    let old = Array("com.apple.main-thread".utf8)
    let new = Array("主スレッドです".utf8)
    try #require(old.count == new.count)
    let start = try #require(dump.indices.first { dump[$0...].starts(with: old) })
    try folder.write(Array(dump[..<start]) + new + Array(dump[(start + old.count)...]), to: "wide.idump")
    let lines = try Tool.run(["inspect", "--threads", "wide.idump"], in: folder).outputLines.map(String.init)
    func column(of text: String, in line: String) throws -> Int {
      Self.width(String(line[..<(try #require(line.range(of: text))).lowerBound]))
    }
    #expect(lines[1].contains("主スレッドです"))
    #expect(try column(of: "Example", in: lines[1]) == column(of: "Example", in: lines[2]))
    #expect(try column(of: "pc", in: lines[0]) == column(of: "Example", in: lines[1]))
  }

  @Test("A dump with thousands of modules and annotations takes one screen")
  func oneScreen() throws {
    let folder = try TemporaryFolder()
    var parameters = Samples.small()
    parameters.moduleCount = 600
    parameters.annotationsPerModule = 3
    parameters.processAnnotations = 300
    try folder.write(SynthDump(parameters).bytes, to: "many.idump")
    let lines = try Tool.run(["inspect", "many.idump"], in: folder).outputLines
    #expect((15...40).contains(lines.count), "\(lines.count)")
    #expect(lines.contains { $0.contains("more; inspect --annotations shows all") })
    let all = try Tool.run(["inspect", "--annotations", "many.idump"], in: folder).outputLines
    #expect(all.count > 300, "\(all.count)")
  }

  @Test("Long lists of findings end with what lists all")
  func findings() throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: "damaged-too-many-modules.idump", to: folder)
    let result = try Tool.run(["inspect", "damaged-too-many-modules.idump"], in: folder)
    #expect(result.errorText.split(separator: "\n").count <= 9, "\(result.errorText)")
  }
}
