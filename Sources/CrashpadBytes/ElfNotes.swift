// SPDX-License-Identifier: Apache-2.0
/// One note of an ELF file.
package struct ElfNote: Sendable {
  /// NT_GNU_BUILD_ID, in notes named "GNU"
  private static let buildID: UInt32 = 3
  /// Longer build ids are ignored: linkers write 8 to 20 bytes, and the longest digest has 64.
  private static let maximumBuildID = 64

  package let type: UInt32
  /// The name without its NUL.
  package let name: ByteRange
  package let content: ByteRange
  /// The offset of the note in the file.
  package let offset: Int

  package func isNamed(_ text: StaticString, _ bytes: RawSpan) -> Bool {
    guard name.count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { expected in
      for index in 0..<name.count where unsafe bytes.uint8(at: name.offset + index) != expected[index] { return false }
      return true
    }
  }

  /// The build id of the file; nil if the note has none.
  package func buildID(_ bytes: RawSpan) -> ByteRange? {
    guard type == Self.buildID, (1...Self.maximumBuildID).contains(content.count), isNamed("GNU", bytes) else {
      return nil
    }
    return content
  }
}

/// The consecutive notes of one segment or section.
package struct ElfNotes {
  private let range: ByteRange
  private let mask: Int
  private let isBigEndian: Bool
  private var place = 0
  /// The offset of a note that does not fit into the segment. No notes are read after it.
  package private(set) var fault: Int?

  /// - Parameters:
  ///   - range: the range of the segment in the file.
  ///   - alignment: the alignment of the segment. Notes are aligned to 8 bytes if it is 8, otherwise to 4.
  package init(_ range: ByteRange, alignment: UInt64, isBigEndian: Bool = false) {
    self.range = range
    mask = alignment == 8 ? 7 : 3
    self.isBigEndian = isBigEndian
  }

  package mutating func next(_ bytes: RawSpan) -> ElfNote? {
    guard place < range.count, fault == nil else { return nil }
    let start = range.offset + place
    guard range.count - place >= 12 else {
      // Zero padding after the last note is not a fault.
      fault = bytes.firstNonZero(in: ByteRange(offset: start, count: range.count - place))
      place = range.count
      return nil
    }
    let isBigEndian = isBigEndian
    func word(_ index: Int) -> Int { Int(bytes.number(at: start + 4 * index, size: 4, isBigEndian)) }
    let (nameSize, size) = (word(0), word(1))
    let content = (place + 12 + nameSize + mask) & ~mask
    guard content <= range.count, size <= range.count - content else {
      fault = start
      return nil
    }
    place = (content + size + mask) & ~mask
    var nameCount = nameSize
    if nameCount > 0, bytes.uint8(at: start + 12 + nameCount - 1) == 0 { nameCount -= 1 }
    return ElfNote(
      type: UInt32(word(2)), name: ByteRange(offset: start + 12, count: nameCount),
      content: ByteRange(offset: range.offset + content, count: size), offset: start)
  }
}

extension RawSpan {
  /// The offset of the first byte of `range` that is not zero.
  fileprivate func firstNonZero(in range: ByteRange) -> Int? {
    (range.offset..<range.end).first { uint8(at: $0) != 0 }
  }
}
