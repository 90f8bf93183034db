// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

extension CodeParser {
  // MARK: Exit statuses

  // Shells, Docker and Kubernetes report a program that a signal ended as 128 and the signal's number; Python and Go as the
  // number with a minus sign.

  /// Parses "exit code 137", "exit status 139", "exited with code 134", "returncode -11", make's "*** [test] Error 139", "npm ERR! errno
  /// 139".
  mutating func exitStatus() -> CodeAnswer? {
    let start = position
    guard let first = token?.upper, Self.exitWords.contains(first) || isNonZero || isOfMake || isOfNPM else {
      return nil
    }
    position += 1
    while let word = token?.upper, Self.statusWords.contains(word) { position += 1 }
    guard let word = token, let number = word.number else {
      position = start
      return nil
    }
    position += 1
    let query = words(from: start)
    if let signal = Self.endingSignal(number, word) { return CodeAnswer(query, Self.ending(query, by: signal)) }
    if number > 0xffff, let row = MeaningTable.terminationCode(number) ?? MeaningTable.windows(number) {
      return CodeAnswer(query, [CodeReading(row)])
    }
    if number == 0 {
      return CodeAnswer(
        query, unknown: "0 says that the program ended by itself and had no error: no signal ended it",
        collect: ["the last lines that it printed"], isStatus: true)
    }
    if let meaning = Self.shellStatuses[number], !word.isHexadecimal {
      return CodeAnswer(
        query, unknown: "\(word.text) says that \(meaning), if it is of a shell or of ld.so: no signal ended it",
        collect: ["the last lines that were printed, which name the file"], isStatus: true)
    }
    return CodeAnswer(
      query, unknown: "\(word.text) is a status of the program's own: no signal ended it",
      collect: ["what the program itself says of its exit statuses, and the last lines that it printed"], isStatus: true
    )
  }

  /// Whether the words are those of "The command '…' returned a non-zero code: 137".
  private var isNonZero: Bool {
    token?.upper == "NON-ZERO" && token(at: 1).map { Self.statusWords.contains($0.upper) } == true
  }

  private var isOfMake: Bool { token?.upper == "ERROR" && text.hasPrefix("make") && text.containsBytes(": *** ") }

  private var isOfNPM: Bool { token?.upper == "ERRNO" && (text.hasPrefix("npm ERR! ") || text.hasPrefix("npm error ")) }

  private static let exitWords: Set<String> = ["EXIT", "EXITED", "EXITCODE", "RETURNCODE", "RC"]
  private static let statusWords: Set<String> = ["WITH", "CODE", "STATUS", "VALUE", "NON-ZERO"]

  private static let shellStatuses: [UInt64: String] = [
    126: "a file could not be executed", 127: "a command, or a library that it needs, was not found",
  ]

  /// The signal that ended a program with this exit status; nil if none did.
  static func endingSignal(_ number: UInt64, _ token: CodeToken) -> UInt64? {
    if token.text.hasPrefix("-"), let value = Int32(token.text), (-64 ... -1).contains(value) { return UInt64(-value) }
    return (129...192).contains(number) && !token.isHexadecimal ? number - 128 : nil
  }

  /// The meanings of the signal on Linux and Darwin, each with what ended.
  static func ending(_ title: String, by signal: UInt64) -> [CodeReading] {
    signals(signal).map { reading in
      CodeReading(
        "\(title): ended by \(reading.title)", query: reading.query,
        facts: [DecodedFact("exit status", "\(128 + signal) in a shell or container, -\(signal) in Python")]
          + reading.facts,
        reading.rows)
    }
  }
}
