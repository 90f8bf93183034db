// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot

extension ProcessSnapshot {
  /// The vDSO has two or three pages.
  private static var maximumImage: Int { 64 * 1024 }

  /// The captured memory of a module from its start on, up to the size of the kernel's vDSO, which is in no file. Nil if the
  /// first byte was not captured.
  func kernelImage(_ module: ModuleSnapshot, _ file: InputFile) -> SharedBytes? {
    guard let address = module.address, let size = module.size else { return nil }
    let region = (extraMemory + intermediateDumpExtraMemory).first {
      address >= $0.address && address - $0.address < UInt64($0.content.count)
    }
    guard let region, case let start = Int(address - region.address) else { return nil }
    // The sections are described behind what is loaded, in the last page.
    let pages = size > UInt64(Self.maximumImage) ? size : (size + 0xfff) & ~0xfff
    let count = min(Int(clamping: pages), region.content.count - start, Self.maximumImage)
    let bytes = file.withBytes { self.bytes(of: region.content.part(at: start, count: count), in: $0) }
    return unsafe SharedBytes(count: bytes.count) { target in
      unsafe target.copyBytes(from: bytes)
      return true
    }
  }
}
