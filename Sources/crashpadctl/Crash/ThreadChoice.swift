// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadSnapshot
import CrashpadSymbolication

/// The value of `--threads`: `crashed`, `all`, or a thread's number in the dump.
enum ThreadChoice: ExpressibleByArgument, Equatable {
  case crashed
  case all
  case one(Int)

  init?(argument: String) {
    switch argument {
    case "crashed": self = .crashed
    case "all": self = .all
    default:
      guard let index = Int(argument), index >= 0, argument.utf8.first != UInt8(ascii: "+") else { return nil }
      self = .one(index)
    }
  }

  var defaultValueDescription: String {
    switch self {
    case .crashed: "crashed"
    case .all: "all"
    case .one(let index): String(index)
    }
  }

  static let completion = CompletionKind.list(["crashed", "all"])

  /// The choice in the form needed for walking stacks.
  var threads: Symbolization.Threads {
    switch self {
    case .crashed: .crashed
    case .all: .all
    case .one(let index): .one(index)
    }
  }

  /// Whether a thread is selected. For a dump without a crash, `crashed` selects all.
  func includes(_ index: Int, crashed: Int?) -> Bool {
    switch self {
    case .crashed: crashed.map { $0 == index } ?? true
    case .all: true
    case .one(let chosen): chosen == index
    }
  }

  /// The reason why a dump with `count` threads does not have the chosen one; nil if it does.
  func failure(_ count: Int) -> String? {
    guard case .one(let index) = self, !(0..<count).contains(index) else { return nil }
    return count == 0
      ? "there is no thread \(index); the dump has no threads"
      : "there is no thread \(index); the dump has threads 0 to \(count - 1)"
  }
}
