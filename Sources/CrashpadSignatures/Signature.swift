// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
package import CrashpadSymbolication

/// The identity of a fault: the same for its crashes in every run, whatever the build's addresses and the order of threads.
///
/// The rules are those of crashpadctl-group(5), version ``SignatureRule/version``.
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

  /// - Parameters:
  ///   - snapshot: what is known of the process.
  ///   - file: what the snapshot was read from.
  ///   - symbolization: stacks that are known already; others are made.
  ///   - options: where to find symbols, and which modules belong to the program.
  package init(
    _ snapshot: ProcessSnapshot, _ file: InputFile, _ symbolization: Symbolization? = nil, _ options: SignatureOptions
  ) {
    let kind = CrashKind(snapshot)
    let stack = Self.stack(snapshot, file, symbolization, kind, options)
    var modules = SignatureModules(snapshot, file, inApp: options.inApp)
    self.init(SignatureChoice(kind, options.names.entries(stack.frames, &modules)))
  }

  init(_ choice: SignatureChoice) {
    let canonical = choice.canonical.map(Self.escaped).joined(separator: Self.separator)
    id = Self.digest("crashpadctl-sig/\(SignatureRule.version)\n" + canonical)
    text = Self.cut(choice.shown.map(Self.escaped))
    raw = Self.cut(choice.raw.map(Self.escaped))
    isNamed = choice.isNamed
    flags = choice.flags
    explanation = choice.steps
  }

  // MARK: Frames

  /// The stack that a signature is made of.
  struct Stack {
    var frames: [Symbolization.Frame] = []
    /// Nil for a stack that a report lists beside the threads.
    var thread: Symbolization.Thread?
  }

  static func stack(
    _ snapshot: ProcessSnapshot, _ file: InputFile, _ symbolization: Symbolization?, _ kind: CrashKind,
    _ options: SignatureOptions
  ) -> Stack {
    if kind.place == .lastException {
      let known = symbolization ?? Symbolization(snapshot, file, options.cache, threads: .one(-1))
      if !known.lastException.isEmpty { return Stack(frames: known.lastException) }
    }
    let isMain = kind.place == .mainThread && !snapshot.threads.isEmpty
    if let known = symbolization?.threads.first(where: { isMain ? $0.index == 0 : $0.isCrashed }) {
      return Stack(frames: known.frames, thread: known)
    }
    // In a dump without a crash, all threads would be walked.
    if !isMain, snapshot.crashedThread == nil, snapshot.report != nil || snapshot.exception?.context == nil {
      return Stack()
    }
    let made = Symbolization(snapshot, file, options.cache, threads: isMain ? .one(0) : .crashed)
    let thread = made.threads.first { isMain ? $0.index == 0 : $0.isCrashed }
    return Stack(frames: thread?.frames ?? [], thread: thread)
  }

  // MARK: Text

  static let separator = " · "
  static let maximumLength = 200

  /// Control characters, and what turns the direction of text, as `\u{1b}`.
  private static func escaped(_ text: String) -> String {
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
  private static func cut(_ parts: [String]) -> String {
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
    return parts.joined(separator: separator)
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

  /// Hexadecimal digits of the first 8 bytes of the SHA-256 of `text`.
  static func digest(_ text: String) -> String { digest(Array(text.utf8), count: 8) }

  /// The same of bytes.
  static func digest(_ bytes: [UInt8], count: Int) -> String {
    let digest = unsafe SHA256.digest(bytes.span.bytes)
    return digest.prefix(count).map { hexadecimal(UInt64($0), width: 2) }.joined()
  }
}

/// The options of signatures, for all inputs of a run.
package struct SignatureOptions: Sendable {
  let cache: SymbolCache
  let inApp: [Glob]
  let names: SignatureNames

  /// - Parameter inApp: patterns of paths or file names of modules that belong to the program besides those that look like it.
  package init(_ cache: SymbolCache, inApp: [Glob] = []) {
    self.cache = cache
    self.inApp = inApp
    names = SignatureNames()
  }
}
