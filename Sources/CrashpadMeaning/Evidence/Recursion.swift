// SPDX-License-Identifier: Apache-2.0
/// The functions of a stack, counted to find the one that calls itself without end. Explanations and signatures ask it, so that
/// both name one function.
package struct Recursion {
  package struct Function {
    package let name: String
    package fileprivate(set) var count = 0
    /// The index with which it was added first.
    package let first: Int
    fileprivate let isOwn: Bool
  }

  private var functions: [String: Function] = [:]

  package init() {}

  /// The number of frames of the function with most of them.
  package var most: Int { Self.most(functions.values) }

  package mutating func add(_ name: String, at index: Int, isOwn: Bool) {
    functions[name, default: Function(name: name, first: index, isOwn: isOwn)].count += 1
  }

  /// A library that calls back may be in each round many times: sorting a long array calls itself some twenty times.
  private static let mostOfRound = 64

  /// The functions that repeat: those of the program, if it has some, and of these the ones that are in at least every second
  /// round.
  ///
  /// - Parameter least: the number of frames from which on one repeats.
  package func repeating(least: Int) -> [Function] {
    let all = most
    let own = functions.values.filter { $0.isOwn && $0.count >= least && Self.mostOfRound * $0.count >= all }
    let chosen = own.isEmpty ? Array(functions.values) : own
    let threshold = max(least, (Self.most(chosen) + 1) / 2)
    return chosen.filter { $0.count >= threshold }
  }

  /// The repeating function whose name is the first in the order of bytes. The innermost one would not do: a recursion
  /// overflows the stack in any of its functions.
  package func function(least: Int) -> Function? {
    repeating(least: least).min { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
  }

  private static func most(_ functions: some Sequence<Function>) -> Int { functions.lazy.map(\.count).max() ?? 0 }
}
