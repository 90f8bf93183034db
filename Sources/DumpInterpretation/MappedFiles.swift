// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The files in the text of /proc/PID/maps, with lines such as
/// `7f5d5a000000-7f5d5a001000 r-xp 00000000 08:01 1234   /usr/lib/libc.so.6`.
struct MappedFiles {
  private struct Row {
    let start: UInt64
    let end: UInt64
    let path: SnapshotBytes
  }

  private var rows: [Row] = []

  init(_ text: SnapshotBytes, _ bytes: RawSpan) {
    var place = text.offset
    let end = min(text.offset + text.count, bytes.byteCount)
    while place < end {
      var lineEnd = place
      while lineEnd < end, bytes.uint8(at: lineEnd) != UInt8(ascii: "\n") { lineEnd += 1 }
      if let row = Self.row(place, lineEnd, bytes) { rows.append(row) }
      place = lineEnd + 1
    }
    // The kernel's lines are in order.
    rows.sort { ($0.start, $0.end) < ($1.start, $1.end) }
  }

  private static let removed = Array(" (deleted)".utf8)
  /// A line feed in a path as the kernel writes it. A file's own name may have these characters.
  private static let lineFeed = Array("\\012".utf8)

  /// Nil for memory without a file, or if its path is not known for sure.
  private static func row(_ start: Int, _ end: Int, _ bytes: RawSpan) -> Row? {
    var place = start
    guard let first = hexadecimal(&place, end, UInt8(ascii: "-"), bytes),
      let last = hexadecimal(&place, end, UInt8(ascii: " "), bytes), first < last
    else { return nil }
    // No field before the path has a slash.
    while place < end, bytes.uint8(at: place) != UInt8(ascii: "/") { place += 1 }
    guard place < end, !(place..<end).contains(where: { has(lineFeed, $0, end, bytes) }) else { return nil }
    let pathEnd = has(removed, max(place, end - removed.count), end, bytes) ? end - removed.count : end
    return Row(start: first, end: last, path: SnapshotBytes(inputOffset: place, count: pathEnd - place))
  }

  private static func has(_ text: [UInt8], _ start: Int, _ end: Int, _ bytes: RawSpan) -> Bool {
    end - start >= text.count && text.indices.allSatisfy { bytes.uint8(at: start + $0) == text[$0] }
  }

  /// The number before `separator`, which is skipped.
  private static func hexadecimal(_ place: inout Int, _ end: Int, _ separator: UInt8, _ bytes: RawSpan) -> UInt64? {
    var number: UInt64 = 0
    let start = place
    while place < end, place - start <= 16 {
      let byte = bytes.uint8(at: place)
      place += 1
      if byte == separator { return place - start > 1 ? number : nil }
      guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
      number = number << 4 | UInt64(digit)
    }
    return nil
  }

  /// The path of the file that is mapped at the address; nil if none is.
  func path(at address: UInt64) -> SnapshotBytes? {
    let behind = rows.indices.partitioningIndex { rows[$0].start > address }
    guard behind > 0, address < rows[behind - 1].end else { return nil }
    return rows[behind - 1].path
  }
}

extension DumpInterpreter {
  /// Gives modules the paths of their files where the loader was given names that only lead its own process there: a program may
  /// load `./plugin.so`, and change its directory afterwards, or a file that it opened by /proc/self/fd/3.
  mutating func completeModuleNames(_ bytes: RawSpan) {
    guard let maps = snapshot.linux?.maps else { return }
    let own = snapshot.modules.indices.filter { index in
      guard let name = snapshot.modules[index].name, !name.isEmpty, !name.isInArena else { return false }
      return !isSharedPath(bytes.array(in: ByteRange(offset: name.offset, count: min(name.count, 8))))
    }
    if own.isEmpty { return }
    let files = MappedFiles(maps, bytes)
    for index in own {
      guard let address = snapshot.modules[index].address, let path = files.path(at: address) else { continue }
      snapshot.modules[index].name = path
      if snapshot.modules[index].debugName != nil { snapshot.modules[index].debugName = Self.baseName(path, bytes) }
    }
  }
}
