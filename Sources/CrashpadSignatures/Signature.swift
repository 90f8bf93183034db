// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot
package import CrashpadSymbolication

/// The identity of a fault: the same for its crashes in every run, whatever the build's addresses and the order of threads.
///
/// The rules are those of crashpadctl-group(5), in the version of the options.
package struct Signature: Sendable, Hashable {
  /// 16 hexadecimal digits: the first of the SHA-256 of the rules' version and the canonical text.
  package let id: String
  /// "KIND · ANCHOR · NEXT", at most 200 bytes.
  package let text: String
  /// The same of modules and offsets alone. It is equal with and without symbols, and differs from build to build.
  package let raw: String
  /// Whether the anchor is a function with a name.
  package let isNamed: Bool
  package let flags: [Flag]
  package let explanation: [Step]
  /// Nil where no function was chosen.
  package let anchor: Anchor?

  /// The line of a stack whose function is the anchor.
  package struct Anchor: Sendable, Hashable {
    package enum Stack: Sendable, Hashable {
      /// An index of the snapshot's threads; nil for the thread of the exception, if it is not among them.
      case thread(Int?)
      case lastException
    }
    package let stack: Stack
    /// From 0, as `Symbolization.Frame.lineCount` counts lines.
    package let line: Int
  }

  /// Why a signature may put different faults together.
  package enum Flag: String, Sendable, CaseIterable {
    /// No thread crashed, or it has no stack: only the kind counts.
    case noThread = "no-thread"
    /// No function of the program is in the stack.
    case system
    /// Only code of runtimes is in the stack.
    case runtimeOnly = "runtime-only"
    /// The thread waited for events.
    case idle
  }

  /// The decision about a frame.
  package struct Step: Sendable, Hashable {
    package enum Decision: String, Sendable {
      case skipped
      case anchor
      case next
      /// It is not at fault, as it called the anchor, or the anchor's callee was taken already.
      case unused
    }
    /// The number of the physical frame, from 0.
    package let frame: Int
    package let name: String
    package let module: String?
    package let decision: Decision
    /// "abort", "in-app"
    package let rule: String
    package let reason: String
  }

  init(
    id: String, text: String, raw: String, isNamed: Bool, flags: [Flag], explanation: [Step], anchor: Anchor? = nil
  ) {
    (self.id, self.text, self.raw) = (id, text, raw)
    (self.isNamed, self.flags, self.explanation, self.anchor) = (isNamed, flags, explanation, anchor)
  }

  // MARK: Text

  static let separator = " · "
  static let maximumLength = 200

  /// As `joined(separator:)`, which looks up an array's conformances at run time: that takes longer than making a signature.
  static func joined(_ parts: [String]) -> String {
    var text = parts.first ?? ""
    for part in parts.dropFirst() { text += separator + part }
    return text
  }

  /// Control characters, and what turns the direction of text, as `\u{1b}`.
  static func escaped(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
        escaped += "\\u{" + hexadecimal(UInt64(scalar.value)) + "}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// The parts in at most `maximumLength` bytes; the longest is cut first.
  static func cut(_ parts: [String]) -> String {
    var parts = parts
    func total() -> Int { parts.reduce(separator.utf8.count * (parts.count - 1)) { $0 + $1.utf8.count } }
    while total() > maximumLength, let longest = parts.indices.max(by: { parts[$0].utf8.count < parts[$1].utf8.count })
    {
      let second = parts.indices.filter { $0 != longest }.map { parts[$0].utf8.count }.max() ?? 0
      let excess = total() - maximumLength
      let length = max(parts[longest].utf8.count - excess, min(second, maximumLength / max(1, parts.count) - 4)) - 3
      parts[longest] = prefix(parts[longest], max(1, length)) + "…"
      if length <= 1 { break }
    }
    return joined(parts)
  }

  /// At most `count` bytes of whole characters.
  private static func prefix(_ text: String, _ count: Int) -> String {
    var result = ""
    for scalar in text.unicodeScalars where scalar != "…" {
      guard result.utf8.count + UTF8.width(scalar) <= count else { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}

/// The options of signatures, for all inputs of a run.
package struct SignatureOptions: Sendable {
  let cache: SymbolCache
  package let inApp: [Glob]
  let names: SignatureNames

  package var version: RuleVersion { names.version }

  /// - Parameters:
  ///   - inApp: patterns of paths or file names of modules that belong to the program besides those that look like it.
  ///   - version: the version of the rules.
  package init(_ cache: SymbolCache, inApp: [Glob] = [], version: RuleVersion = .current) {
    self.cache = cache
    self.inApp = inApp
    names = SignatureNames(version)
  }
}
