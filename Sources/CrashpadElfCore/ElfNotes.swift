internal import CrashpadBytes

/// One note.
struct ElfNote {
  let type: UInt32
  /// The name without its NUL.
  let name: ByteRange
  let content: ByteRange
  /// The offset of the note in the file.
  let offset: Int

  func isNamed(_ text: StaticString, _ bytes: RawSpan) -> Bool {
    guard name.count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { expected in
      for index in 0..<name.count where unsafe bytes.uint8(at: name.offset + index) != expected[index] { return false }
      return true
    }
  }
}

/// The consecutive notes of one segment.
struct ElfNotes {
  private let range: ByteRange
  private let mask: Int
  private var place = 0
  /// The offset of a note that does not fit into the segment. No notes are read after it.
  private(set) var fault: Int?

  /// - Parameters:
  ///   - range: the range of the segment in the file.
  ///   - alignment: the alignment of the segment. Notes are aligned to 8 bytes if it is 8, otherwise to 4.
  init(_ range: ByteRange, alignment: UInt64) {
    self.range = range
    mask = alignment == 8 ? 7 : 3
  }

  mutating func next(_ bytes: RawSpan) -> ElfNote? {
    guard place < range.count, fault == nil else { return nil }
    let start = range.offset + place
    guard range.count - place >= 12 else {
      // Zero padding after the last note is not a fault.
      fault = bytes.firstNonZero(in: ByteRange(offset: start, count: range.count - place))
      place = range.count
      return nil
    }
    let nameSize = Int(bytes.uint32(at: start))
    let size = Int(bytes.uint32(at: start + 4))
    let content = (place + 12 + nameSize + mask) & ~mask
    guard content <= range.count, size <= range.count - content else {
      fault = start
      return nil
    }
    place = (content + size + mask) & ~mask
    var nameCount = nameSize
    if nameCount > 0, bytes.uint8(at: start + 12 + nameCount - 1) == 0 { nameCount -= 1 }
    return ElfNote(
      type: bytes.uint32(at: start + 8), name: ByteRange(offset: start + 12, count: nameCount),
      content: ByteRange(offset: range.offset + content, count: size), offset: start)
  }
}

extension RawSpan {
  /// The offset of the first byte of `range` that is not zero.
  fileprivate func firstNonZero(in range: ByteRange) -> Int? {
    (range.offset..<range.end).first { uint8(at: $0) != 0 }
  }
}
