// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadSignatures

@Suite("A table of values by keys is used like a dictionary")
struct KeyedTableTests {
  @Test("Random changes lead to the entries of a dictionary, in the order of their keys")
  func changes() {
    var generator = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
    var state = seed
    func random(_ bound: UInt64) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % bound)
    }
    for _ in 0..<50 {
      var table = KeyedTable<String, Int>()
      var dictionary: [String: Int] = [:]
      var order: [String] = []
      for _ in 0..<random(400) {
        let key = "key \(random(90))"
        if dictionary[key] == nil { order.append(key) }
        if random(2) == 0 {
          table[key, default: 7] += 1
          dictionary[key, default: 7] += 1
        } else {
          let value = random(1000)
          table.set(key, value)
          dictionary[key] = value
        }
      }
      #expect(table.keys == order, "seed \(seed)")
      #expect(table.count == dictionary.count && table.isEmpty == dictionary.isEmpty, "seed \(seed)")
      #expect((0..<90).allSatisfy { table["key \($0)"] == dictionary["key \($0)"] }, "seed \(seed)")
      let even = table.filter { _, value in value % 2 == 0 }
      let known = dictionary.filter { $0.value % 2 == 0 }
      #expect(even.count == known.count && even.allSatisfy { known[$0.key] == $0.value }, "seed \(seed)")
    }
  }

  @Test("Tables with the same entries in another order are equal, and have the same hash")
  func order() {
    var (one, other, more) = (KeyedTable<Int, String>(), KeyedTable<Int, String>(), KeyedTable<Int, String>())
    for number in 0..<100 { one.set(number, "\(number)") }
    for number in (0..<100).reversed() { other.set(number, "\(number)") }
    #expect(one == other && one.hashValue == other.hashValue)
    more.merge(one) { first, _ in first }
    more.merge(other) { $0 + $1 }
    #expect(more[12] == "1212" && more != one)
    other.set(12, "")
    #expect(one != other)
    more.removeAll()
    #expect(more.isEmpty && more[12] == nil)
  }
}
