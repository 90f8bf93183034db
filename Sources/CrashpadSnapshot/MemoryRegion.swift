// SPDX-License-Identifier: Apache-2.0
/// A contiguous range of captured memory.
@frozen
public struct MemoryRegion: Sendable, Hashable {
  /// The address of the first byte.
  public var address: UInt64
  /// The captured bytes.
  public var content: SnapshotBytes

  /// The memory `content` at `address`.
  @inlinable
  public init(address: UInt64, content: SnapshotBytes) {
    self.address = address
    self.content = content
  }

  /// The address after the last byte; nil if it is 2^64 or more.
  @inlinable
  public var end: UInt64? {
    let (end, overflow) = address.addingReportingOverflow(UInt64(content.count))
    return overflow ? nil : end
  }
}

/// A function that a program made while it ran, and told Windows of.
package struct MadeFunction: Sendable, Hashable {
  package let address: UInt64
  /// The address behind its last byte.
  package let end: UInt64

  package init(address: UInt64, end: UInt64) { (self.address, self.end) = (address, end) }
}

/// A range of the address space with its state, as in the memory info lists of Windows and Breakpad.
package struct MemoryMapRegion: Sendable, Hashable {
  package var address: UInt64
  package var size: UInt64
  /// The state as on Windows: MEM_COMMIT 0x1000, MEM_FREE 0x10000, MEM_RESERVE 0x2000.
  package var state: UInt32
  /// The PAGE_* bits as on Windows.
  package var protection: UInt32

  package init(address: UInt64, size: UInt64, state: UInt32, protection: UInt32) {
    self.address = address
    self.size = size
    self.state = state
    self.protection = protection
  }
}
