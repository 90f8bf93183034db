// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadFiles
import Foundation
import CrashpadSnapshot
@testable import CrashpadSymbolication
import SystemPackage
import Testing

@Suite("MachOFile")
struct MachOFileTests {
  private let text: UInt64 = 0x1_0000_1000

  private func file(_ synth: MachOSynth = .sample()) throws -> MachOFile {
    try MachOFile(InputFile(bytes: synth.bytes()))
  }

  @Test("The header and the load commands tell what a file is")
  func commands() throws {
    let file = try file()
    #expect(file.architecture.description == "arm64")
    #expect(file.kind == .dylib)
    #expect(file.uuid?.text == "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf")
    #expect(file.build?.platformName == "ios")
    #expect(file.build?.minimumOS.description == "14.2")
    #expect(file.build?.sdk.description == "17.4.1")
    #expect(file.installName == "@rpath/Sample.dylib")
    #expect(file.textAddress == 0x1_0000_0000)
    #expect(file.segments.map(\.name) == ["__TEXT", "__DWARF"])
    #expect(file.section("__TEXT", "__const")?.size == 4)
    #expect(file.findings.isEmpty)
  }

  @Test("The commands that came before LC_BUILD_VERSION tell the platform too")
  func oldVersion() throws {
    var bytes = MachOSynth.sample().bytes()
    let place = try #require((0..<bytes.count - 8).first { Array(bytes[$0..<$0 + 8]) == [0x32, 0, 0, 0, 24, 0, 0, 0] })
    bytes.replaceSubrange(place..<place + 16, with: [0x25, 0, 0, 0, 24, 0, 0, 0, 0, 3, 12, 0, 2, 0, 13, 0])
    let file = try MachOFile(InputFile(bytes: bytes))
    #expect(file.build?.platformName == "ios")
    #expect(file.build?.minimumOS.description == "12.3")
    #expect(file.build?.sdk.description == "13.0.2")
  }

  @Test("Symbols of code come sorted, without their underscore, with where they end")
  func symbols() throws {
    let symbols = try file().symbols()
    #expect(symbols.map(\.name) == ["first", "ltmp0", "second", "third"])
    #expect(symbols.map { $0.address - text } == [0, 0, 0x20, 0x60])
    // The second ends where a function without a symbol begins, the third with its section.
    #expect(symbols.map { $0.end - text } == [0x20, 0x20, 0x50, 0x80])
    #expect(symbols.map(\.isExternal) == [true, false, false, true])
  }

  @Test(
    "An address is looked up among symbols",
    arguments: [
      (0x0, "first"), (0x1f, "first"), (0x20, "second"), (0x4f, "second"), (0x50, nil), (0x5f, nil), (0x60, "third"),
      (0x7f, "third"), (0x80, nil), (0x100, nil),
    ] as [(UInt64, String?)])
  func lookup(offset: UInt64, name: String?) throws {
    #expect(try file().symbol(containing: text + offset)?.name == name)
  }

  @Test("Below the first symbol there is none, and the nearest one before is found beyond ends")
  func nearest() throws {
    let file = try file()
    #expect(file.symbol(containing: text - 1) == nil)
    #expect(file.symbol(before: text - 1) == nil)
    #expect(file.symbol(before: text + 0x50)?.name == "second")
    #expect(file.symbol(before: .max)?.name == "third")
  }

  @Test("Function starts are found without symbols")
  func functionStarts() throws {
    let file = try file()
    #expect(file.functionStarts.map { $0 - text } == [0, 0x20, 0x50, 0x60])
    #expect(file.function(containing: text + 0x5f) == text + 0x50..<text + 0x60)
    #expect(file.function(containing: text + 0x7f) == text + 0x60..<text + 0x80)
    #expect(file.function(containing: text + 0x80) == nil)
    #expect(file.function(containing: text - 1) == nil)
  }

  @Test("Universal files of both widths give their slices", arguments: [false, true])
  func universal(isWide: Bool) throws {
    var other = MachOSynth.sample()
    other.cpu = (0x0100_000c, 0x8000_0002)
    other.uuid = Array(0x10...0x1f)
    var old = MachOSynth.sample()
    old.cpu = (12, 9)
    let synths = [MachOSynth.sample(), other, old]
    let input = InputFile(bytes: MachOSynth.universal(synths.map { ($0.cpu, $0.bytes()) }, isWide: isWide))
    let (slices, findings) = MachOFile.slices(of: input)
    #expect(findings.isEmpty)
    #expect(slices.map(\.architecture.description) == ["arm64", "arm64e", "armv7"])
    #expect(throws: MachOFile.Refusal.universal) { try MachOFile(input) }
    let second = try MachOFile(input, in: slices[1].range)
    #expect(second.uuid?.text == "10111213-1415-1617-1819-1a1b1c1d1e1f")
    #expect(second.symbol(containing: text + 0x21)?.name == "second")
    #expect(second.dwarf?.contents(".debug_info").withBytes { $0.array() } == Array(1...40))
    #expect(second.compactUnwindEncoding(at: text) == 0x0400_0001)
  }

  @Test("A slice that the file does not have whole is left out")
  func cutSlice() throws {
    let synth = MachOSynth.sample()
    let bytes = MachOSynth.universal([(synth.cpu, synth.bytes()), (synth.cpu, synth.bytes())])
    let (slices, findings) = MachOFile.slices(of: InputFile(bytes: Array(bytes.dropLast())))
    #expect(slices.count == 1)
    #expect(findings.map(\.rule.code) == ["bad-slice"])
  }

  @Test("A file of an unsupported kind is refused by name")
  func refusals() {
    func refusal(_ bytes: [UInt8]) -> MachOFile.Refusal? {
      do {
        _ = try MachOFile(InputFile(bytes: bytes))
        return nil
      } catch {
        return error
      }
    }
    let rest = [UInt8](repeating: 0, count: 60)
    #expect(refusal([]) == .notMachO)
    #expect(refusal([0x7f, 0x45, 0x4c, 0x46] + rest) == .notMachO)
    #expect(refusal([0xce, 0xfa, 0xed, 0xfe] + rest) == .is32Bit)
    #expect(refusal([0xfe, 0xed, 0xfa, 0xcf] + rest) == .isBigEndian)
    #expect(refusal([0xcf, 0xfa, 0xed, 0xfe]) == .notMachO)
    // A Java class, version 52
    #expect(refusal([0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52] + rest) == .notMachO)
    var core = MachOSynth.sample()
    core.kind = 4
    #expect(refusal(core.bytes()) == .kind(4))
  }

  @Test("A symbol table outside of the file costs the symbols only")
  func badSymbolTable() throws {
    var synth = MachOSynth.sample()
    synth.extra = [MachOSynth.command(2, Bytes.of([0x0fff_ffff_0000_0020, 0x0000_1000_0000_0020]))]
    let file = try file(synth)
    #expect(file.findings.map(\.rule.code) == ["mach-o-range"])
    #expect(file.uuid != nil)
    #expect(file.symbols().count == 4)
  }

  @Test("A load command that is too long ends them, and what came before counts")
  func badCommand() throws {
    var synth = MachOSynth.sample()
    synth.extra = [[0x0c, 0, 0, 0, 0xff, 0xff, 0, 0]]
    let file = try file(synth)
    #expect(file.findings.map(\.rule.code) == ["bad-load-command"])
    #expect(file.symbols().count == 4)
  }

  @Test("Function starts that break off are kept up to there")
  func badFunctionStarts() throws {
    var synth = MachOSynth.sample()
    synth.functionStarts = [0x80, 0x20, 0x20, 0x80]
    let file = try file(synth)
    #expect(file.functionStarts.map { $0 - text } == [0, 0x20])
    #expect(file.findings.map(\.rule.code) == ["bad-function-starts"])
  }

  @Test("Sections that are encrypted are not read as code")
  func encrypted() throws {
    var synth = MachOSynth.sample()
    // LC_ENCRYPTION_INFO_64 of everything
    synth.extra = [MachOSynth.command(0x2c, [0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])]
    let file = try file(synth)
    #expect(file.isEncrypted)
    #expect(file.compactUnwind(at: text) == nil)
    #expect(file.symbol(containing: text)?.name == "first")
  }

  // MARK: Debugging information

  @Test("Debugging sections are found by the names that ELF files have, though Mach-O cuts them")
  func dwarfSections() throws {
    let dwarf = try #require(try file().dwarf)
    func bytes(_ name: String) -> [UInt8] { dwarf.contents(name).withBytes { $0.array() } }
    #expect(bytes(".debug_info") == Array(1...40))
    #expect(bytes(".debug_str_offsets") == Array(50...61))
    #expect(bytes(".debug_line").isEmpty)
    #expect(bytes(".text").isEmpty)
    #expect(dwarf.isCode(text))
    #expect(!dwarf.isCode(text &- 0x1000_0000))
  }

  @Test("Without debugging sections there is no debug information; an object file may have some")
  func noDwarf() throws {
    var synth = MachOSynth.sample()
    synth.kind = 1
    #expect(try file(synth).dwarf != nil)
    synth = .sample()
    synth.sections.removeAll { $0.segment == "__DWARF" }
    let file = try file(synth)
    #expect(file.dwarf == nil)
    #expect(!file.hasDwarf)
  }

  @Test("Files in a bundle are found")
  func bundles() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "macho-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    for bundle in ["A.xcarchive/dSYMs/B.dSYM", "A.xcarchive/dSYMs/C.framework.dSYM", "A.xcarchive/dSYMs/other"] {
      let folder = root.appending(path: bundle + "/Contents/Resources/DWARF")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data([1]).write(to: folder.appending(path: "x"))
    }
    func names(_ path: String) throws -> [String] {
      try MachOFile.dwarfFiles(inBundle: .init(root.appending(path: path).path)).map {
        String($0.string.dropFirst(root.path.count + 1))
      }
    }
    let both = ["B", "C.framework"].map { "A.xcarchive/dSYMs/\($0).dSYM/Contents/Resources/DWARF/x" }
    #expect(try names("A.xcarchive") == both)
    #expect(try names("A.xcarchive/dSYMs") == both)
    #expect(try names("A.xcarchive/dSYMs/B.dSYM") == [both[0]])
    #expect(try names("nothing") == [])
  }
}
