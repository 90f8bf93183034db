// SPDX-License-Identifier: Apache-2.0
/// One row of version 1 of the table: which functions say nothing of the fault, in which modules, and why.
///
/// It is kept as it was for the ids that trackers have: patterns without modules hold in every module.
struct FirstRule: Sendable {
  let rule: FrameRule
  /// Patterns of the normalized name; none stands for every frame of the module that has no name.
  let names: [Glob]
  /// The patterns of the module's file name; nil for every module.
  let modules: [Glob]?

  init(
    _ frameClass: FrameRule.Class, _ id: String, _ names: [Glob], in modules: [Glob]? = nil, meaning: String? = nil,
    _ reason: String
  ) {
    rule = FrameRule(frameClass, id, meaning: meaning, reason)
    self.names = names
    self.modules = modules
  }

  /// The modules in which names as short as `read` are those of the C library and not of a program's own functions.
  static let cLibraries: [Glob] = [
    "libc.so*", "libc-2.*", "libc.musl*", "libpthread*", "librt.so*", "ld-musl*", "libsystem_*", "libSystem*",
  ]

  /// In the order in which they are tried: the first that matches counts.
  static let all = captureRules + raiseRules + waitRules + loopRules + baseRules + runtimeRules + moduleRules
}

/// Finds the row of version 1 of a frame.
struct FirstRuleIndex: Sendable {
  private var patterns = PatternIndex()
  private var unnamed: [Int] = []

  static let shared = FirstRuleIndex()

  private init() {
    for (order, rule) in FirstRule.all.enumerated() {
      if rule.names.isEmpty { unnamed.append(order) }
      for glob in rule.names { patterns.add(glob, order: order) }
    }
  }

  /// - Parameters:
  ///   - name: normalized; nil for a frame without one.
  ///   - module: the module's file name.
  func rule(_ name: String?, in module: String?) -> FrameRule? {
    let order = name.map { patterns.first($0) { matches($0, module) } } ?? unnamed.first { matches($0, module) }
    return order.map { FirstRule.all[$0].rule }
  }

  private func matches(_ order: Int, _ module: String?) -> Bool {
    guard let modules = FirstRule.all[order].modules else { return true }
    guard let module else { return false }
    return modules.contains { $0.matches(module) }
  }
}
