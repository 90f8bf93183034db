// SPDX-License-Identifier: Apache-2.0
/// A small seeded generator, so that every dump and every damage can be made again from one printed number.
///
/// SplitMix64 (Steele, Lea, Flood 2014): one addition and one mixing step for each output, every seed is good.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) {
    state = seed
  }

  /// An independent stream for one area of a dump: more threads then do not change the modules.
  public init(seed: UInt64, area: UInt64) {
    state = Self.mix(seed &+ Self.mix(area &+ 0x5f3c_91d7))
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return Self.mix(state)
  }

  /// A number in `0..<bound`; 0 when `bound` is 0. The bias is below 2^-32 for the bounds that occur here.
  public mutating func below(_ bound: Int) -> Int {
    bound <= 0 ? 0 : Int(truncatingIfNeeded: next() >> 1) % bound
  }

  /// A number in the closed range.
  public mutating func between(_ low: Int, _ high: Int) -> Int {
    low + below(high - low + 1)
  }

  /// True once in `n` times.
  public mutating func oneIn(_ n: Int) -> Bool {
    below(n) == 0
  }

  public mutating func bytes(_ count: Int) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(count + 8)
    while out.count < count { out.append(little: next()) }
    out.removeLast(out.count - count)
    return out
  }

  /// The finalizer alone: a good hash of a 64-bit word.
  public static func mix(_ word: UInt64) -> UInt64 {
    var z = word
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
