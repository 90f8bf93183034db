// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
package import CrashpadSnapshot
package import CrashpadSymbolication

/// The object that a thread waits for: a conclusion from the names of its innermost frames.
package struct ThreadWait: Sendable, Hashable {
  /// Such as "lock"; the words of `hang` signatures.
  package let object: String
  /// Such as "waits for a lock".
  package let words: String
  /// The line of the stack whose function waits, as `Symbolization.Frame.lineCount` counts them.
  package let line: Int

  /// The depth to which frames are searched.
  private static let depth = 64

  /// Nil if the frames do not wait.
  init?(_ entries: ArraySlice<StackEntry>) {
    var found: (object: String, words: String, line: Int)?
    for entry in entries.prefix(Self.depth) {
      guard let rule = entry.rule, [.wait, .runtime].contains(rule.frameClass) else { break }
      guard rule.frameClass == .wait, let object = rule.meaning else { continue }
      if found == nil || Self.isStronger(object) { found = (object, rule.reason, entry.line) }
    }
    guard let found else { return nil }
    (object, words, line) = found
  }

  /// A wait for a queue is made with a lock or a message, and is the one to name.
  private static func isStronger(_ outer: String) -> Bool {
    ["dispatch_sync", "semaphore", "condition", "join"].contains(outer)
  }

  /// The waits of stacks, in their order; nil for those that do not wait.
  package static func all(
    _ stacks: [[Symbolization.Frame]], _ snapshot: ProcessSnapshot, _ file: InputFile, _ options: SignatureOptions
  ) -> [ThreadWait?] {
    var modules = SignatureModules(snapshot, file, inApp: options.inApp, options.version)
    return stacks.map { frames in
      ThreadWait(options.names.entries(Array(frames.prefix(depth)), &modules)[...])
    }
  }
}
