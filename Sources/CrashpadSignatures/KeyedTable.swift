// SPDX-License-Identifier: Apache-2.0
/// Values by their keys, in the order in which the keys came. Its use is that of a dictionary.
///
/// A dictionary's type is made at run time, where the runtime looks up how the type of its keys is `Hashable`: among all
/// conformances of the program, 0.3 million instructions for each type, as many as a small dump takes to read. The code of
/// this type is made for each type of keys when the program is built.
package struct KeyedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  package private(set) var keys: [Key] = []
  package private(set) var values: [Value] = []
  /// The number of an entry plus one, at the place of its hash or behind it; 0 is empty. At most half of them are taken.
  private var slots: [UInt32] = []

  package init() {}

  package var count: Int { keys.count }
  package var isEmpty: Bool { keys.isEmpty }

  /// The slot that has the key, or the empty one that it gets.
  private func slot(_ key: Key) -> Int {
    var slot = key.hashValue & (slots.count - 1)
    while slots[slot] != 0, keys[Int(slots[slot]) - 1] != key { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  private func index(of key: Key) -> Int? {
    guard !slots.isEmpty else { return nil }
    let entry = slots[slot(key)]
    return entry == 0 ? nil : Int(entry) - 1
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: Swift.max(8, slots.count * 2))
    for (number, key) in keys.enumerated() { slots[slot(key)] = UInt32(number + 1) }
  }

  /// Adds an entry for a key that has none.
  private mutating func append(_ key: Key, _ value: Value) -> Int {
    if slots.count < (keys.count + 1) * 2 { grow() }
    slots[slot(key)] = UInt32(keys.count + 1)
    keys.append(key)
    values.append(value)
    return keys.count - 1
  }

  package subscript(key: Key) -> Value? { index(of: key).map { values[$0] } }

  package subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
    get { index(of: key).map { values[$0] } ?? value() }
    _modify {
      let index = index(of: key) ?? append(key, value())
      yield &values[index]
    }
  }

  package mutating func set(_ key: Key, _ value: Value) {
    if let index = index(of: key) { values[index] = value } else { _ = append(key, value) }
  }

  /// Adds the entries of another table; `combine` makes one value of those that have the same key.
  package mutating func merge(_ other: Self, uniquingKeysWith combine: (Value, Value) -> Value) {
    for (key, value) in other {
      if let index = index(of: key) { values[index] = combine(values[index], value) } else { _ = append(key, value) }
    }
  }

  package func filter(_ isKept: (Key, Value) -> Bool) -> Self {
    var kept = Self()
    for (key, value) in self where isKept(key, value) { _ = kept.append(key, value) }
    return kept
  }

  package mutating func removeAll() { self = Self() }
}

extension KeyedTable: Sequence {
  package struct Iterator: IteratorProtocol {
    private let table: KeyedTable
    private var position = 0

    fileprivate init(_ table: KeyedTable) { self.table = table }

    package mutating func next() -> (key: Key, value: Value)? {
      guard position < table.keys.count else { return nil }
      defer { position += 1 }
      return (table.keys[position], table.values[position])
    }
  }

  package func makeIterator() -> Iterator { Iterator(self) }
}

/// The order of the entries does not count.
extension KeyedTable: Equatable where Value: Equatable {
  package static func == (one: Self, other: Self) -> Bool {
    one.count == other.count && one.allSatisfy { other[$0.key] == $0.value }
  }
}

extension KeyedTable: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) {
    var sum = 0
    for (key, value) in self {
      var own = Hasher()
      own.combine(key)
      own.combine(value)
      sum ^= own.finalize()
    }
    hasher.combine(sum)
  }
}
