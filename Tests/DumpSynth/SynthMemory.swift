// SPDX-License-Identifier: Apache-2.0
/// The memory of a process that never ran: a byte is a function of its address.
///
/// Two regions that overlap therefore agree, as they do in a real process, and a test can compute what any region of a
/// minidump has to contain. Half of the 64-byte lines are zero, because real stacks compress that well.
public struct SynthMemory: Sendable {
  private let seed: UInt64
  /// Words that mean something (frame records), by ascending address; each address is a multiple of 8.
  private var words: [(address: UInt64, value: UInt64)] = []

  public init(seed: UInt64) {
    self.seed = SplitMix64.mix(seed ^ 0x6d65_6d6f_7279)
  }

  mutating func set(_ more: [(address: UInt64, value: UInt64)]) {
    words.append(contentsOf: more)
    words.sort { $0.address < $1.address }
  }

  /// The word at a multiple of 8.
  public func word(at address: UInt64) -> UInt64 {
    let index = firstIndex(notBelow: address)
    if index < words.count, words[index].address == address { return words[index].value }
    return filler(at: address)
  }

  /// `count` bytes from any address; an address space that ends goes on at 0.
  public func bytes(at address: UInt64, count: Int) -> [UInt8] {
    guard count > 0 else { return [] }
    let start = address & ~7
    let lead = Int(address - start)
    let wordCount = (lead + count + 7) / 8
    var out: [UInt8] = []
    out.reserveCapacity(wordCount * 8)
    var at = start
    for _ in 0..<wordCount {
      out.append(little: filler(at: at))
      at &+= 8
    }
    var index = firstIndex(notBelow: start)
    while index < words.count, words[index].address - start < UInt64(wordCount * 8) {
      out.overwrite(words[index].value, width: 8, at: Int(words[index].address - start))
      index += 1
    }
    out.removeLast(out.count - lead - count)
    if lead > 0 { out.removeFirst(lead) }
    return out
  }

  private func filler(at address: UInt64) -> UInt64 {
    let line = SplitMix64.mix(seed ^ (address >> 6))
    return line & 1 == 0 ? 0 : (line ^ (address &* 0x9e37_79b9_7f4a_7c15))
  }

  private func firstIndex(notBelow address: UInt64) -> Int {
    var low = 0
    var high = words.count
    while low < high {
      let middle = (low + high) / 2
      if words[middle].address < address { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
