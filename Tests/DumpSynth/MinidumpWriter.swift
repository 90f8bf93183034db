// SPDX-License-Identifier: Apache-2.0
/// A number in a minidump that a reader must not believe: where it stands and what it says.
public struct MinidumpField: Equatable, Sendable {
  public enum Kind: Equatable, Sendable {
    /// An offset in the file.
    case rva
    /// Bytes that something at an RVA has.
    case size
    /// Entries of a list.
    case count
    /// Bytes of a string or a byte array.
    case length
    /// Bytes of a list's header or of one entry.
    case entrySize
  }

  public let offset: Int
  /// Bytes: 4 or 8.
  public let width: Int
  public let kind: Kind
  /// For messages, such as `threadList[2].stack.rva`.
  public let path: String
}

/// Writes little-endian structures that point at each other, and notes every field that could lie.
struct MinidumpWriter {
  private(set) var bytes: [UInt8] = []
  private(set) var fields: [MinidumpField] = []
  /// Puts every structure at an odd offset.
  let isOdd: Bool

  init(isOdd: Bool) {
    self.isOdd = isOdd
  }

  /// The offset of the next structure, after padding.
  mutating func align(_ alignment: Int = 4) -> Int {
    while bytes.count % alignment != (isOdd ? 1 : 0) { bytes.append(0) }
    return bytes.count
  }

  mutating func reserve(_ count: Int) -> Int {
    let start = align()
    bytes.appendZeros(count)
    return start
  }

  mutating func append(_ more: [UInt8], alignment: Int = 4) -> Int {
    let start = align(alignment)
    bytes.append(contentsOf: more)
    return start
  }

  /// Appends without padding, for what continues a structure.
  mutating func continueWith(_ more: [UInt8]) {
    bytes.append(contentsOf: more)
  }

  mutating func put(_ value: UInt64, _ width: Int, at offset: Int) {
    bytes.overwrite(value, width: width, at: offset)
  }

  mutating func put32(_ value: Int, at offset: Int) {
    bytes.overwrite(UInt64(truncatingIfNeeded: value), width: 4, at: offset)
  }

  mutating func putRVA(_ rva: Int, width: Int = 4, at offset: Int, _ path: String) {
    put(UInt64(rva), width, at: offset)
    fields.append(MinidumpField(offset: offset, width: width, kind: .rva, path: path + ".rva"))
  }

  /// `MINIDUMP_LOCATION_DESCRIPTOR`: size, then RVA.
  mutating func putLocation(size: Int, rva: Int, at offset: Int, _ path: String) {
    put32(size, at: offset)
    fields.append(MinidumpField(offset: offset, width: 4, kind: .size, path: path + ".size"))
    putRVA(rva, at: offset + 4, path)
  }

  mutating func putCount(_ count: Int, width: Int = 4, at offset: Int, _ path: String) {
    put(UInt64(count), width, at: offset)
    fields.append(MinidumpField(offset: offset, width: width, kind: .count, path: path + ".count"))
  }

  mutating func putEntrySize(_ size: Int, at offset: Int, _ path: String) {
    put32(size, at: offset)
    fields.append(MinidumpField(offset: offset, width: 4, kind: .entrySize, path: path))
  }

  /// `MINIDUMP_STRING`: bytes without the terminator, UTF-16, terminator.
  mutating func utf16(_ text: String, _ path: String) -> Int {
    let units = Array(text.utf16)
    var data = Bytes.of(UInt32(units.count * 2))
    for unit in units { data.append(little: unit) }
    data.append(little: UInt16(0))
    let start = append(data)
    fields.append(MinidumpField(offset: start, width: 4, kind: .length, path: path))
    return start
  }

  /// `MinidumpUTF8String` of Crashpad.
  mutating func utf8(_ text: String, _ path: String) -> Int {
    let data = Array(text.utf8)
    let start = append(Bytes.of(UInt32(data.count)) + data + [0])
    fields.append(MinidumpField(offset: start, width: 4, kind: .length, path: path))
    return start
  }
}
