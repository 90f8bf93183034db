// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A function that a call led to, by debug information.
package struct CalledFunction: Sendable, Hashable {
  package internal(set) var function: SymbolizedAddress.Frame
  /// The calls that were inlined around the jump with which it ends, the innermost first; empty if it has several jumps.
  package internal(set) var inlined: [SymbolizedAddress.Frame]
  /// The functions to which it can jump in its end, by their names in the symbols; nil for one that is not known.
  let targets: [String?]
  /// Whether there is no other way by the call: it is the call's target, or the only function that a certain one can jump to.
  let isCertain: Bool
  /// Whether it is the function in which the call ended, by the entry of that function; nil if the file has no such entry.
  var isEnd: Bool?
}

/// A function that ended with a jump, and so has no frame in the stack.
package struct TailCall: Sendable, Hashable {
  package let function: SymbolizedAddress.Frame
  /// Whether it was inlined into the next one.
  package let isInlined: Bool
  /// Whether it is only concluded: debug information does not say that there is no other way.
  package let isInferred: Bool
}

extension TailCall {
  /// The functions between a frame and the one above it, the innermost first.
  ///
  /// Names show that a function of the path is the one above, and never that it is not: DWARF has other names than symbols for
  /// lambdas, functions of local classes, coroutines and aliases.
  ///
  /// - Parameters:
  ///   - path: where the call in the frame led.
  ///   - callee: the function of the frame above, as the symbols have it; nil if that is not known.
  ///   - isElsewhere: whether that function is in another module, and so in no path of this one.
  ///   - isExact: whether the frame is known to be that of the caller.
  static func between(_ path: [CalledFunction], callee: String?, isElsewhere: Bool, isExact: Bool) -> [TailCall] {
    guard let callee, !path.isEmpty else { return [] }
    var jumped = path[...]
    if let end = path.firstIndex(where: { $0.isEnd == true || isSame($0.function.function, callee) }) {
      jumped = path[..<end]
    } else if let end = path.firstIndex(where: { $0.targets.contains { isSame($0, callee) } }) {
      jumped = path[...end]
    } else if !isElsewhere, path.contains(where: { $0.isEnd == nil }) {
      return []
    }
    // A function that jumps nowhere would have a frame.
    jumped = jumped.prefix { !$0.targets.isEmpty }
    return jumped.reversed().flatMap { called in
      let isInferred = !isExact || !called.isCertain
      return called.inlined.map { TailCall(function: $0, isInlined: true, isInferred: isInferred) }
        + [TailCall(function: called.function, isInlined: false, isInferred: isInferred)]
    }
  }

  /// Parts and clones of one function have suffixes.
  static func isSame(_ one: String?, _ other: String) -> Bool {
    one?.prefix { $0 != "." } == other.prefix { $0 != "." }
  }
}
