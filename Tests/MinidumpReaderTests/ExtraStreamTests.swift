// SPDX-License-Identifier: Apache-2.0
import CrashpadMinidump
import CrashpadSnapshot
import DumpSynth
import Testing

/// Streams that only some writers have.
@Suite("MinidumpReader: further streams")
struct ExtraStreamTests {
  @Test("Handles have their values, types and names", arguments: [false, true])
  func handles(_ wide: Bool) throws {
    let reading = Reading(Example.small(.x86_64, .windows) { $0.wideHandles = wide }.bytes)
    let handles = try #require(reading.snapshot?.handles)
    #expect(handles.map(\.handle) == [4, 8, 12])
    #expect(handles.map { reading.text($0.typeName) } == ["File", "Event", "Mutant"])
    #expect(
      handles.map { reading.text($0.objectName) } == ["\\Device\\HarddiskVolume1\\log.txt", nil, "\\Sessions\\1\\x"])
    #expect(Reading(Example.small(.x86_64, .linux).bytes).snapshot?.handles == nil)
  }

  @Test("Records of modules end before the annotation objects that later ones have")
  func oldModuleRecords() throws {
    var dump = AnnotatedMinidump()
    dump.hasOldModules = true
    let simple: [AnnotatedMinidump.Pair] = [(Array("prod".utf8), Array("Electron".utf8)), (Array("ver".utf8), [0x31])]
    dump.modules = [
      AnnotatedMinidump.Module(simple: simple), AnnotatedMinidump.Module(messages: [Array("abort() called".utf8)]),
    ]
    let reading = Reading(dump.bytes)
    let modules = try #require(reading.snapshot?.modules)
    #expect(reading.errors.isEmpty)
    #expect(modules.map { reading.texts($0.simpleAnnotations) } == [["prod=Electron", "ver=1"], []])
    #expect(modules.map { $0.messages.map { reading.text($0) } } == [[], ["abort() called"]])
    #expect(modules.allSatisfy { $0.annotationObjects.isEmpty })
  }

  @Test("An assertion has its three texts, its line and its kind")
  func assertion() throws {
    let dump = Example.small(.x86_64, .windows)
    let reading = Reading(
      dump.replacing(.crashpadInfo, with: 0x4767_0002) { _ in
        SynthMinidump.assertion("size > 0", "fill", "C:\\a\\fill.cpp", line: 42, kind: 1)
      })
    let assertion = try #require(reading.snapshot?.assertion)
    #expect(reading.codes == [])
    #expect(reading.text(assertion.expression) == "size > 0" && reading.text(assertion.function) == "fill")
    #expect(reading.text(assertion.file) == "C:\\a\\fill.cpp")
    #expect(assertion.line == 42 && assertion.kind == 1)
  }

  @Test("Functions that a program made are those of Windows' tables")
  func functionTables() throws {
    let dump = Example.small(.x86_64, .windows)
    func table(_ base: UInt64, _ functions: [(UInt32, UInt32)], padding: Int) -> [UInt8] {
      let entries = functions.flatMap { Bytes.of($0.0) + Bytes.of($0.1) + Bytes.of(UInt32(0x7000)) }
      return Bytes.of([base, base + 0x10000, base]) + Bytes.of(UInt32(functions.count)) + Bytes.of(UInt32(padding))
        + [UInt8](repeating: 0xee, count: 136) + entries + [UInt8](repeating: 0xdd, count: padding)
    }
    let tables =
      table(0x1e0_0000_0000, [(0x10, 0x80), (0x80, 0x80), (0x90, 0x1f0)], padding: 4)
      + table(0x1e1_0000_0000, [(0, 0x100)], padding: 0)
    func reading(_ content: [UInt8], count: UInt32 = 2, entry: UInt32 = 12) -> Reading {
      let header = [24, 32, 136, entry, count, 0].flatMap { Bytes.of(UInt32($0)) }
      return Reading(dump.replacing(.crashpadInfo, with: 13) { _ in header + content })
    }
    let functions = [
      MadeFunction(address: 0x1e0_0000_0010, end: 0x1e0_0000_0080),
      MadeFunction(address: 0x1e0_0000_0090, end: 0x1e0_0000_01f0),
      MadeFunction(address: 0x1e1_0000_0000, end: 0x1e1_0000_0100),
    ]
    let whole = reading(tables)
    #expect(whole.codes == [] && whole.snapshot?.madeFunctions == functions)
    // Entries of another size are those of another processor.
    #expect(reading(tables, entry: 8).snapshot?.madeFunctions == [])
    #expect(reading(tables, count: 3).codes == ["stream-too-short"])
    for end in 0..<tables.count {
      let cut = reading(Array(tables.prefix(end)))
      #expect(functions.starts(with: try #require(cut.snapshot).madeFunctions))
    }
  }

  @Test("Messages of macOS modules and the kernel's arguments are read")
  func macOS() throws {
    let dump = Example.small(.arm64, .macos)
    let texts = ["/usr/lib/libx.dylib", "abort() called", "", "0 x", "more"]
    let reading = Reading(
      dump.replacing(.crashpadInfo, with: 0x4d7a_0001) { SynthMinidump.crashInfo(at: $0, texts) })
    let info = try #require(reading.snapshot?.crashInfo.first)
    #expect(reading.codes == [] && reading.snapshot?.crashInfo.count == 1)
    #expect([info.thread, info.dialogMode, info.abortCause] == [0x11, 0x22, 0x33])
    let found = [info.module, info.message, info.signature, info.backtrace, info.secondMessage]
    #expect(found.map { reading.text($0) ?? "" } == texts)
    let arguments = Reading(
      dump.replacing(.crashpadInfo, with: 0x4d7a_0002) { SynthMinidump.bootArguments(at: $0, "-v debug=1") })
    #expect(arguments.text(arguments.snapshot?.bootArguments) == "-v debug=1")
  }

  @Test("The notes of a writer are kept as they are")
  func softErrors() {
    let text = #"[{"InitErrors":["InvalidFormat"]}]"#
    let reading = Reading(
      Example.small(.x86_64, .linux).replacing(.crashpadInfo, with: 0x4d7a_0004) { _ in Array(text.utf8) })
    #expect(reading.text(reading.snapshot?.softErrors) == text)
  }

  @Test("Damaged records give a finding and no trap")
  func damaged() {
    let dump = Example.small(.arm64, .macos)
    for (offset, value) in [(8, 20), (8, 0xffff_ffff), (12, 8), (16, 0xffff_fff0), (4, 0xffff_ffff)] as [(Int, UInt64)]
    {
      let bytes = dump.replacing(.crashpadInfo, with: 0x4d7a_0001) { start in
        var content = SynthMinidump.crashInfo(at: start, ["a", "b", "c", "d", "e"])
        content.overwrite(value, width: 4, at: offset)
        return content
      }
      #expect(!Reading(bytes).codes.isEmpty, "\(offset)")
    }
  }
}
