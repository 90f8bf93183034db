// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles

/// Compressed files, zip and tar archives: what they hold is unpacked, or refused.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  let file = InputFile(bytes: bytes)
  let span = unsafe bytes.span.bytes
  if let compression = Compression.of(span) { _ = try? Decompression.unpack(span, compression, like: file) }
  readTar(bytes, inPiecesOf: size)
  guard let archive = ZipArchive(span) else { return 0 }
  for member in archive.members.prefix(4) {
    _ = try? archive.start(of: member, in: span, count: 1024)
    _ = try? archive.unpack(member, in: span, like: file)
  }
  return 0
}

/// The same members come out of any pieces.
private func readTar(_ bytes: [UInt8], inPiecesOf size: Int) {
  let whole = TarCounter()
  let isWhole = whole.reads(bytes, max(size, 1))
  let pieces = TarCounter()
  precondition(pieces.reads(bytes, size % 700 + 1) == isWhole)
  precondition(whole.facts == pieces.facts)
}

private final class TarCounter: TarVisitor {
  private(set) var facts: [String] = []
  private var count = 0

  func reads(_ bytes: [UInt8], _ size: Int) -> Bool {
    var reader = TarReader()
    do {
      for offset in stride(from: 0, to: bytes.count, by: size) {
        let piece = Array(bytes[offset..<min(offset + size, bytes.count)])
        try unsafe reader.read(piece.span.bytes, self)
      }
      try reader.finish()
      return true
    } catch { return false }
  }

  func begin(_ member: TarMember) -> Bool {
    precondition(member.size >= 0 && !member.name.utf8.contains(0))
    facts.append("\(member.name) \(member.kind) \(member.size)")
    count = 0
    return member.kind == .file
  }

  func content(_ bytes: RawSpan) -> Bool {
    count += bytes.byteCount
    return true
  }

  func end() { facts.append("\(count)") }
}
