internal import CrashpadBytes
internal import CrashpadSnapshot

/// Facts from the first page of an ELF file, if the core contains that page.
struct ElfImage {
  /// The size in memory, in bytes; nil if the program headers are not in the core.
  private(set) var size: UInt64?
  private(set) var isFixed: Bool
  private(set) var buildID: Content?
  /// LINUX_VERSION_CODE, in the vDSO
  private(set) var kernelVersion: UInt32?

  /// Longer build ids are ignored: linkers write 8 to 20 bytes, and the longest digest has 64.
  private static let maximumBuildID = 64

  /// Nil if there is no ELF header at `address` in the core. `budget` is the number of bytes that may still be
  /// searched.
  init?(at address: UInt64, in space: AddressSpace, pageSize: UInt64, budget: inout Int, _ bytes: RawSpan) {
    guard let header = space.bytes(at: address, count: CoreFormat.headerSize),
      bytes.uint32(at: header.offset) == CoreFormat.magic,
      bytes.uint16(at: header.offset + 4) == CoreFormat.class64LittleEndian
    else { return nil }
    isFixed = bytes.uint16(at: header.offset + 16) == CoreFormat.typeExecutable
    let entrySize = Int(bytes.uint16(at: header.offset + 54))
    let count = Int(bytes.uint16(at: header.offset + 56))
    guard entrySize >= CoreFormat.programHeaderSize,
      let headers = space.bytes(
        at: address &+ bytes.uint64(at: header.offset + 32), count: entrySize * count),
      entrySize * count <= budget
    else { return }
    budget -= entrySize * count
    let segments = (0..<count).map { ProgramHeader(at: headers.offset + $0 * entrySize, bytes) }
    var first: UInt64?
    var end: UInt64 = 0
    for segment in segments where segment.type == CoreFormat.segmentLoad {
      if first == nil { first = segment.address & ~(pageSize - 1) }
      let (last, overflow) = segment.address.addingReportingOverflow(segment.memorySize)
      if !overflow { end = max(end, last) }
    }
    guard let first else { return }
    if end > first, end <= UInt64.max - pageSize { size = (end - first + pageSize - 1) & ~(pageSize - 1) }
    for segment in segments where segment.type == CoreFormat.segmentNote {
      // The kernel writes only the first page of a file, which usually contains the notes.
      guard let place = space.bytes(from: address &+ (segment.address &- first)) else { continue }
      readNotes(place, Int(clamping: segment.fileSize), alignment: segment.alignment, &budget, bytes)
    }
  }

  private mutating func readNotes(
    _ place: ByteRange, _ size: Int, alignment: UInt64, _ budget: inout Int, _ bytes: RawSpan
  ) {
    let range = ByteRange(offset: place.offset, count: min(place.count, size))
    guard range.count <= budget else { return }
    budget -= range.count
    var notes = ElfNotes(range, alignment: alignment)
    while let note = notes.next(bytes) {
      if note.type == CoreFormat.noteBuildID, note.isNamed("GNU", bytes),
        (1...Self.maximumBuildID).contains(note.content.count), buildID == nil
      {
        buildID = Content(inputOffset: note.content.offset, count: note.content.count)
      }
      if note.type == CoreFormat.noteKernelVersion, note.isNamed("Linux", bytes), note.content.count >= 4 {
        kernelVersion = bytes.uint32(at: note.content.offset)
      }
    }
  }
}
