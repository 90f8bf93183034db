// SPDX-License-Identifier: Apache-2.0
/// The installations that crashes came from, as far as these name one.
package struct Installations: Sendable, Hashable {
  /// Digests: an id may be long, and there may be a million.
  private(set) var digests: Set<UInt64> = []
  /// The number of crashes that name their installation.
  package private(set) var crashCount = 0

  package init() {}

  init(digests: Set<UInt64>, crashCount: Int) {
    self.digests = digests
    self.crashCount = crashCount
  }

  /// The number of different ones.
  package var count: Int { digests.count }

  mutating func add(_ client: String, crashes: Int = 1) {
    digests.insert(Self.digest(client))
    crashCount += crashes
  }

  package mutating func add(_ other: Installations) {
    digests.formUnion(other.digests)
    crashCount += other.crashCount
  }

  /// FNV-1a, the same in each run.
  private static func digest(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
