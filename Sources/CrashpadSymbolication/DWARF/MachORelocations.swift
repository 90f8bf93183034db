// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

/// The relocations of one debug section of a Mach-O object file. Its sections have addresses of their own, so what refers to a
/// section is right in the file; what refers to a symbol lacks the symbol's address.
///
/// Source: Apple's mach-o/reloc.h, mach-o/x86_64/reloc.h and mach-o/arm64/reloc.h.
struct MachORelocations {
  private let file: MachOFile
  private let table: ByteRange
  /// The type of a relocation that subtracts a symbol's address. The next one is for the same place.
  private let subtraction: UInt32

  /// Nil if there are none for `section`.
  init?(_ file: MachOFile, _ section: MachOSection) {
    guard let table = section.relocations else { return nil }
    (self.file, self.table) = (file, table)
    subtraction = file.architecture.isX86_64 ? 5 : 1
  }

  /// A copy with the relocations applied.
  func apply(to bytes: SharedBytes) -> SharedBytes? {
    unsafe SharedBytes(count: bytes.count) { target in
      unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      file.file.withBytes { input in
        for place in stride(from: table.offset, to: table.end - 7, by: 8) {
          let (offset, bits) = (Int(input.int32(at: place)), input.uint32(at: place + 4))
          let (isExternal, type, size) = (bits >> 27 & 1 == 1, bits >> 28, 1 << Int(bits >> 25 & 3))
          guard isExternal, type == 0 || type == subtraction, size >= 4, offset >= 0, offset <= bytes.count - size,
            let address = symbolAddress(Int(bits & 0xff_ffff), input)
          else { continue }
          let change = type == 0 ? address : 0 &- address
          if size == 8 {
            let value = unsafe target.loadUnaligned(fromByteOffset: offset, as: UInt64.self) &+ change
            unsafe target.storeBytes(of: value, toByteOffset: offset, as: UInt64.self)
          } else {
            let value = unsafe target.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            unsafe target.storeBytes(
              of: value &+ UInt32(truncatingIfNeeded: change), toByteOffset: offset, as: UInt32.self)
          }
        }
      }
      return true
    }
  }

  private func symbolAddress(_ index: Int, _ input: RawSpan) -> UInt64? {
    guard let symbols = file.symbolTable, index < symbols.entries.count / symbols.entrySize else { return nil }
    let place = symbols.entries.offset + index * symbols.entrySize
    return file.addressSize == 4 ? UInt64(input.uint32(at: place + 8)) : input.uint64(at: place + 8)
  }
}
