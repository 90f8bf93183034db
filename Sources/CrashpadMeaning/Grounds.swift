// SPDX-License-Identifier: Apache-2.0
/// The evidence that a row about a message or a function needs to be true of a crash, and how much it says.
package struct Grounds: Sendable, Hashable {
  /// How much a row says. Of several rows that hold, the one that says most counts, wherever it stands in a table.
  package enum Level: Int, Sendable, Comparable {
    /// One mistake, such as an index out of range.
    case cause
    /// A class of mistakes, such as an assertion or an exception's name.
    case kind
    /// How the process ended, such as by an exception that was not caught.
    case general
    /// How it ended, with its two possible causes.
    case unspecific

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// The functions next to one on the stack that it needs.
  package enum Need: Sendable, Hashable {
    /// A throw of an Objective-C exception above it, with only functions between them that raise for others. The same
    /// functions stand on the stacks of other crashes: a dictionary calls `hash`, and malloc.
    case objectiveCThrow
    /// A failed check of Swift above it: the same functions stand on the stacks of other crashes.
    case swiftCheck
    /// An exception of this language, judged by all functions that raised it.
    case raised(RaisedException)
  }

  package var level: Level
  /// The runtime whose messages the row explains; nil for those of any.
  package var runtime: Runtime?
  package var need: Need?
  /// Whether the row explains faults too, such as a message that the system writes about an access.
  package var explainsFaults: Bool

  package init(_ level: Level, of runtime: Runtime? = nil, need: Need? = nil, explainsFaults: Bool = false) {
    self.level = level
    self.runtime = runtime
    self.need = need
    self.explainsFaults = explainsFaults
  }
}

/// The writer of the last message of a process, which ends it.
package enum Runtime: String, Sendable, CaseIterable {
  case objectiveC = "Objective-C"
  case cxx = "C++"
  case swift = "Swift"
  case rust = "Rust"
  case go = "Go"
  case javaScript = "JavaScript"
  case kotlin = "Kotlin"
  case dotNet = ".NET"
  /// The C library, and the libraries of Apple's systems that are written in C.
  case library = "C"
}
