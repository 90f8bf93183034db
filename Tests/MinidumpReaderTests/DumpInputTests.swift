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

  @Test("What has no conversion says so")
  func conversion() throws {
    try folder.write(Array("MDMP".utf8) + [UInt8](repeating: 0, count: 28), to: "a.dmp")
    let input = try DumpInput(path("a.dmp"))
    let error = #expect(throws: DumpInputFailure.self) {
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
}
