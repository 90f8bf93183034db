// SPDX-License-Identifier: Apache-2.0
/// An AppleDouble file as macOS writes it for a file with extended attributes, byte by byte.
struct AppleDoubleFile {
  var attributes: [(name: String, value: [UInt8])]
  /// The resource fork entry that macOS puts behind.
  var hasResourceFork = true

  private func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private func padded(_ count: Int) -> Int { (count + 3) / 4 * 4 }

  var bytes: [UInt8] {
    let entriesSize = attributes.reduce(0) { $0 + padded(11 + $1.name.utf8.count + 1) }
    let dataStart = 120 + entriesSize
    let dataSize = attributes.reduce(0) { $0 + $1.value.count }
    let total = dataStart + dataSize
    var bytes: [UInt8] = [0x00, 0x05, 0x16, 0x07, 0x00, 0x02, 0x00, 0x00]
    bytes += Array("Mac OS X        ".utf8)
    bytes += [0, 2]
    bytes += big(9, 4) + big(50, 4) + big(total - 50, 4)
    bytes += big(2, 4) + big(total, 4) + big(hasResourceFork ? 286 : 0, 4)
    bytes += [UInt8](repeating: 0, count: 34)
    bytes += Array("ATTR".utf8) + big(0, 4) + big(total, 4) + big(dataStart, 4) + big(dataSize, 4)
    bytes += [UInt8](repeating: 0, count: 12) + big(0, 2) + big(attributes.count, 2)
    var offset = dataStart
    for (name, value) in attributes {
      bytes += big(offset, 4) + big(value.count, 4) + big(0, 2) + big(name.utf8.count + 1, 1) + Array(name.utf8) + [0]
      while bytes.count % 4 != 0 { bytes.append(0) }
      offset += value.count
    }
    for (_, value) in attributes { bytes += value }
    if hasResourceFork { bytes += [UInt8](repeating: 0x5a, count: 286) }
    return bytes
  }
}
