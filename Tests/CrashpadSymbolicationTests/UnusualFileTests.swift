// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@testable import CrashpadSymbolication

/// Files whose symbols are in other places than usual, or are no names.
@Suite("Unusual symbol files")
struct UnusualFileTests {
  private static let hasCompiler = (try? Tool.shell("cc --version", in: TemporaryFolder()).status) == 0
  private static let hasGo = (try? Tool.shell("go version", in: TemporaryFolder()).status) == 0

  private static let library = """
    int shop_part(int a);
    __attribute__((noinline)) int shop_total(int a) { return a * 3 + shop_part(a); }
    __attribute__((noinline)) int shop_part(int a) { return a * 5; }
    """

  private static func compile(_ source: String, _ options: String, in folder: TemporaryFolder) throws {
    try folder.write(Array(source.utf8), to: "shop.c")
    let made = try Tool.shell("cc -O1 -fPIC -shared shop.c -o shop.so -Wl,--build-id \(options)", in: folder)
    try #require(made.status == 0, "\(made.errorText)")
  }

  private static func address(_ name: String, in folder: TemporaryFolder) throws -> String {
    let symbols = try Tool.shell("nm shop.so", in: folder)
    let line = try #require(symbols.outputLines.first { $0.hasSuffix(" \(name)") })
    return "0x" + line.prefix { $0 != " " }
  }

  private static func lookup(_ file: String, _ addresses: [String], in folder: TemporaryFolder) throws -> Tool.Outcome {
    try Tool.run(["symbols", "lookup", file] + addresses, in: folder)
  }

  /// Ways in which a library has no section headers of use.
  enum Hiding: CaseIterable { case noTable, emptyTable, otherPlaces }

  @Test(
    "A library without section headers of use has the names of its dynamic symbols",
    .enabled(if: hasCompiler, "cc is not installed"), arguments: Hiding.allCases)
  func withoutSections(hiding: Hiding) throws {
    let folder = try TemporaryFolder()
    try Self.compile(Self.library, "", in: folder)
    var bytes = [UInt8](try Data(contentsOf: folder.url("shop.so")))
    let table = (0..<8).reduce(0) { $0 | Int(bytes[0x28 + $1]) << (8 * $1) }
    switch hiding {
    case .noTable: for place in Array(0x28..<0x30) + Array(0x3c..<0x40) { bytes[place] = 0 }
    case .emptyTable: for place in table..<bytes.count { bytes[place] = 0 }
    case .otherPlaces:
      for start in stride(from: table, to: bytes.count - 63, by: 64) { bytes[start + 28] = 0x7f }
    }
    try folder.write(bytes, to: "bare.so")
    let place = try Self.address("shop_total", in: folder)
    let outcome = try Self.lookup("bare.so", [place], in: folder)
    #expect(outcome.text.hasPrefix("shop_total\n"), "\(outcome.text)\(outcome.errorText)")
    let json = try Tool.run(["symbols", "info", "-f", "json", "bare.so"], in: folder).text
    let whole = try Tool.run(["symbols", "info", "-f", "json", "shop.so"], in: folder).text
    func frames(_ text: String) -> Substring? {
      text.split(separator: "\n").first { $0.contains("eh_frame_functions") }
    }
    #expect(frames(json) == frames(whole), "\(json)")
  }

  @Test("A name with a line feed is one line of an answer, and a blank is no name")
  func lines() throws {
    let folder = try TemporaryFolder()
    var file = MachOSynth()
    file.sections = [
      .init(
        segment: "__TEXT", name: "__text", address: file.base + 0x1000, bytes: [UInt8](repeating: 0, count: 96),
        flags: 0x8000_0400)
    ]
    for (index, name) in ["_a\nb", "_ ", "_\u{1b}[31mred"].enumerated() {
      file.symbols.append(.init(name: name, address: file.base + 0x1000 + UInt64(index) * 32))
    }
    try folder.write(file.bytes(), to: "odd.dylib")
    let places = (0..<3).map { "0x" + String(file.base + 0x1000 + $0 * 32, radix: 16) }
    let outcome = try Self.lookup("odd.dylib", places, in: folder)
    #expect(outcome.text == "a\\nb\n??:0:0\n\n??\n??:0:0\n\n\\u{1b}[31mred\n??:0:0\n\n", "\(outcome.text)")
  }

  @Test("A symbol of one section does not name another one", .enabled(if: hasCompiler, "cc is not installed"))
  func otherSections() throws {
    let folder = try TemporaryFolder()
    try Self.compile(Self.library, "", in: folder)
    let sections = try Tool.shell("readelf -SW shop.so", in: folder)
    let line = try #require(sections.outputLines.first { $0.contains(" .plt ") })
    let words = line.split(separator: " ")
    let place = try #require(words.firstIndex(of: "PROGBITS"))
    let outcome = try Self.lookup("shop.so", ["0x\(words[place + 1])"], in: folder)
    #expect(!outcome.text.contains("_init"), "\(outcome.text)")
  }

  @Test(
    "Stubs of the procedure linkage table have the names that objdump gives them",
    .enabled(if: hasCompiler, "cc is not installed"),
    arguments: ["", "-fcf-protection=none", "-Wl,-z,now", "-Wl,-z,lazy"])
  func stubs(_ options: String) throws {
    let source = """
      int puts(const char *); int _ZN4shop4sellEi(int); int getpid(void); int (*volatile kept)(void);
      int shop_open(int a) { kept = getpid; return puts("a") + _ZN4shop4sellEi(a) + getpid(); }
      """
    let folder = try TemporaryFolder()
    try Self.compile(source, options, in: folder)
    let listed = try Tool.shell("objdump -d shop.so", in: folder).outputLines.compactMap { line in
      line.firstMatch(of: #/^([0-9a-f]+) <([^>]*@plt)>:/#).map { (String($0.1), String($0.2)) }
    }
    try #require(listed.count >= 2)
    for (address, name) in listed {
      for place in [UInt64(address, radix: 16)!, UInt64(address, radix: 16)! + 5] {
        let outcome = try Tool.run(
          ["symbols", "lookup", "--no-demangle", "shop.so", "0x" + String(place, radix: 16)], in: folder)
        #expect(outcome.text.hasPrefix(name + "\n"), "\(name) \(outcome.text)")
      }
    }
    let sell = try #require(listed.first { $0.1.contains("sell") }).0
    #expect(try Self.lookup("shop.so", ["0x\(sell)"], in: folder).text.hasPrefix("shop::sell(int)@plt\n"))
  }

  @Test("A function with many symbols in it is found behind them", .enabled(if: hasCompiler, "cc is not installed"))
  func manyLabels() throws {
    let labels = (0..<100).map { "inner\($0): .type inner\($0), @function\\n nop\\n .size inner\($0), 1\\n" }.joined()
    let source = """
      int shop_last(int a) { return a; }
      __asm__(".globl outer\\n.type outer, @function\\nouter:\\n\(labels) nop\\nouter_end: nop\\n.size outer, .-outer\\n");
      """
    let folder = try TemporaryFolder()
    try Self.compile(source, "", in: folder)
    let outcome = try Self.lookup("shop.so", [try Self.address("outer_end", in: folder)], in: folder)
    #expect(outcome.text.hasPrefix("outer\n"), "\(outcome.text)")
  }

  @Test("Dynamic symbols complete a table that strip left a part of", .enabled(if: hasCompiler, "cc is not installed"))
  func partialTable() throws {
    let folder = try TemporaryFolder()
    try Self.compile(Self.library, "", in: folder)
    let place = try Self.address("shop_total", in: folder)
    let strip = try Tool.shell("strip -s -K shop_part shop.so", in: folder)
    try #require(strip.status == 0)
    #expect(try Self.lookup("shop.so", [place], in: folder).text.hasPrefix("shop_total\n"))
  }

  @Test("An empty name is none")
  func emptyNames() throws {
    let folder = try TemporaryFolder()
    let text = """
      MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 a
      FILE 0 a.c
      INLINE_ORIGIN 0 \("")
      FUNC 1000 10 0 \("")
      INLINE 0 3 0 0 1000 8
      1000 8 4 0
      FUNC 2000 10 0
      PUBLIC 3000 0 \("")
      """
    try folder.write(Array((text + "\n").utf8), to: "a.sym")
    let outcome = try Self.lookup("a.sym", ["0x1000", "0x2004", "0x3004"], in: folder)
    #expect(outcome.text == "??\na.c:4:0\n??\na.c:3:0\n\n??\n??:0:0\n\n??\n??:0:0\n\n", "\(outcome.text)")
  }

  @Test("A symbol file in a zip archive is read, and one of several is said")
  func zipped() throws {
    let folder = try TemporaryFolder()
    let text = "MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 a\nFUNC 1000 10 0 in_a_zip\n"
    try folder.write(Array(text.utf8), to: "a.sym")
    try folder.write(Array(text.utf8), to: "b.sym")
    let zip = "python3 -m zipfile -c"
    let made = try Tool.shell("\(zip) one.zip a.sym && \(zip) two.zip a.sym b.sym", in: folder)
    try #require(made.status == 0, "\(made.errorText)")
    #expect(try Self.lookup("one.zip", ["0x1000"], in: folder).text.hasPrefix("in_a_zip\n"))
    let several = try Self.lookup("two.zip", ["0x1000"], in: folder)
    #expect(several.errorText.contains("zip archive with 2 files"), "\(several.errorText)")
  }

  // MARK: Go

  /// Two functions, of which the first has an inlined call, in Go's table of version 1.20 at address 0x1000 of the code.
  private static func goTable(_ damage: (inout [UInt8]) -> Void = { _ in }) -> [UInt8] {
    func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    func long(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    let names = Array("\0main.outer\0main.inner\0main.last\0".utf8)
    let files = Array("outer.go\0inner.go\0".utf8)
    // Tables of values: pairs of a change, in zigzag form, and the number of bytes for which it holds.
    let values: [UInt8] =
      [0]
      // 1: file 0, then file 1 for 8 bytes, then file 0.
      + [2, 4, 2, 8, 1, 20, 0]
      // 8: line 11, then 21, then 11.
      + [24, 4, 20, 8, 19, 20, 0]
      // 15: no call, then call 0 for 8 bytes, then none.
      + [0, 4, 2, 8, 1, 20, 0]
      // 22: line 31.
      + [64, 32, 0]
    func function(_ start: UInt32, _ name: UInt32, file: UInt32, line: UInt32, calls: Bool) -> [UInt8] {
      let fixed = word(start) + word(name) + word(0) + word(0) + word(0) + word(file) + word(line)
      let counts = word(calls ? 3 : 0) + word(0) + word(1) + [0, 0, 0, calls ? 4 : 0]
      return fixed + counts + (calls ? [0, 0, 15, .max, .max, .max, 0].flatMap { word($0) } : [])
    }
    let first = function(0, 1, file: 1, line: 8, calls: true)
    let second = function(32, 23, file: 1, line: 22, calls: false)
    let table = 5 * 4
    let functions =
      [0, UInt32(table), 32, UInt32(table + first.count), 64].flatMap { word($0) } + first + second
    let header = 8 + 8 * 8
    let (namePlace, unitPlace) = (header, header + names.count)
    let filePlace = unitPlace + 8
    let valuePlace = filePlace + files.count
    let functionPlace = valuePlace + values.count
    var bytes: [UInt8] = word(0xffff_fff1) + [0, 0, 1, 8] + long(2) + long(2) + long(0x1000)
    for place in [namePlace, unitPlace, filePlace, valuePlace, functionPlace] { bytes += long(UInt64(place)) }
    bytes += names + word(0) + word(9) + files + values + functions
    damage(&bytes)
    return bytes
  }

  private static func shared(_ bytes: [UInt8]) throws -> SharedBytes {
    let copy = unsafe SharedBytes(count: bytes.count) { target in
      unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      return true
    }
    return try #require(copy)
  }

  @Test("Go's table has functions, files, lines and inlined calls")
  func goTable() throws {
    let table = try #require(GoTable(try Self.shared(Self.goTable())))
    #expect(table.version == .go120 && table.count == 2 && table.headerText == 0x1000)
    let outer = try #require(table.function(at: 6))
    #expect(table.name(outer.name) == "main.outer")
    var steps = GoTable.mostStepsOfLookup
    func location(_ function: GoTable.Function, _ place: UInt64) -> CrashpadSymbolication.SourceLocation? {
      table.location(function, at: place, &steps)
    }
    func callIndex(_ place: UInt64) -> Int? { table.callIndex(outer, at: place, &steps) }
    #expect(location(outer, 0) == SourceLocation(file: "outer.go", line: 11))
    #expect(location(outer, 6) == SourceLocation(file: "inner.go", line: 21))
    #expect(location(outer, 12) == SourceLocation(file: "outer.go", line: 11))
    #expect(callIndex(0) == nil && callIndex(6) == 0)
    // An inlined call: kind, name, place of the caller, first line.
    let calls: [UInt8] = [0, 0, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]
    let call = try #require(table.call(0, of: outer, in: try Self.shared(calls)))
    #expect(table.name(call.name) == "main.inner" && call.caller == 2)
    let last = try #require(table.function(at: 63))
    #expect(table.name(last.name) == "main.last")
    #expect(location(last, 5)?.line == 31)
    #expect(table.function(at: 64) == nil)
    steps = 1
    #expect(location(outer, 6) == nil && steps == 0)
  }

  @Test("A damaged table of Go is read without a trap")
  func damagedGoTable() throws {
    let whole = Self.goTable()
    var random = SplitMix64(seed: 1)
    for _ in 0..<20_000 {
      let bytes = Self.goTable { bytes in
        for _ in 0..<1 + Int(random.next() % 4) {
          bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        if random.next() % 4 == 0 { bytes.removeLast(Int(random.next() % UInt64(whole.count))) }
      }
      guard !bytes.isEmpty, let table = GoTable(try Self.shared(bytes)) else { continue }
      for place in [0, 6, 33, 63, 1 << 40] as [UInt64] {
        guard let function = table.function(at: place) else { continue }
        _ = table.name(function.name)
        var steps = GoTable.mostStepsOfLookup
        _ = table.location(function, at: place, &steps)
        if let index = table.callIndex(function, at: place, &steps) {
          _ = table.call(index, of: function, in: try Self.shared(bytes))
        }
      }
    }
  }

  @Test(
    "A stripped program of Go has the names and lines that Go's own tool prints",
    .enabled(if: hasGo, "go is not installed"),
    arguments: Soak.some(1, of: ["-ldflags=-s", "-ldflags=-w", "-buildmode=pie -ldflags=-s"]))
  func goProgram(options: String) throws {
    let folder = try TemporaryFolder()
    let source = """
      package main
      import ("fmt"; "os"; "strings")
      func add(a, b int) int { return a + b }
      func main() { fmt.Println(strings.ToUpper(os.Args[0]), add(len(os.Args), 2)) }
      """
    try folder.write(Array(source.utf8), to: "main.go")
    let script = """
      export HOME=$PWD GOCACHE='\(GoCache.path)' GOTOOLCHAIN=local
      go build \(options) -o program main.go || exit 1
      readelf -SW program | awk '$2 == ".text" || $3 == ".text" { print $0 }' > text
      """
    let built = try Tool.shell(script, in: folder)
    try #require(built.status == 0, "\(built.errorText)")
    let words = String(decoding: try Data(contentsOf: folder.url("text")), as: UTF8.self).split(separator: " ")
    let place = try #require(words.firstIndex(of: "PROGBITS"))
    let (start, size) = (try #require(Int(words[place + 1], radix: 16)), try #require(Int(words[place + 3], radix: 16)))
    var random = SplitMix64(seed: 7)
    let addresses = (0..<1000).map { _ in "0x" + String(start + Int(random.next() % UInt64(size)), radix: 16) }
    try folder.write(Array((addresses.joined(separator: "\n") + "\n").utf8), to: "addresses")
    let theirs = try Tool.shell(
      "HOME=$PWD GOCACHE='\(GoCache.path)' go tool addr2line program < addresses", in: folder)
    let ours = try Tool.shell("crashpadctl symbols lookup program < addresses", in: folder)
    let expected = theirs.outputLines
    for (index, answer) in ours.text.components(separatedBy: "\n\n").prefix(addresses.count).enumerated() {
      let lines = answer.split(separator: "\n")
      // Go's tool prints the compiled function with the line of the innermost call.
      let name = try #require(lines.dropLast().last)
      #expect(name == expected[2 * index] || expected[2 * index] == "?", "\(addresses[index])")
      let place = expected[2 * index + 1]
      #expect(lines[1] == "\(place):0" || place == ":-1" || place.hasPrefix("?"), "\(addresses[index])")
    }
  }
}
