// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadFiles
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadSymbolication

@Suite("Symbol files that are written")
struct BreakpadWriterTests {
  private static func write(_ elf: SynthElf, _ options: BreakpadWriter.Options = .init()) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(elf.bytes, to: "app")
    let output = MemoryOutput()
    let source = try BreakpadInput(FilePath(folder.url("app").path))
    let counts = try BreakpadWriter.write(source, options, to: output)
    #expect(counts.bytes == output.bytes.count)
    return String(decoding: output.bytes, as: UTF8.self)
  }

  @Test("All that a small program has is there")
  func small() throws {
    var options = BreakpadWriter.Options()
    options.demangles = false
    #expect(
      try Self.write(SynthElf(), options) == """
        MODULE Linux x86_64 A3A2A1A0A5A4A7A6A8A9AAABACADAEAF0 app
        INFO CODE_ID A0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3
        FILE 0 /src/app.cc
        FILE 1 /src/app.h
        INLINE_ORIGIN 0 helper
        FUNC 1000 40 0 main
        INLINE 0 12 0 0 1010 10
        1000 10 10 0
        1010 10 37 1
        1020 20 45 0
        FUNC 1040 20 0 _Z5twicei
        1040 20 60 0
        PUBLIC 1060 0 _start
        STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^
        STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa -16 + ^
        STACK CFI 1004 .cfa: $rbp 16 +
        STACK CFI 1034 .cfa: $rsp 8 + $rbp: $rbp
        STACK CFI INIT 1040 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
        STACK CFI 1044 .cfa: $rsp 32 +
        STACK CFI 104c .cfa: $rsp 8 +
        STACK CFI 104d .cfa: $rsp 32 +
        STACK CFI INIT 1060 10 .cfa: $rsp 8 + .ra: 0

        """)
  }

  @Test("Options leave parts out")
  func options() throws {
    var options = BreakpadWriter.Options()
    options.hasInlinedCalls = false
    options.hasFrameRules = false
    let text = try Self.write(SynthElf(), options)
    #expect(!text.contains("INLINE"))
    #expect(!text.contains("STACK"))
    #expect(text.contains("1010 10 37 1"))
  }

  @Test("A file without debug information gives its symbols, and one without a build id a hash of its code")
  func plain() throws {
    var elf = SynthElf()
    elf.hasDebugInfo = false
    elf.buildID = nil
    let lines = try Self.write(elf).split(separator: "\n")
    var hash = [UInt8](repeating: 0, count: 16)
    for index in 0..<0x70 { hash[index & 15] ^= UInt8(truncatingIfNeeded: index &* 37) }
    #expect(lines[0] == "MODULE Linux x86_64 \(DebugID(buildID: hash)!.text) app")
    #expect(lines.filter { $0.hasPrefix("PUBLIC") }.count == 3)
    #expect(!lines.contains { $0.hasPrefix("FUNC") })
  }

  @Test("An object file and a file that is not ELF are refused")
  func refused() throws {
    let folder = try TemporaryFolder()
    var elf = SynthElf()
    elf.type = 1
    try folder.write(elf.bytes, to: "app.o")
    try folder.write(Array("no program".utf8), to: "notes")
    try folder.write(SynthElf().bytes, to: "app")
    elf.type = 3
    elf.buildID = [1, 2, 3, 4]
    try folder.write(elf.bytes, to: "other")
    #expect(throws: BreakpadInput.NotLinked.self) { try BreakpadInput(FilePath(folder.url("app.o").path)) }
    #expect(throws: BreakpadInput.NotElf.self) { try BreakpadInput(FilePath(folder.url("notes").path)) }
    #expect(throws: BreakpadInput.OtherBuild.self) {
      try BreakpadInput(FilePath(folder.url("app").path), debug: FilePath(folder.url("other").path))
    }
  }

  @Test("Debug information is found where the debug link says, if it is of the same build")
  func debugLink() throws {
    let folder = try TemporaryFolder()
    var debug = SynthElf()
    debug.hasCode = false
    debug.hasFrames = false
    var stripped = SynthElf()
    (stripped.hasDebugInfo, stripped.hasSymbols, stripped.debugLink) = (false, false, ("app.debug", 1))
    try folder.write(stripped.bytes, to: "app")
    let app = FilePath(folder.url("app").path)
    #expect(try BreakpadInput.debugFile(of: app) == nil)
    try folder.write(debug.bytes, to: ".debug/app.debug")
    let found = try #require(try BreakpadInput.debugFile(of: app))
    #expect(found == FilePath(folder.url(".debug/app.debug").path))
    let output = MemoryOutput()
    _ = try BreakpadWriter.write(BreakpadInput(app, debug: found), .init(), to: output)
    // The frames are the one's, all else the other's.
    #expect(String(decoding: output.bytes, as: UTF8.self) == (try Self.write(SynthElf())))
    debug.buildID = [9, 9, 9, 9]
    try folder.write(debug.bytes, to: ".debug/app.debug")
    #expect(try BreakpadInput.debugFile(of: app) == nil)
  }

  @Test("Overlapping functions are cut, so that each address has the one that begins last")
  func pieces() {
    let pieces = BreakpadPiece.separate([(10..<40, 0), (20..<30, 1), (20..<25, 2), (50..<60, 3)])
    #expect(pieces.map(\.range) == [10..<20, 20..<25, 25..<30, 30..<40, 50..<60])
    #expect(pieces.map(\.function) == [0, 2, 1, 0, 3])
    #expect(pieces.map(\.isShared) == [false, true, false, false, false])
  }

  @Test("Random pieces never overlap and lose nothing")
  func randomPieces() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let input = (0..<random.between(1, 20)).map { index in
        let low = UInt64(random.below(100))
        return (range: low..<low + UInt64(random.between(1, 30)), function: index)
      }
      let pieces = BreakpadPiece.separate(input)
      for address in UInt64(0)..<140 {
        let here = pieces.filter { $0.range.contains(address) }
        let expected = input.filter { $0.range.contains(address) }
          .max { ($0.range.lowerBound, $0.function) < ($1.range.lowerBound, $1.function) }
        #expect(here.count == (expected == nil ? 0 : 1), "seed \(seed)")
        #expect(here.first?.function == expected?.function, "seed \(seed)")
      }
    }
  }
}
