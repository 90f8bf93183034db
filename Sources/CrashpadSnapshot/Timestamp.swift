// SPDX-License-Identifier: Apache-2.0
/// Seconds since 1970, or a duration, plus microseconds, which may be out of range in a damaged input.
public struct Timestamp: Sendable, Hashable {
  /// Seconds since 1970, UTC.
  public var seconds: Int64
  /// Microseconds within the second.
  public var microseconds: Int32

  package init(seconds: Int64, microseconds: Int32 = 0) {
    self.seconds = seconds
    self.microseconds = microseconds
  }
}
