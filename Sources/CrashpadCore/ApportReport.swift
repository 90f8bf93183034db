// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
internal import CrashpadBytes
internal import CrashpadFiles

/// The core in a report of Ubuntu's apport, `/var/crash/*.crash`: a field of a text, compressed and in base64.
enum ApportReport {
  private static let start = Array("\(ApportText.firstLine)\n".utf8)
  /// The field's name between the line before and the value (problem_report.py). Each line of the value is base64 of its own.
  private static let field = Array("\nCoreDump: base64\n".utf8)
  private static let blockSize = 64 << 10

  /// The compressed core; nil if the bytes are no such report or have no core. Throws `DumpInputFailure` and the errors of
  /// `UnpackedBytes`.
  static func core(in bytes: RawSpan) throws -> UnpackedBytes? {
    guard has(start, bytes, at: 0), let value = value(bytes) else { return nil }
    let result = UnpackedBytes()
    var block: [UInt8] = []
    block.reserveCapacity(blockSize + 3)
    var (bits, count) = (0 as UInt32, 0)
    var isAtStart = true
    for place in value..<bytes.byteCount {
      let byte = bytes.uint8(at: place)
      if isAtStart {
        // Another field, or the end.
        guard byte == 0x20 else { break }
        isAtStart = false
      } else if let digit = Base64.value(byte) {
        (bits, count) = (bits << 6 | digit, count + 6)
        guard count >= 8 else { continue }
        count -= 8
        block.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        if block.count >= blockSize { try flush(&block, to: result) }
      } else if byte == 0x0a {
        (isAtStart, count) = (true, 0)
      } else if byte != UInt8(ascii: "="), byte != 0x0d {
        throw DumpInputFailure.compressed("base64", .damaged)
      }
    }
    try flush(&block, to: result)
    return result.count > 0 ? result : nil
  }

  private static func flush(_ block: inout [UInt8], to result: UnpackedBytes) throws {
    try unsafe result.append(block.span.bytes)
    block.removeAll(keepingCapacity: true)
  }

  private static func has(_ words: [UInt8], _ bytes: RawSpan, at place: Int) -> Bool {
    place + words.count <= bytes.byteCount
      && words.indices.allSatisfy { bytes.uint8(at: place + $0) == words[$0] }
  }

  /// The place behind the name of the field.
  private static func value(_ bytes: RawSpan) -> Int? {
    var place = 0
    while place < bytes.byteCount {
      place = bytes.first(0x0a, in: ByteRange(offset: place, count: bytes.byteCount - place))
      if has(field, bytes, at: place) { return place + field.count }
      place += 1
    }
    return nil
  }
}
