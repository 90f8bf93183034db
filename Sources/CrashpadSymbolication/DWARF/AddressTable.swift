// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// The addresses of one unit in `.debug_addr`.
struct AddressTable {
  let bytes: SharedBytes
  let base: UInt64
  let format: DwarfFormat

  subscript(index: UInt64) -> UInt64? {
    format.entry(index, of: bytes, at: base, size: format.addressSize)
  }

  @inline(__always)
  func value(of address: DwarfAddress) -> UInt64? {
    switch address {
    case .value(let value): value
    case .index(let index): self[index]
    }
  }
}
