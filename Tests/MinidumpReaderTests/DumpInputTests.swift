// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadSnapshot
import DumpSynth
import Foundation
import SystemPackage
import Testing
import ToolRunner

@Suite("DumpInput: one typed error, which describes itself")
struct DumpInputTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> FilePath { FilePath(folder.url(name).path) }

  /// The description of the error with which the file does not open.
  private func description(_ name: String, _ bytes: [UInt8]? = nil) throws -> String? {
    if let bytes { try folder.write(bytes, to: name) }
    do throws(DumpInputFailure) {
      _ = try DumpInput(path(name))
      return nil
    } catch {
      return error.description
    }
  }

  @Test("A path that leads to no file, and files that are no dumps")
  func failures() throws {
    #expect(try description("missing") == "No such file or directory")
    #expect(try description("") == "is a directory")
    #expect(
      try description("a.png", [0x89] + Array("PNG\r\n\u{1a}\n0000".utf8))
        == "is a PNG image, not a dump or crash report")
    #expect(
      try description("b.json", Array(#"{"format":"crashpad-intermediate-dump","version":1,"root":7}"#.utf8))?
        .hasPrefix("not the JSON form of a dump: ") == true)
    #expect(try description("c.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]) == "is compressed (gzip) and ends early")
    #expect(try description("d", [6]) == nil)
    #expect(try description("d/part") == "Not a directory")
  }

  @Test("An archive or compression that is not read is named")
  func packed() throws {
    #expect(FileMagic.packed.count > 15)
    for (start, name) in FileMagic.packed {
      let text = try description("packed", start + [10, 10, 0, 1, 2, 3])
      #expect(text == "is \(name), which is not read; unpack it first")
    }
  }

  @Test("A format without a conversion is reported as such")
  func conversion() throws {
    try folder.write(Array("MDMP".utf8) + [UInt8](repeating: 0, count: 28), to: "a.dmp")
    let input = try DumpInput(path("a.dmp"))
    let error = #expect(throws: ConversionFailure.self) {
      _ = try Conversion(to: .minidump).convert(input, to: path("b.dmp"))
    }
    #expect(error?.description == "is a minidump, which is not converted to minidump")
    #expect(!folder.exists("b.dmp"))
  }

  @Test("A dump of a path has the names of its modules")
  func names() throws {
    var named = 0
    for example in RoundTripCase.all {
      guard let trip = example.trip else { continue }
      try folder.write(example.dump.bytes, to: "dump")
      let dump = try Dump(path("dump"))
      let snapshot = try #require(dump.snapshot)
      #expect(snapshot.modules.count == trip.original.modules.count)
      for (module, original) in zip(snapshot.modules, trip.original.modules) {
        let expected = original.name.map { content in
          withBytes(example.dump.bytes) { trip.original.text(content, in: $0) }
        }
        #expect(try dump.name(of: module) == expected)
        if expected?.isEmpty == false { named += 1 }
      }
    }
    #expect(named > 10)
  }

  @Test("Reading texts and bytes fails after the file of the dump became shorter")
  func shorter() throws {
    // A file of this size is mapped, and the signal of a missing page ends nothing.
    MappingGuard.install {}
    let example = try #require(RoundTripCase.all.first { $0.trip?.original.modules.first?.name != nil })
    let padding = [UInt8](repeating: 0, count: 2 * InputFile.mappingThreshold)
    try folder.write(example.dump.bytes + padding, to: "cut")
    let dump = try Dump(path("cut"))
    let module = try #require(dump.snapshot?.modules.first)
    let name = try #require(module.name)
    #expect(try dump.name(of: module) != nil)
    #expect(try dump.bytes(name).count == name.count)
    try #require(unsafe truncate(folder.url("cut").path, 0) == 0)
    #expect(Self.becomesShorter { () throws(DumpInputFailure) in _ = try dump.name(of: module) })
    #expect(Self.becomesShorter { () throws(DumpInputFailure) in _ = try dump.bytes(name) })
  }

  private static func becomesShorter(_ body: () throws(DumpInputFailure) -> Void) -> Bool {
    do { try body() } catch {
      if case .becameShorter = error { return true }
    }
    return false
  }

  @Test("Captured memory is read by its address, and other memory is nil")
  func memory() throws {
    var read = 0
    for example in RoundTripCase.all {
      try folder.write(example.dump.bytes, to: "dump")
      let dump = try Dump(path("dump"))
      for stack in (dump.snapshot?.threads ?? []).compactMap(\.stack) where !stack.isSynthetic {
        let region = stack.region
        let whole = try dump.bytes(region.content)
        guard whole.count > 8 else { continue }
        #expect(try dump.memory(at: region.address &+ 3, count: 4) == Array(whole[3..<7]))
        #expect(try dump.memory(at: region.address, count: whole.count) == whole)
        #expect(try dump.memory(at: region.address, count: .max) == nil)
        #expect(try dump.memory(at: region.address, count: -1) == nil)
        read += 1
      }
      #expect(try dump.memory(at: .max, count: 2) == nil)
    }
    #expect(read > 10)
  }
}
