// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Lines that people copy from terminals, debuggers and container logs.
extension CodeParser {
  // MARK: Words in front

  /// Skips "Thread 1:" of Xcode's line, "Queue : …" and "Thread 12 Crashed:": the number is that of a thread, and no code.
  mutating func skipThread() {
    guard position == 0, tokens.count > 2, token?.upper == "THREAD", token(at: 1)?.number != nil else { return }
    position = 2
  }

  /// Words in the parentheses of Xcode's line that name the number behind them.
  static let fieldWords: Set<String> = ["CODE", "SUBCODE", "ADDRESS"]

  /// Skips the words behind a resource, such as "(limit=1850 MB, unused=0x0)": they are no codes.
  mutating func skipLimits() {
    if let word = token?.upper, ["LIMIT", "HIGH", "UNUSED", "CPU", "WAKEUPS"].contains(word) {
      position = tokens.count
    }
  }

  // MARK: What shells and containers print

  private static let phrases: [(String, UInt64)] = [
    ("segmentation fault", 11), ("invalid memory reference", 11), ("general protection fault", 11), ("bus error", 7),
    ("illegal instruction", 4), ("trace/breakpoint trap", 5), ("trace/bpt trap", 5), ("floating point exception", 8),
    ("floating-point exception", 8), ("abort trap", 6), ("aborted (core dumped)", 6), ("bad system call", 31),
    ("oomkilled", 9), ("out of memory: killed process", 9), ("quit (core dumped)", 3), ("broken pipe", 13),
    ("cpu time limit exceeded", 24), ("file size limit exceeded", 25),
  ]
  /// Words that have another meaning in a sentence.
  private static let wholeLines: [(String, UInt64)] = [
    ("aborted", 6), ("killed", 9), ("terminated", 15), ("hangup", 1), ("zsh: killed", 9), ("zsh: abort", 6),
  ]

  /// The answer to a line that a shell or a container prints of a program that a signal ended; nil for other text.
  func phrase() -> CodeAnswer? {
    let line = text.lowercased()
    guard
      let signal = Self.phrases.first(where: { line.containsBytes($0.0) })?.1
        ?? Self.wholeLines.first(where: { line == $0.0 || line.hasPrefix("\($0.0)  ") })?.1,
      let row = MeaningTable.signal(signal, on: .linux)
    else { return nil }
    var facts: [DecodedFact] = []
    if line.containsBytes("oomkilled") || line.containsBytes("out of memory") {
      facts = [DecodedFact("cause", "the kernel, as the container or the machine had no memory left")]
    }
    if line.containsBytes("core dumped") { facts.append(DecodedFact("core", "the kernel wrote a core file")) }
    return CodeAnswer(text, [CodeReading("\"\(text)\": \(row.name)", query: row.name, facts: facts, [row])])
  }
}
