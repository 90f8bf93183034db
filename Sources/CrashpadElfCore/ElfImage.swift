// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Facts from the first page of an ELF file, if the core contains that page.
struct ElfImage {
  /// The size in memory, in bytes; nil if the program headers are not in the core.
  private(set) var size: UInt64?
  /// The distances from the beginning of the image at which the file's first page is mapped: several segments may share it.
  private(set) var beginnings: [UInt64] = [0]
  /// Whether a segment is code.
  private(set) var hasCode = false
  private(set) var isFixed: Bool
  private(set) var buildID: SnapshotBytes?
  /// LINUX_VERSION_CODE, in the vDSO
  private(set) var kernelVersion: UInt32?

  /// Nil if there is no ELF header at `address` in the core. `budget` is the number of bytes that may still be
  /// searched.
  init?(at address: UInt64, in space: AddressSpace, pageSize: UInt64, budget: inout Int, _ bytes: RawSpan) {
    guard let place = space.bytes(at: address, count: ElfHeader.maximumSize),
      let header = ElfHeader(bytes, at: place.offset), !header.isBigEndian
    else { return nil }
    isFixed = header.type == CoreFormat.typeExecutable
    let (entrySize, count) = (header.segmentEntrySize, header.segmentField)
    guard entrySize >= header.minimumEntrySize,
      let table = space.bytes(at: address &+ header.segmentTable, count: entrySize * count),
      entrySize * count <= budget
    else { return }
    budget -= entrySize * count
    let segments = (0..<count).map { header.segment(at: table.offset + $0 * entrySize, bytes) }
    var first: UInt64?
    var end: UInt64 = 0
    for segment in segments where segment.type == ElfSegment.load {
      let start = segment.address & ~(pageSize - 1)
      if first == nil { first = start }
      if segment.offset < pageSize, let first { beginnings.append(start &- first) }
      hasCode = hasCode || segment.isExecutable
      let (last, overflow) = segment.address.addingReportingOverflow(segment.memorySize)
      if !overflow { end = max(end, last) }
    }
    guard let first else { return }
    if end > first, end <= UInt64.max - pageSize { size = (end - first + pageSize - 1) & ~(pageSize - 1) }
    for segment in segments where segment.type == ElfSegment.note {
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
      if buildID == nil, let id = note.buildID(bytes) {
        buildID = SnapshotBytes(inputOffset: id.offset, count: id.count)
      }
      if note.type == CoreFormat.noteKernelVersion, note.isNamed("Linux", bytes), note.content.count >= 4 {
        kernelVersion = bytes.uint32(at: note.content.offset)
      }
    }
  }
}
