// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot

/// An address that the program may have meant, if a fault of the memory changed one bit of it. It is a possibility and never
/// more; the names of its facts, and the way in which they are weighed, are those of rust-minidump.
package struct BitFlip: Sendable, Hashable {
  package let address: UInt64
  /// The register that has the changed address; nil for the address that was accessed.
  package let register: String?
  /// Whether no pointer can have the address that was accessed.
  package let wasNonCanonical: Bool
  package let isNull: Bool
  /// Whether the address became 0 from a small one, which programs have without a fault.
  package let wasLow: Bool
  /// The registers with a value near the address; 0 for low addresses.
  package let nearbyRegisters: Int
  /// Whether a register has a pattern with which allocators fill memory that was freed.
  package let hasPoison: Bool

  /// From 0 to 1000.
  package var confidence: Int {
    var doubts = [0.75]
    if wasNonCanonical { doubts.append(0.1) }
    if isNull { doubts.append(wasLow ? 0.75 : 0.5) }
    if nearbyRegisters > 0 { doubts.append([0.5, 0.45, 0.4, 0.35][min(nearbyRegisters, 4) - 1]) }
    let likelihood = 1 - doubts.reduce(1, *)
    return Int((1000 * (hasPoison ? likelihood / 2 : likelihood)).rounded())
  }
}

/// Looks for flipped bits in the address of a crash on x86-64.
package struct BitFlipSearch {
  /// The registers at the crash.
  let registers: [CPUContext.NamedRegister]
  /// The memory of the process, by address.
  let ranges: [ListedMemory.Range]
  /// The access that failed; empty if it is not known.
  let access: ListedMemory.Protection
  /// Whether no pointer can have the address of the access.
  let isNonCanonical: Bool
  /// Bytes of the access.
  let size: Int?

  package init(
    _ context: CPUContext, _ ranges: [ListedMemory.Range], access: ListedMemory.Protection, isNonCanonical: Bool,
    size: Int?
  ) {
    registers = context.generalRegisters.filter { !["rflags", "cs", "fs", "gs"].contains($0.name) }
    self.ranges = ranges
    self.access = access
    self.isNonCanonical = isNonCanonical
    self.size = size
  }

  /// Addresses near another, and those that programs have without a fault.
  private static let near: UInt64 = 4096
  private static let low = 2 * near

  /// The mapped addresses that differ from `address` in one bit.
  ///
  /// - Parameter register: the register that has the address.
  package func flips(of address: UInt64, register: String? = nil) -> [BitFlip] {
    // An address below the first page is an offset from 0 and needs no fault of the memory.
    if address < Self.near || isMapped(address) || isBesideMapping(address) { return [] }
    return (isNonCanonical ? 48..<64 : 0..<48).compactMap { bit in
      let flipped = address ^ 1 << UInt64(bit)
      // A register that is 0 leaves what is added to it.
      return flipped == 0 && register == nil || isMapped(flipped) ? flip(flipped, of: address, register) : nil
    }
  }

  private func isMapped(_ address: UInt64) -> Bool {
    ListedMemory.index(of: address, in: ranges).map { allows(ranges[$0]) } ?? false
  }

  private func allows(_ range: ListedMemory.Range) -> Bool {
    access.isEmpty ? !range.protection.isEmpty : range.protection.isSuperset(of: access)
  }

  /// Whether the access only went beyond the end of something.
  private func isBesideMapping(_ address: UInt64) -> Bool {
    guard let size else { return false }
    return ranges.contains { range in
      guard allows(range) else { return false }
      // Ranges of a damaged list may overlap.
      let distance = address < range.start ? range.start - address : address - min(address, range.last)
      return distance < UInt64(size)
    }
  }

  private func flip(_ address: UInt64, of original: UInt64, _ register: String?) -> BitFlip {
    let nearby = address > Self.low ? registers.count { $0.value.distance(from: address) <= Self.near } : 0
    return BitFlip(
      address: address, register: register, wasNonCanonical: isNonCanonical, isNull: address == 0,
      wasLow: address == 0 && original <= Self.low, nearbyRegisters: nearby,
      hasPoison: registers.contains { Self.isPoison($0.value) })
  }

  /// Bytes with which allocators fill memory. Source: Mozilla, js/src/util/Poison.h; mozjemalloc; jemalloc
  private static let poison: Set<UInt8> = [
    0x2b, 0x2d, 0x2f, 0x49, 0x4b, 0x4d, 0x4f, 0x6b, 0x8b, 0x9b, 0x9f, 0xa5, 0xbb, 0xcc, 0xcd, 0xce, 0xdb, 0xe5,
  ]

  private static func isPoison(_ value: UInt64) -> Bool {
    let byte = UInt8(truncatingIfNeeded: value)
    return value == UInt64(byte) &* 0x0101_0101_0101_0101 && poison.contains(byte)
  }
}

extension UInt64 {
  fileprivate func distance(from other: UInt64) -> UInt64 { self > other ? self - other : other - self }
}
