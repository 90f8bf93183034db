// SPDX-License-Identifier: Apache-2.0

/// The code of a Mach-O file that is not in the file itself.
protocol CodeSource: AnyObject, Sendable {
  /// `count` bytes at an address, 1 or 4, little-endian; nil if there are none.
  func code(at address: UInt64, count: Int) -> UInt32?
}
