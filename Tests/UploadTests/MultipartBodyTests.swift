// SPDX-License-Identifier: Apache-2.0
import CZlib
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadUpload
@testable import CrashpadFiles

/// The bytes of a request.
@Suite("The form that a report is sent in")
struct MultipartBodyTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func file(_ name: String, _ bytes: [UInt8], called partName: [UInt8]? = nil) throws -> MultipartBody.File {
    try folder.write(bytes, to: name)
    let open = try Folder(FilePath(folder.url("").path)).open(try #require(FileName(name)))
    return MultipartBody.File(
      name: partName ?? Array(name.utf8), fileName: Array(name.utf8), file: open, size: bytes.count)
  }

  /// Read in pieces of `step` bytes.
  private func read(_ body: any RequestBody, by step: Int) throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      var piece = [UInt8](repeating: 0, count: step)
      let count = try unsafe piece.withUnsafeMutableBytes { buffer in
        var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
        return try body.read(into: &span)
      }
      if count == 0 { return all }
      all += piece.prefix(count)
    }
  }

  private func body() throws -> MultipartBody {
    MultipartBody(
      fields: [
        UploadField("a", "1"), UploadField("b\"\r\n%\\é", "two\r\nlines"),
        UploadField(name: [0x63, 0, 0x64], value: [0, 0xff]),
      ],
      files: [try file("log.txt", Array("log".utf8)), try file("x.dmp", [1, 2, 3], called: Array("m".utf8))],
      boundary: "B")
  }

  private static let text = """
    --B\r
    Content-Disposition: form-data; name="a"\r
    \r
    1\r
    --B\r
    Content-Disposition: form-data; name="b%22%0d%0a%25\\é"\r
    \r
    two\r
    lines\r
    --B\r
    Content-Disposition: form-data; name="c"\r
    \r
    \u{0}?\r
    --B\r
    Content-Disposition: form-data; name="log.txt"; filename="log.txt"\r
    Content-Type: application/octet-stream\r
    \r
    log\r
    --B\r
    Content-Disposition: form-data; name="m"; filename="x.dmp"\r
    Content-Type: application/octet-stream\r
    \r
    \u{1}\u{2}\u{3}\r
    --B--\r

    """

  /// A byte that is not UTF-8 in it stands as a question mark in the text.
  private static var bytes: [UInt8] {
    var bytes = Array(text.utf8)
    if let place = bytes.firstIndex(of: UInt8(ascii: "?")) { bytes[place] = 0xff }
    return bytes
  }

  @Test(
    "It has Crashpad's bytes, in pieces of whatever size, and says before how many", arguments: [1, 2, 7, 64, 65536])
  func form(step: Int) throws {
    let body = try body()
    #expect(body.byteCount == Self.bytes.count)
    #expect(try read(body, by: step) == Self.bytes)
    #expect(try read(body, by: step).isEmpty)
    body.rewind()
    #expect(try read(body, by: step) == Self.bytes)
  }

  @Test("Compressed, it has the same bytes, once more and after another one", arguments: [1, 100, 65536])
  func gzip(step: Int) throws {
    let compressor = try #require(CompressionStream.gzip())
    let long = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
    for content in [[], long] {
      let form = MultipartBody(fields: [], files: [try file("f\(content.count)", content)], boundary: "B")
      let plain = try read(form, by: 4096)
      let body = GzipBody(form, compressor)
      for _ in 0..<2 {
        body.rewind()
        #expect(try Self.expanded(read(body, by: step)) == plain)
      }
    }
  }

  @Test("A compressor that refuses to go on ends the body with an error")
  func refusedStep() throws {
    let compressor = try #require(CompressionStream.gzip())
    let form = MultipartBody(fields: [], files: [try file("f", [UInt8](repeating: 7, count: 300_000))], boundary: "B")
    let body = GzipBody(form, compressor)
    // The stream ends below the body, and zlib adds nothing behind its end.
    var end = [UInt8](repeating: 0, count: 1000)
    var span = end.mutableSpan
    var target = unsafe span.mutableBytes
    #expect(unsafe compressor.step([UInt8]().span.bytes, isLast: true, into: &target).isEnd)
    #expect(throws: GzipBody.failure) { try read(body, by: 4096) }
  }

  private static func expanded(_ bytes: [UInt8]) throws -> [UInt8] {
    var stream = unsafe z_stream()
    let start = unsafe zlib_begin_expansion(&stream)
    #expect(start == Z_OK)
    defer { unsafe inflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: 1 << 20)
    let (result, rest) = unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe stream.next_in = input.baseAddress
        unsafe stream.avail_in = UInt32(input.count)
        unsafe stream.next_out = output.baseAddress
        unsafe stream.avail_out = UInt32(output.count)
        return unsafe (inflate(&stream, Z_FINISH), Int(stream.avail_out))
      }
    }
    #expect(result == Z_STREAM_END)
    return Array(output.dropLast(rest))
  }

  @Test("A file that was cut after it was opened is a failure, and one that grew is sent as it was")
  func changedFiles() throws {
    let cut = MultipartBody(fields: [], files: [try file("cut", [1, 2, 3])], boundary: "B")
    try FileHandle(forWritingTo: folder.url("cut")).truncate(atOffset: 2)
    #expect(throws: FileFailure.self) { try read(cut, by: 10) }
    let grown = MultipartBody(fields: [], files: [try file("grown", [1, 2, 3])], boundary: "B")
    try FileHandle(forWritingTo: folder.url("grown")).truncate(atOffset: 20)
    #expect(try read(grown, by: 1000).count == grown.byteCount)
  }

  @Test("Boundaries have Crashpad's form, and are never the same")
  func boundaries() {
    let boundaries = (0..<100).map { _ in MultipartBody.makeBoundary() }
    #expect(Set(boundaries).count == 100)
    for boundary in boundaries {
      #expect(boundary.wholeMatch(of: #/---MultipartBoundary-[0-9A-Za-z]{32}---/#) != nil)
    }
  }
}
