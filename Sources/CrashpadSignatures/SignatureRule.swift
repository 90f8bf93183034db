// SPDX-License-Identifier: Apache-2.0
/// One row of the table of frames that say nothing of the fault: which functions, in which modules, and why.
///
/// Version 1. A row never changes under one version, as an issue tracker keeps the ids that it leads to.
package struct SignatureRule: Sendable {
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
  /// Patterns of the normalized name; none stands for every frame of the module that has no name.
  package let names: [Glob]
  /// The patterns of the module's file name; nil for every module.
  package let modules: [Glob]?
  /// For a raise, the kind of crash that it stands for; for a wait, its object.
  package let meaning: String?
  package let reason: String

  init(
    _ frameClass: Class, _ id: String, _ names: [Glob], in modules: [Glob]? = nil, meaning: String? = nil,
    _ reason: String
  ) {
    self.id = id
    self.frameClass = frameClass
    self.names = names
    self.modules = modules
    self.meaning = meaning
    self.reason = reason
  }

  package static let version = 1

  /// The modules in which names as short as `read` are those of the C library and not of a program's own functions.
  static let cLibraries: [Glob] = [
    "libc.so*", "libc-2.*", "libc.musl*", "libpthread*", "librt.so*", "ld-musl*", "libsystem_*", "libSystem*",
  ]

  /// In the order in which they are tried: the first that matches counts.
  package static let all =
    captureRules + raiseRules + waitRules + loopRules + baseRules + runtimeRules + moduleRules
}

/// Finds the rule of a frame. Of the patterns only those with the right first byte are tried. The index is made in each run,
/// and is no dictionary, which takes longer to make than a small dump to read.
struct RuleIndex: Sendable {
  private struct Entry: Sendable {
    let order: Int
    let glob: Glob
  }
  private let rules: [SignatureRule]
  private var byFirst: [[Entry]] = Array(repeating: [], count: 256)
  private var anywhere: [Entry] = []
  private var unnamed: [Int] = []

  static let shared = RuleIndex(SignatureRule.all)

  init(_ rules: [SignatureRule]) {
    self.rules = rules
    for (order, rule) in rules.enumerated() {
      if rule.names.isEmpty { unnamed.append(order) }
      for glob in rule.names {
        if let first = glob.first {
          byFirst[Int(first)].append(Entry(order: order, glob: glob))
        } else {
          anywhere.append(Entry(order: order, glob: glob))
        }
      }
    }
  }

  /// - Parameters:
  ///   - name: normalized; nil for a frame without one.
  ///   - module: the module's file name.
  func rule(_ name: String?, in module: String?) -> SignatureRule? {
    guard let name else { return unnamed.first { matches($0, module) }.map { rules[$0] } }
    var found = rules.count
    for entries in [name.utf8.first.map { byFirst[Int($0)] } ?? [], anywhere] {
      for entry in entries where entry.order < found && entry.glob.matches(name) && matches(entry.order, module) {
        found = entry.order
      }
    }
    return found < rules.count ? rules[found] : nil
  }

  private func matches(_ order: Int, _ module: String?) -> Bool {
    guard let modules = rules[order].modules else { return true }
    guard let module else { return false }
    return modules.contains { $0.matches(module) }
  }
}
