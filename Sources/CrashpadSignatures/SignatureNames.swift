// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSymbolication
internal import Synchronization

/// Names with their rules, each looked at once in a run: thousands of dumps have the same functions in their stacks.
final class SignatureNames: Sendable {
  private struct Value {
    let name: String?
    let rule: SignatureRule?
  }
  /// By symbol and module. A key of a type of its own takes longer to make a dictionary of than a small dump to read.
  private let known = Mutex<[String: Value]>([:])
  /// Names of hostile dumps are not kept without end.
  private static let capacity = 1 << 16

  func entries(_ frames: [Symbolization.Frame], _ modules: inout SignatureModules) -> [StackEntry] {
    var entries: [StackEntry] = []
    entries.reserveCapacity(frames.count)
    for frame in frames { entries.append(entry(frame, &modules)) }
    return entries
  }

  private func entry(_ frame: Symbolization.Frame, _ modules: inout SignatureModules) -> StackEntry {
    let unloaded = frame.unloaded.first
    let module = frame.frame.module.flatMap { modules.module($0) } ?? unloaded.map { modules.unloaded($0.module) }
    // Functions in assembly may have no size. Where the line is known, the symbols are whole, and the nearest is the one.
    let innermost = frame.symbol?.frames.last
    let function = frame.symbol?.isNearest == true && innermost?.location == nil ? nil : innermost
    let symbol = frame.frame.isSignalFrame ? "<signal handler called>" : function?.function ?? function?.name
    let value = value(symbol, in: module?.name)
    return StackEntry(
      name: value.name, module: module, offset: frame.frame.moduleOffset ?? unloaded?.offset,
      address: frame.frame.instruction,
      shownName: symbol, rule: module == nil && value.name == nil ? nil : value.rule)
  }

  private func value(_ symbol: String?, in module: String?) -> Value {
    let key = (module ?? "\u{1}") + "\0" + (symbol ?? "\u{1}")
    if let value = known.withLock({ $0[key] }) { return value }
    let image = module.map { name in
      name.hasSuffix(".debug.dylib") ? String(name.dropLast(12)) : String(name.prefix { $0 != "." })
    }
    let name = symbol.map { FunctionName.normalized($0, image: image) }.flatMap { $0.isEmpty ? nil : $0 }
    let value = Value(name: name, rule: RuleIndex.shared.rule(name.map(FunctionName.withoutClosure), in: module))
    known.withLock { known in
      if known.count >= Self.capacity { known.removeAll() }
      known[key] = value
    }
    return value
  }
}
