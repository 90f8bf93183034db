// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The addresses of a shared cache, and the files in which their bytes are.
final class SharedCacheSpace: CodeSource {
  private struct Region: Sendable {
    let address: UInt64
    /// The range in the file.
    let range: ByteRange
    let file: InputFile
  }

  private let regions: [Region]

  /// Mappings beyond the end of their file are read as far as it goes.
  init(_ files: [(file: InputFile, mappings: [SharedCacheHeader.Mapping])]) {
    var regions: [Region] = []
    for (file, mappings) in files {
      for mapping in mappings where mapping.fileOffset < UInt64(file.byteCount) {
        let count = min(mapping.size, UInt64(file.byteCount) - mapping.fileOffset)
        let range = ByteRange(offset: Int(mapping.fileOffset), count: Int(count))
        regions.append(Region(address: mapping.address, range: range, file: file))
      }
    }
    self.regions = regions.sorted { $0.address < $1.address }
  }

  private func region(_ address: UInt64) -> (region: Region, offset: UInt64)? {
    let next = regions.indices.partitioningIndex { regions[$0].address > address }
    guard next > 0 else { return nil }
    let region = regions[next - 1]
    let offset = address - region.address
    return offset < UInt64(region.range.count) ? (region, offset) : nil
  }

  /// The bytes from an address to the end of what is mapped there; empty if nothing is.
  func bytes(from address: UInt64) -> SharedBytes {
    guard let (region, offset) = region(address) else { return SharedBytes() }
    return region.file.shared.part(
      UInt64(region.range.offset) + offset, UInt64(region.range.count) - offset)
  }

  /// The bytes of a range; empty if they are not all there.
  func bytes(_ address: UInt64, _ count: UInt64) -> SharedBytes { bytes(from: address).part(0, count) }

  /// The offset of an address in its file; nil if there is none.
  func fileOffset(of address: UInt64) -> UInt64? {
    region(address).map { UInt64($0.region.range.offset) + $0.offset }
  }

  func code(at address: UInt64, count: Int) -> UInt32? {
    let code = bytes(address, UInt64(count))
    return code.isEmpty ? nil : code.withBytes { UInt32($0.number(at: 0, size: count, isSigned: false)) }
  }
}
