// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
extension CodeParser {
  // MARK: Terminations

  /// Parses "RUNNINGBOARD 0xdead10cc", "Namespace SIGNAL, Code 0xb", "namespace SPRINGBOARD".
  mutating func namespace(_ token: CodeToken) -> CodeAnswer? {
    let start = position
    let isNamed = token.upper == "NAMESPACE" || token.upper == "DOMAIN"
    if isNamed { position += 1 }
    guard let word = self.token else {
      position = start
      return nil
    }
    // In a sentence the word is a word: only one in capitals is the name of a namespace.
    let isWord = isCopied && !isNamed && word.text != word.upper
    var row = isWord ? nil : MeaningTable.namespace(word.upper)
    if row == nil, isNamed, let number = word.number { row = CodeMeaning.namespaces.first { $0.has(number) } }
    guard let row else {
      position = start
      guard isNamed else { return nil }
      position += 2
      return CodeAnswer(
        words(from: start), unknown: "the namespace \(word.text) is unknown", collect: Self.collectTermination,
        suggestions: Suggestions.names(like: word.text))
    }
    position += 1
    let name = row.aliases.contains(word.upper) ? word.upper : row.name
    if let number = takeNumber() { return termination(number, in: row, named: name, from: start) }
    // A code by name, such as "JETSAM per-process-limit".
    for code in CodeMeaning.namespaceCodes where code.context == row.name && takes(code.name) {
      return CodeAnswer(words(from: start), [CodeReading(code)])
    }
    return CodeAnswer(words(from: start), [CodeReading(row)])
  }

  /// Whether the next words match `name`; if so, consumes them.
  private mutating func takes(_ name: String) -> Bool {
    let words = name.uppercased().split(separator: " ")
    for (offset, word) in words.enumerated() where token(at: offset)?.upper != String(word) { return false }
    position += words.count
    return true
  }

  private mutating func termination(_ number: UInt64, in row: CodeMeaning, named name: String, from start: Int)
    -> CodeAnswer
  {
    if row.name == "SIGNAL", let signal = MeaningTable.signal(number, on: .darwin) {
      return CodeAnswer(
        words(from: start), [CodeReading("SIGNAL \(number) (\(signal.name))", query: signal.name, [signal, row])])
    }
    if row.name == "GUARD", number > UInt64(UInt32.max) {
      let subcode = takeNumber()
      return CodeAnswer(words(from: start), [Self.guardReading(number, subcode)])
    }
    if let code = MeaningTable.code(number, in: row.name) {
      _ = takes(code.name)
      return CodeAnswer(words(from: start), [CodeReading(code)])
    }
    let known = MeaningTable.terminationCode(number)
    if let known, known.aliases.isEmpty || known.aliases.contains(where: { MeaningTable.namespace($0) == row }) {
      return CodeAnswer(
        words(from: start), [CodeReading("\(name) \(hex(number)) \(known.name)", query: known.query, [known])])
    }
    var reason = "\(hex(number)) (\(number)) is unknown in namespace \(name)"
    if let known { reason += "; it is a code of \(known.aliases.joined(separator: ", "))" }
    return CodeAnswer(words(from: start), unknown: reason, of: row, collect: Self.collectTermination)
  }

  static func guardReading(_ code: UInt64, _ subcode: UInt64?) -> CodeReading {
    let decoded = GuardCode(code: code, subcode: subcode)
    return reading("EXC_GUARD", code, decoded.name, decoded.facts, decoded.rows)
  }

  static func resourceReading(_ code: UInt64, _ subcode: UInt64?) -> CodeReading {
    let decoded = ResourceCode(code: code, subcode: subcode)
    return reading("EXC_RESOURCE", code, decoded.name, decoded.facts, decoded.rows)
  }

  private static func reading(
    _ exception: String, _ code: UInt64, _ name: String, _ facts: [DecodedFact], _ rows: [CodeMeaning]
  ) -> CodeReading {
    CodeReading(
      "\(exception) / \(name)", query: "\(exception) \(hex(code))",
      facts: [DecodedFact("code", "\(hex(code)) (\(code))")] + facts,
      rows + CodeMeaning.exceptions.filter { $0.name == exception })
  }

  // MARK: Exceptions

  /// Parses "EXC_BAD_ACCESS KERN_PROTECTION_FAILURE", "EXC_GUARD 0x4000000100000004", "EXC_CRASH (SIGKILL)".
  mutating func exception(_ token: CodeToken) -> CodeAnswer? {
    guard let row = CodeMeaning.exceptions.first(where: { $0.name == token.upper }) else { return nil }
    let start = position
    position += 1
    skipFieldsOfGuard()
    var signal: CodeMeaning?
    var codes: [CodeMeaning] = []
    var numbers: [UInt64] = []
    while let word = nextToken() {
      if Self.fieldWords.contains(word.upper) {
        position += 1
        continue
      }
      if let number = word.number {
        numbers.append(number)
      } else if let found = MeaningTable.signal(named: word.upper) {
        signal = found
      } else if let found = code(named: word.upper, of: row.name, after: codes.last) {
        codes = [found]
      } else {
        break
      }
      position += 1
    }
    if row.name == "EXC_RESOURCE" { skipLimits() }
    let query = words(from: start)
    if row.name == "EXC_GUARD", let first = numbers.first, codes.isEmpty {
      return CodeAnswer(query, [Self.guardReading(first, numbers.dropFirst().first)])
    }
    if row.name == "EXC_RESOURCE", let first = numbers.first, codes.isEmpty {
      return CodeAnswer(query, [Self.resourceReading(first, numbers.dropFirst().first)])
    }
    if row.name == "EXC_CRASH" { return crash(row, signal, numbers, query) }
    if codes.isEmpty, let first = numbers.first {
      return coded(row, first, numbers.dropFirst().first, query)
    }
    guard let code = codes.first else { return CodeAnswer(query, [CodeReading(row)]) }
    let facts = Self.hasAddress(code) ? numbers.first.flatMap { AddressPattern($0) } : nil
    return CodeAnswer(
      query,
      [
        CodeReading(
          "\(code.context ?? row.name) / \(code.name)", query: code.query, facts: Self.facts(of: facts, numbers.first),
          [code] + [facts?.row].compactMap { $0 })
      ])
  }

  /// Whether the second code is an address, which it is not for general protection faults.
  private static func hasAddress(_ code: CodeMeaning) -> Bool {
    code.context == "EXC_BAD_ACCESS" && code.name != "EXC_I386_GPFLT"
  }

  private static func facts(of pattern: AddressPattern?, _ address: UInt64?) -> [DecodedFact] {
    guard let pattern, let address else { return [] }
    return [DecodedFact("address \(hex(address))", pattern.row.event)] + pattern.facts
  }

  /// Finds a code of an exception by name, or a flavor of the type before it.
  private func code(named name: String, of exception: String, after last: CodeMeaning?) -> CodeMeaning? {
    let rows = CodeMeaning.exceptionCodes + CodeMeaning.resources + CodeMeaning.guards
    let context = last.map { "\(exception) \($0.name)" }
    return rows.first { row in
      (row.context == exception || row.context == context) && (row.name == name || row.aliases.contains(name))
    }
  }

  private func crash(_ row: CodeMeaning, _ signal: CodeMeaning?, _ numbers: [UInt64], _ query: String) -> CodeAnswer {
    if let signal {
      let known = CodeMeaning.crashSignals.first { $0.name == signal.name }
      return CodeAnswer(
        query, [CodeReading("EXC_CRASH (\(signal.name))", query: "EXC_CRASH \(signal.name)", [known ?? signal, row])])
    }
    guard let first = numbers.first, first != 0 else { return CodeAnswer(query, [CodeReading(row)]) }
    let decoded = CrashCode(code: first)
    let name = SignalNames.darwin.name(of: decoded.signal)
    var facts = [DecodedFact("signal", "\(decoded.signal) (\(name))")]
    let original = MeaningTable.exception(decoded.exception)
    if let original { facts.append(DecodedFact("from", "\(original.name), code \(hex(decoded.code))")) }
    let known = CodeMeaning.crashSignals.first { $0.name == name } ?? MeaningTable.signal(named: name)
    let rows = [original, known, row].compactMap { $0 }
    return CodeAnswer(query, [CodeReading("EXC_CRASH (\(name))", query: "EXC_CRASH \(hex(first))", facts: facts, rows)])
  }

  private func coded(_ row: CodeMeaning, _ number: UInt64, _ second: UInt64?, _ query: String) -> CodeAnswer {
    let rows = CodeMeaning.exceptionCodes.filter { $0.context == row.name && $0.has(number) }
    let pattern = rows.allSatisfy(Self.hasAddress) ? second.flatMap { AddressPattern($0) } : nil
    guard !rows.isEmpty else {
      return CodeAnswer(
        query, unknown: "\(hex(number)) is unknown as a code of \(row.name)", of: row, collect: Self.collectReport)
    }
    return CodeAnswer(
      query,
      rows.map { code in
        let platform =
          code.numbers.count == 1 && code.numbers[0].platform != .any ? " (\(code.numbers[0].platform.rawValue))" : ""
        return CodeReading(
          "\(row.name) / \(code.name)\(platform)", query: code.query, facts: Self.facts(of: pattern, second),
          [code] + [pattern?.row].compactMap { $0 })
      })
  }

  // MARK: Signals

  /// Whether each word is a number or a signal, as in "139 segv".
  private var areCodes: Bool {
    tokens.allSatisfy { token in
      token.number != nil || ["", "SIG"].contains { MeaningTable.signal(named: $0 + token.upper) != nil }
    }
  }

  /// Parses "SIGSEGV SEGV_MAPERR", "SIGBUS 2".
  mutating func signal(_ token: CodeToken) -> CodeAnswer? {
    let start = position
    // In a sentence, "int" and "stop" are words of it; among codes, they are signals.
    let short = areCodes ? MeaningTable.signal(named: "SIG" + token.upper) : nil
    guard let row = MeaningTable.signal(named: token.upper) ?? short else { return realTime(token) }
    position += 1
    guard let word = nextToken() else { return CodeAnswer(words(from: start), [CodeReading(row)]) }
    if let code = CodeMeaning.signalCodes.first(where: {
      ($0.context == row.name || $0.context == nil) && $0.name == word.upper
    }) {
      position += 1
      return CodeAnswer(
        words(from: start), [CodeReading("\(row.name) / \(code.name)", query: "\(row.name) \(code.name)", [code, row])])
    }
    guard let number = word.number else { return CodeAnswer(words(from: start), [CodeReading(row)]) }
    // The number in the report's "Segmentation fault: 11" is not a code of the signal.
    let codes = CodeMeaning.signalCodes.filter { ($0.context == row.name || $0.context == nil) && $0.has(number) }
    guard !codes.isEmpty else {
      if row.has(number) { position += 1 }
      return CodeAnswer(words(from: start), [CodeReading(row)])
    }
    position += 1
    let isSame = codes.count == 1
    return CodeAnswer(
      words(from: start),
      codes.map { code in
        let systems = code.numbers.filter { $0.value == number && $0.platform != .any }.map(\.platform.rawValue)
        let place = systems.isEmpty || isSame && systems.count > 1 ? "" : " (\(systems.joined(separator: ", ")))"
        return CodeReading("\(row.name) / \(code.name)\(place)", query: "\(row.name) \(code.name)", [code, row])
      })
  }

  /// Parses SIGRTMIN+3, SIGRT_3, or SIGRTMAX.
  private mutating func realTime(_ token: CodeToken) -> CodeAnswer? {
    guard token.upper.hasPrefix("SIGRT") else { return nil }
    position += 1
    return CodeAnswer(token.text, [CodeReading(token.text, query: token.text, [CodeMeaning.realTimeSignal])])
  }

  // MARK: Other names

  /// Parses KERN_INVALID_ADDRESS, SEGV_MAPERR, GUARD_TYPE_FD, STATUS_ACCESS_VIOLATION, per-process-limit.
  mutating func name(_ token: CodeToken) -> CodeAnswer? {
    guard token.number == nil || token.upper.contains("_") else { return nil }
    let rows = MeaningTable.all.filter { row in
      guard ![.message, .function, .kernelTriage, .terminationCode, .namespace].contains(row.kind),
        row.name.uppercased() == token.upper || row.aliases.contains(token.upper)
      else { return false }
      // In a sentence "memory" and "trap" are words of it: a code has capitals there, as in reports, or signs.
      let isSentence = isCopied && tokens.count >= Self.wordsOfSentence
      guard isSentence, token.text.allSatisfy(\.isLetter) else { return true }
      // "JIT" and "CPU" are words of a sentence, too, where the field that has such a code is not named before it.
      return token.text == token.upper && !Self.needingField.contains(row.kind)
    }
    guard !rows.isEmpty else { return nil }
    position += 1
    return CodeAnswer(token.text, rows.map { CodeReading($0) })
  }

  /// Codes whose names are words: their namespace or exception stands before them.
  private static let needingField: Set<CodeMeaning.Kind> = [
    .namespaceCode, .terminationFlag, .jetsamBand, .fastFail, .resource, .guardViolation,
  ]

  // MARK: Numbers

  /// Answers for a number without a field: the meanings in all fields.
  func bareNumber(_ number: UInt64, _ token: CodeToken) -> CodeAnswer {
    var readings: [CodeReading] = []
    if let row = MeaningTable.terminationCode(number) { readings.append(CodeReading(row)) }
    // A small number is mostly something else than an error that a program of Windows raised.
    if number > 0xff, let row = MeaningTable.windows(number) { readings.append(CodeReading(row)) }
    if number < 256 { readings += smallNumber(number) }
    if readings.isEmpty, let signal = Self.endingSignal(number, token) {
      readings += Self.ending("exit status \(token.text)", by: signal)
    }
    if token.isHexadecimal || number > 0xffff {
      readings += CodeMeaning.traps.filter { $0.has(number) && number > 0xff }.map { CodeReading($0) }
    }
    if number >> 61 != 0 {
      let guarded = GuardCode(code: number, subcode: nil)
      if guarded.rows.count > 1, !guarded.name.contains("flavor") { readings.append(Self.guardReading(number, nil)) }
      let resource = ResourceCode(code: number, subcode: nil)
      if resource.rows.count > 1, number & 0x03ff_ffff_0000_0000 == 0 {
        readings.append(Self.resourceReading(number, nil))
      }
    }
    if number > UInt64(UInt32.max) || number == 0xbbad_beef, readings.isEmpty, let pattern = AddressPattern(number) {
      readings.append(
        CodeReading(pattern.row.name, query: "address \(hex(number))", facts: pattern.facts, [pattern.row]))
    }
    if !readings.isEmpty { return CodeAnswer(token.text, readings) }
    return CodeAnswer(
      token.text, unknown: "\(hex(number)) (\(number)) is not a known code",
      collect: [
        number < 256 && !token.isHexadecimal
          ? "put the field of the number before it, such as: crashpadctl explain exit status \(number)"
          : "put the field or namespace of the code before it, such as: crashpadctl explain RUNNINGBOARD \(hex(number))"
      ])
  }

  private func smallNumber(_ number: UInt64) -> [CodeReading] {
    let signals = Self.signals(number)
    let others = [
      MeaningTable.exception(number), MeaningTable.code(number, of: "EXC_BAD_ACCESS", on: .any),
      MeaningTable.code(number, in: "JETSAM"),
    ]
    return signals + others.compactMap { $0 }.map { CodeReading($0) }
  }
}
