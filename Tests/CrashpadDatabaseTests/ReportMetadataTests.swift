// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadDatabase

@Suite("ReportMetadata")
struct ReportMetadataTests {
  private let bytes: [UInt8] = [
    0x01, 0x00, 0x00, 0x00, 0x04, 0x03, 0x02, 0x01, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x28, 0x27, 0x26,
    0x25, 0x24, 0x23, 0x22, 0x21, 0x03, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x99, 0x69, 0x64, 0xff, 0x00,
  ]

  @Test("Every field comes from its bytes, whatever is in the padding")
  func fields() throws {
    let metadata = try ReportMetadata(bytes)
    #expect(metadata.uploadAttempts == 0x0102_0304)
    #expect(metadata.lastUploadAttemptTime == 0x1112_1314_1516_1718)
    #expect(metadata.creationTime == 0x2122_2324_2526_2728)
    #expect(metadata.isUploaded)
    #expect(metadata.isUploadExplicitlyRequested)
    #expect(metadata.serverID == [0x69, 0x64, 0xff, 0x00])
  }

  @Test("Metadata is written with zeros for padding, and with the server's id as it is")
  func written() throws {
    var expected = bytes
    expected.replaceSubrange(25..<32, with: [0, 0, 0, 0, 0, 0, 0])
    #expect(try ReportMetadata(bytes).bytes == expected)
    #expect(
      ReportMetadata(creationTime: 2).bytes == [1] + [UInt8](repeating: 0, count: 15) + [2]
        + [UInt8](repeating: 0, count: 15))
  }

  @Test("The two attributes are bits of one byte; others are nothing to us", arguments: UInt8.min ... .max)
  func attributes(byte: UInt8) throws {
    var bytes = bytes
    bytes[24] = byte
    let metadata = try ReportMetadata(bytes)
    #expect(metadata.isUploaded == [1, 3].contains(byte % 4))
    #expect(metadata.isUploadExplicitlyRequested == [2, 3].contains(byte % 4))
    #expect(metadata.bytes[24] == byte % 4)
  }

  @Test("Negative numbers stay what they are", arguments: [Int64.min, -1, 0, 1, Int64.max])
  func signs(value: Int64) throws {
    var metadata = ReportMetadata(creationTime: ~value)
    metadata.lastUploadAttemptTime = value == 0 ? nil : value
    metadata.uploadAttempts = Int32(truncatingIfNeeded: value)
    #expect(try ReportMetadata(metadata.bytes) == metadata)
  }

  @Test("Each length below 32 bytes is too short; from there on all is the id")
  func lengths() throws {
    for count in 0..<32 {
      #expect(throws: ReportMetadata.Damage.truncated(byteCount: count)) {
        try ReportMetadata(Array(bytes.prefix(count)))
      }
    }
    for count in 32...bytes.count {
      #expect(try ReportMetadata(Array(bytes.prefix(count))).serverID == Array(bytes[32..<count]))
    }
  }

  @Test("Any other version is unknown", arguments: [0, 2, -1, 0x0100_0000, 0x101, Int32.min] as [Int32])
  func versions(version: Int32) throws {
    let bytes = ScratchDatabase.little(version, 4) + self.bytes[4...]
    #expect(throws: ReportMetadata.Damage.unknownVersion(version)) { try ReportMetadata(bytes) }
  }
}
