// SPDX-License-Identifier: Apache-2.0
/// The decision of one row of a table of rules about a frame: which role it has, and why.
package struct FrameRule: Sendable {
  /// The role of a frame, in the order of crashpadctl-group(5).
  package enum Class: String, Sendable, CaseIterable {
    /// A crash handler. The stack counts from behind its last frame.
    case capture
    /// Raises the signal or the exception that ended the process.
    case raise
    /// Code of a language's runtime or of the C library that callers hand bad values.
    case runtime
    /// Waits. Of a hang it is part of the kind.
    case wait
    /// Takes events and calls handlers.
    case loop
    /// Begins a thread.
    case base
    /// The program's own first function: taken only if no other function of the program is in the stack.
    case entry
  }

  /// Short and stable: "abort", "swift-runtime"
  package let id: String
  package let frameClass: Class
  /// For a raise or a use of an object, the kind of crash that it stands for; for a wait, its object.
  package let meaning: String?
  package let reason: String
  /// Whether it never calls a function of the program: all that it called is part of it.
  let callsNothing: Bool

  init(_ frameClass: Class, _ id: String, meaning: String? = nil, callsNothing: Bool = false, _ reason: String) {
    self.id = id
    self.frameClass = frameClass
    self.meaning = meaning
    self.callsNothing = callsNothing
    self.reason = reason
  }
}

/// Patterns by their first byte, so that only those that may match are compared. It is made in each run, and is no dictionary,
/// which takes longer to make than a small dump to read.
struct PatternIndex: Sendable {
  private struct Entry: Sendable {
    let order: Int
    let glob: Glob
  }
  private var byFirst: [[Entry]] = Array(repeating: [], count: 256)
  private var anywhere: [Entry] = []

  /// The lowest order of a pattern that matches counts.
  mutating func add(_ glob: Glob, order: Int) {
    guard let first = glob.first else { return anywhere.append(Entry(order: order, glob: glob)) }
    byFirst[Int(first)].append(Entry(order: order, glob: glob))
  }

  /// The lowest order of the patterns that match `name` and that `holds` accepts; nil if there is none.
  func first(_ name: String, where holds: (Int) -> Bool) -> Int? {
    var found = Int.max
    for entries in [name.utf8.first.map { byFirst[Int($0)] } ?? [], anywhere] {
      for entry in entries where entry.order < found && entry.glob.matches(name) && holds(entry.order) {
        found = entry.order
      }
    }
    return found == .max ? nil : found
  }
}
