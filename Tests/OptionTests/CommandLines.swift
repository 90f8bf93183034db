// SPDX-License-Identifier: Apache-2.0
@testable import crashpadctl

/// Makes command lines of the options that a command has: of each row alone, and of several by chance.
struct CommandLines {
  private let shapes: [OptionShape]
  private var random: SplitMix

  init(_ shapes: [OptionShape], seed: UInt64) {
    self.shapes = shapes
    random = SplitMix(state: seed)
  }

  /// Valid for one option or another, or for none.
  private static let values = [
    "x", "1", "0", "-", "-1", "", "json", "text", "all", "crashed", "10s", "1KiB", "a=b", "yes", "none", "4f2a", "a b",
    "1/2",
    "new:x", "1b4e28ba-2fa1-41d2-883f-0016d3cca427", "0x10", "2026-11-21", "stacks", "arm64", "id,size", "\u{e4}",
    "https://x/",
  ]

  /// Each option with each value in each form, with an argument that the command may need.
  private var ofEachRow: [[String]] {
    shapes.flatMap { shape -> [[String]] in
      if shape.names.isEmpty {
        return Self.values.map { [$0] } + [[], ["a", "b"], ["--", "-x", "--y"], ["a", "--"]]
      }
      return shape.names.flatMap { name -> [[String]] in
        let values = Self.values.flatMap { value -> [[String]] in
          // A value may be missing here, which the argument parser does not know of.
          shape.bare == nil ? [[name, value], ["\(name)=\(value)"]] : [["\(name)=\(value)"]]
        }
        let alone = shape.bare == nil ? [[name], [name, "--quiet"], [name, name], [name, "--", "x"]] : []
        return (values + alone).flatMap { [$0, $0 + ["a"], ["a"] + $0] }
      }
    }
  }

  /// - Parameter count: that of the lines to choose; nil for all.
  mutating func someOfEachRow(_ count: Int?) -> [[String]] {
    let all = ofEachRow
    guard let count else { return all }
    return (0..<count).map { _ in all[random.number(all.count)] }
  }

  mutating func line() -> [String] {
    (0..<random.number(6)).flatMap { _ in element() }
  }

  private mutating func element() -> [String] {
    let value = Self.values[random.number(Self.values.count)]
    guard random.number(8) > 1, let shape = options.isEmpty ? nil : options[random.number(options.count)] else {
      return [["a"], ["b.dmp"], ["--"], ["-"], ["--nosuch"], ["-Z"], ["--nosuch=\(value)"], ["---"], ["-h"]][
        random.number(9)]
    }
    let name = shape.names[random.number(shape.names.count)]
    if case .flag = shape.kind {
      // Short flags in one word.
      if !name.hasPrefix("--"), let other = shortFlags.last { return [name + other.dropFirst()] }
      return random.number(6) == 0 ? ["\(name)=\(value)"] : [name]
    }
    return shape.bare == nil && random.number(2) == 0 ? [name, value] : ["\(name)=\(value)"]
  }

  private var options: [OptionShape] { shapes.filter { !$0.names.isEmpty } }

  private var shortFlags: [String] {
    shapes.flatMap { shape -> [String] in
      if case .flag = shape.kind { shape.names.filter { !$0.hasPrefix("--") } } else { [] }
    }
  }
}

struct SplitMix {
  var state: UInt64

  /// A number below `limit`.
  mutating func number(_ limit: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return Int((value ^ (value >> 31)) % UInt64(limit))
  }
}
