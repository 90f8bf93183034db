// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import CrashpadSnapshot
import SystemPackage
import Testing

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("AttributeMetadata")
struct AttributeMetadataTests {
  private let id = UUIDBytes.random()
  private let new = "org.chromium.crashpad.database."
  private let old = "com.googlecode.crashpad."

  private func metadata(_ prefix: String, _ values: [String: String]) throws -> ReportMetadata? {
    try AttributeMetadata.metadata { name in
      name.hasPrefix(prefix) ? values[String(name.dropFirst(prefix.count))].map { Array($0.utf8) } : nil
    }
  }

  @Test("All values, of both generations", arguments: [0, 1])
  func values(generation: Int) throws {
    let found = try #require(
      try metadata(
        [new, old][generation],
        [
          "uuid": id.text, "creation_time": "1700000000", "id": "server\u{1}", "uploaded": "1",
          "upload_explicitly_requested": "1", "last_upload_time": "-5", "upload_count": "7",
        ]))
    #expect(found.creationTime == 1_700_000_000)
    #expect(found.serverID == Array("server\u{1}".utf8))
    #expect(found.isUploaded)
    #expect(found.isUploadExplicitlyRequested)
    #expect(found.lastUploadAttemptTime == -5)
    #expect(found.uploadAttempts == 7)
  }

  @Test("A value that is missing or not a number has its default")
  func defaults() throws {
    for values in [
      ["uuid": id.text, "creation_time": "1"],
      [
        "uuid": id.text, "creation_time": "1", "uploaded": "0", "upload_explicitly_requested": "yes",
        "last_upload_time": "soon", "upload_count": "99999999999",
      ],
      ["uuid": id.text, "creation_time": "1", "uploaded": "11", "upload_count": "", "last_upload_time": "1.5"],
    ] {
      #expect(try #require(try metadata(new, values)) == ReportMetadata(creationTime: 1))
    }
  }

  @Test("Without a UUID and a time of creation there is none")
  func required() throws {
    for values in [
      [:], ["uuid": id.text], ["creation_time": "1"], ["uuid": "x", "creation_time": "1"],
      ["uuid": id.text, "creation_time": ""], ["uuid": id.text, "creation_time": "9223372036854775808"],
    ] {
      #expect(try metadata(new, values) == nil)
      #expect(try metadata(old, values) == nil)
    }
    #expect(try metadata("com.other.", ["uuid": id.text, "creation_time": "1"]) == nil)
  }

  @Test("The newer generation counts where it is whole; else the older")
  func generations() throws {
    var values = [
      new + "uuid": id.text, new + "creation_time": "2", old + "uuid": id.text, old + "creation_time": "1",
      old + "uploaded": "1",
    ]
    func read() throws -> ReportMetadata? { try AttributeMetadata.metadata { values[$0].map { Array($0.utf8) } } }
    #expect(try read()?.creationTime == 2)
    #expect(try read()?.isUploaded == false, "the two are not mixed")
    values[new + "creation_time"] = nil
    #expect(try read()?.creationTime == 1)
    #expect(try read()?.isUploaded == true)
  }

  // MARK: In a database

  private func appleDouble(creation: String = "1234") -> [UInt8] {
    AppleDoubleFile(attributes: [
      (new + "uuid", Array(id.text.utf8)), (new + "creation_time", Array(creation.utf8)), (new + "id", [1, 0, 2]),
    ]).bytes
  }

  @Test("An AppleDouble file beside the report is read; the report's own file counts before")
  func besides() throws {
    let scratch = try ScratchDatabase()
    try scratch.addReport(id, metadata: nil)
    #expect(try scratch.database.report(id)?.metadata == .missing)
    try scratch.write(appleDouble(), to: "pending/._\(id.text).dmp")
    var expected = ReportMetadata(creationTime: 1234)
    expected.serverID = [1, 0, 2]
    #expect(try scratch.database.report(id)?.metadata == .attributes(expected, from: .appleDouble))
    #expect(
      try scratch.database.listing(of: .pending).reports.map(\.metadata) == [.attributes(expected, from: .appleDouble)])
    try scratch.write(ScratchDatabase.metadata(creation: 9), to: "pending/\(id.text).meta")
    #expect(try scratch.database.report(id)?.metadata == .file(ReportMetadata(creationTime: 9)))
    try scratch.write([1], to: "pending/\(id.text).meta")
    #expect(try scratch.database.report(id)?.metadata == .damaged(.truncated(byteCount: 1)))
  }

  @Test("An entry that is not a file, in the AppleDouble file's place, is not followed or waited for", arguments: 0..<3)
  func strange(kind: Int) throws {
    let scratch = try ScratchDatabase()
    try scratch.addReport(id, metadata: nil)
    try scratch.write(appleDouble(), to: "target")
    let name = "pending/._\(id.text).dmp"
    switch kind {
    case 0: try scratch.makeDirectory(name)
    case 1: scratch.makeFIFO(name)
    default: try scratch.makeLink(name, to: "../target")
    }
    #expect(try scratch.database.report(id)?.metadata == .missing)
  }

  /// The Glibc module has no setxattr(2).
  private func setAttribute(_ path: String, _ name: String, _ value: [UInt8]) throws -> Bool {
    typealias Call = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32) -> Int32
    let symbol = try unsafe #require(dlsym(nil, "setxattr"))
    let call = unsafe unsafeBitCast(symbol, to: Call.self)
    return unsafe call(path, name, value, value.count, 0) == 0
  }

  @Test("Extended attributes of the report's file, as a copy on Linux has them, count before an AppleDouble file")
  func extended() throws {
    let scratch = try ScratchDatabase()
    try scratch.addReport(id, metadata: nil)
    let path = scratch.url("pending/\(id.text).dmp").path
    // Not every file system has them.
    guard try setAttribute(path, "user." + old + "uuid", Array(id.text.utf8)) else { return }
    try scratch.write(appleDouble(), to: "pending/._\(id.text).dmp")
    #expect(try scratch.database.report(id)?.metadata.value?.creationTime == 1234, "not whole yet")
    #expect(try setAttribute(path, "user." + old + "creation_time", Array("77".utf8)))
    #expect(try setAttribute(path, "user." + old + "id", []))
    #expect(try setAttribute(path, "user." + old + "uploaded", [0x31]))
    var expected = ReportMetadata(creationTime: 77)
    expected.isUploaded = true
    #expect(try scratch.database.report(id)?.metadata == .attributes(expected, from: .extendedAttributes))
  }
}
