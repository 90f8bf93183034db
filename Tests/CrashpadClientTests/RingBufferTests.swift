// SPDX-License-Identifier: Apache-2.0
import CrashpadClient
import Testing

/// Reads what Crashpad's `LengthDelimitedRingBufferReader` reads, as its header has the format.
private struct RingReader {
  var items: [[UInt8]] = []
  var dataRange: (offset: Int, length: Int)

  init?(_ bytes: [UInt8], capacity: Int) {
    func number(_ offset: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) } }
    guard bytes.count >= 16, bytes.count <= 16 + capacity, number(0) == 0xcab0_0d1e, number(4) == 1 else { return nil }
    dataRange = (number(8), number(12))
    let ring = Array(bytes[16...]) + [UInt8](repeating: 0, count: capacity - (bytes.count - 16))
    var (offset, rest) = dataRange
    func next() -> UInt8? {
      guard rest > 0 else { return nil }
      defer {
        offset = (offset + 1) % capacity
        rest -= 1
      }
      return ring[offset]
    }
    while rest > 0 {
      var length = 0
      var shift = 0
      while true {
        guard let byte = next() else { return nil }
        length |= Int(byte & 0x7f) << shift
        shift += 7
        if byte & 0x80 == 0 { break }
      }
      guard length > 0 else { return nil }
      var item: [UInt8] = []
      for _ in 0..<length {
        guard let byte = next() else { return nil }
        item.append(byte)
      }
      items.append(item)
    }
  }
}

@Suite("Ring buffer annotations")
struct RingBufferTests {
  @Test("Items come back in order")
  func order() throws {
    let ring = RingBufferAnnotation("ring", capacity: 100)
    #expect(ring.bytes.isEmpty)
    for item in ["one", "two", "three"] { #expect(ring.push(item)) }
    let reader = try #require(RingReader(ring.bytes, capacity: 100))
    #expect(reader.items == ["one", "two", "three"].map { Array($0.utf8) })
  }

  @Test("An empty item and one that is too large are refused")
  func refused() throws {
    let ring = RingBufferAnnotation("ring", capacity: 10)
    #expect(!ring.push(""))
    #expect(!ring.push("0123456789"))
    #expect(ring.push("012345678"))
    #expect(RingReader(ring.bytes, capacity: 10)?.items == [Array("012345678".utf8)])
  }

  @Test("The last items stay, whatever their sizes", arguments: 0..<20)
  func random(round: Int) throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = Generator(state: seed)
    let capacity = Int.random(in: 2...400, using: &generator)
    let ring = RingBufferAnnotation("ring", capacity: capacity)
    var pushed: [[UInt8]] = []
    for _ in 0..<300 {
      let count = Int.random(in: 0...(capacity / 2 + 2), using: &generator)
      let item = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let fits = count > 0 && count + (count >= 128 ? 2 : 1) <= capacity
      #expect(unsafe ring.push(item.span.bytes) == fits, "seed \(seed)")
      if fits { pushed.append(item) }
      guard !pushed.isEmpty else { continue }
      let reader = try #require(RingReader(ring.bytes, capacity: capacity), "seed \(seed)")
      #expect(!reader.items.isEmpty && reader.items == Array(pushed.suffix(reader.items.count)), "seed \(seed)")
      // One more of the old items would not have fitted.
      let used = reader.items.reduce(0) { $0 + $1.count + ($1.count >= 128 ? 2 : 1) }
      #expect(used == reader.dataRange.length, "seed \(seed)")
      if reader.items.count < pushed.count {
        let older = pushed[pushed.count - reader.items.count - 1]
        #expect(used + older.count + (older.count >= 128 ? 2 : 1) > capacity, "seed \(seed)")
      }
    }
  }

  @Test("Items of threads that push at the same time are whole")
  func race() async throws {
    let ring = RingBufferAnnotation("ring", capacity: 3000)
    await withTaskGroup(of: Void.self) { group in
      for digit in 0..<4 {
        group.addTask {
          for count in 1..<2000 { _ = ring.push(String(repeating: "\(digit)", count: count % 200 + 1)) }
        }
      }
    }
    let reader = try #require(RingReader(ring.bytes, capacity: 3000))
    #expect(!reader.items.isEmpty)
    for item in reader.items { #expect(Set(item).count == 1) }
  }

  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var z = state
      z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      return z ^ (z >> 31)
    }
  }
}
