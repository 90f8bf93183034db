// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadFiles
internal import CrashpadSnapshot

extension MachOFile {
  /// The slices of a universal file, in file order; for a plain Mach-O file, one slice for the whole file. Slices that
  /// are not completely in the file are dropped, with a finding.
  package static func slices(of file: InputFile) -> (slices: [MachOSlice], findings: FindingList) {
    file.withBytes { bytes in
      guard bytes.byteCount >= 12 else { return ([], FindingList()) }
      switch bytes.uint32(at: 0) {
      case 0xfeed_facf, 0xfeed_face:
        let architecture = MachOArchitecture(type: bytes.uint32(at: 4), subtype: bytes.uint32(at: 8))
        let whole = ByteRange(offset: 0, count: bytes.byteCount)
        return ([MachOSlice(architecture: architecture, range: whole)], FindingList())
      default: return MachOSlice.isUniversal(bytes) ? universalSlices(bytes) : ([], FindingList())
      }
    }
  }

  /// The slices of `file` that can be read.
  static func all(in file: InputFile) -> [MachOFile] {
    slices(of: file).slices.compactMap { try? MachOFile(file, in: $0.range) }
  }

  /// The UUID of a file for one architecture, from its first bytes; nil if they do not have all load commands, or no UUID.
  static func uuid(inStart bytes: RawSpan) -> UUIDBytes? {
    guard case .success(let header) = MachOHeader.read(bytes), header.size + header.commandBytes <= bytes.byteCount
    else { return nil }
    return MachOCommands(uuidIn: bytes, header).uuid
  }

  private static func universalSlices(_ bytes: RawSpan) -> (slices: [MachOSlice], findings: FindingList) {
    var slices: [MachOSlice] = []
    var findings = FindingList()
    let isWide = bytes.uint32(at: 0).byteSwapped == MachOSlice.magic64
    let size = isWide ? 32 : 20
    for index in 0..<Int(bytes.uint32(at: 4).byteSwapped) {
      let place = 8 + index * size
      let path = "fat_arch[\(index)]"
      guard bytes.byteCount - place >= size else {
        findings.append(Finding(MachORules.badSlice, at: bytes.byteCount, path: path))
        break
      }
      let (offset, count) =
        isWide
        ? (bytes.uint64(at: place + 8).byteSwapped, bytes.uint64(at: place + 16).byteSwapped)
        : (UInt64(bytes.uint32(at: place + 8).byteSwapped), UInt64(bytes.uint32(at: place + 12).byteSwapped))
      guard let range = ByteRange(offset, count, within: bytes.byteCount) else {
        findings.append(
          Finding(
            MachORules.badSlice, at: place, path: path, expected: .byteCount(UInt64(bytes.byteCount)),
            found: .byteCount(count)))
        continue
      }
      let architecture = MachOArchitecture(
        type: bytes.uint32(at: place).byteSwapped, subtype: bytes.uint32(at: place + 4).byteSwapped)
      slices.append(MachOSlice(architecture: architecture, range: range))
    }
    return (slices, findings)
  }
}

extension ByteRange {
  /// Nil if the range is not within the first `limit` bytes.
  init?(_ offset: UInt64, _ count: UInt64, within limit: Int) {
    guard offset <= UInt64(limit), count <= UInt64(limit) - offset else { return nil }
    self.init(offset: Int(offset), count: Int(count))
  }
}
