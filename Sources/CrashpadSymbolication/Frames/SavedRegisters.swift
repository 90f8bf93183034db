// SPDX-License-Identifier: Apache-2.0
/// The places in which the first instructions of a function saved registers of its caller.
struct SavedRegisters {
  /// The caller's stack pointer.
  let stackPointer: UInt64
  /// The distances of the registers below that.
  let depths: [Int: UInt64]

  /// The place of a register; nil if it was not saved.
  func place(_ register: Int) -> UInt64? { depths[register].map { stackPointer &- $0 } }
}
