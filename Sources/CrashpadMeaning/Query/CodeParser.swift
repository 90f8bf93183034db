// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
/// Parses questions such as "EXC_BAD_ACCESS KERN_PROTECTION_FAILURE SIGBUS" or "Namespace SIGNAL, Code 0xb".
struct CodeParser {
  let text: String
  /// Whether the text is a line of a report, with other words around the codes.
  let isCopied: Bool
  let tokens: [CodeToken]
  var position = 0

  init(_ words: [String]) {
    text = Self.withoutThread(words.joined(separator: " "))
    isCopied = words.contains { $0.contains(" ") || $0.contains(":") }
    tokens = CodeToken.tokens(text)
  }

  /// The reason of an exception, of Xcode's `Thread 1: "*** -[__NSArrayM objectAtIndex:]: index 3 beyond bounds"`.
  private static func withoutThread(_ text: String) -> String {
    guard text.hasPrefix("Thread "), let quote = text.firstRange(of: ": \""),
      text[..<quote.lowerBound].dropFirst("Thread ".count).allSatisfy(\.isNumber)
    else { return text }
    let reason = text[quote.upperBound...]
    return String(reason.hasSuffix("\"") ? reason.dropLast() : reason)
  }

  /// Words of a report that are not codes.
  private static let noise: Set<String> = [
    "TERMINATION", "REASON", "CODE", "CODES", "EXCEPTION", "TYPE", "SUBTYPE", "NOTE", "MESSAGE", "AT", "FROM",
    "-", "&", "AND",
  ]

  mutating func answers() -> [CodeAnswer] {
    if let answer = unitStatus() { return [answer] }
    if isCopied, let answer = batchStatus() ?? kernelFault() { return [answer] }
    let message = EvidenceSearch.all.message(text)
    // A message says more than the words of a signal, and may end with them: "*** stack smashing detected ***: terminated".
    let isExact = message.map { $0.grounds.level < .general } ?? false
    if isCopied, let answer = kernelLine() ?? (isExact ? nil : shellLine()) { return [answer] }
    let found = codes()
    let isNamed = found.contains { !$0.isNumber && $0.answer.isKnown }
    if !isNamed, !isExact, let answer = phrase() { return [answer] }
    // A number in a line that names a code or a status is of something else: a process, a line, an address, a time.
    let saysField = isNamed || found.contains { !$0.isNumber && $0.answer.saysField }
    let isSentence = isCopied && found.count { !$0.isNumber } >= Self.wordsOfSentence
    let answers = Self.merged(found.filter { !isSentence && (!isCopied || !saysField) || !$0.isNumber }.map(\.answer))
    let unknown = answers.filter { !$0.isKnown && $0.unknown?.owner == nil }
    // A message may contain words that are also codes. If any word is not a code, the
    // text is matched as a message first.
    if unknown.isEmpty && !answers.isEmpty { return answers }
    // Such words as "fatal error" say less than a code that is named beside them, and may be of another runtime.
    let says = isNamed && message.map { $0.grounds.level > .cause } ?? false ? nil : message
    if let row = named(text) ?? says ?? MeaningTable.kernelTriage(text) ?? EvidenceSearch.all.function(text) {
      return [CodeAnswer(text, [CodeReading(row)])]
    }
    let known = answers.filter { $0.isKnown || $0.saysField }
    if isCopied, !known.isEmpty { return known }
    // One error for a sentence, and not one for each of its words.
    if answers.isEmpty || isSentence { return [Self.unknownName(text, text)] }
    return answers
  }

  /// Without answers that another one contains, such as those to "signal 11 (SIGSEGV), code 1 (SEGV_MAPERR)".
  private static func merged(_ answers: [CodeAnswer]) -> [CodeAnswer] {
    let titles = answers.map { $0.readings.count == 1 ? $0.readings.first?.title : nil }
    return answers.indices.filter { index in
      guard let title = titles[index] else { return true }
      return !titles.contains { $0?.hasPrefix(title + " / ") == true } && !titles[..<index].contains(title)
    }.map { answers[$0] }
  }

  /// As many words that are no codes make a sentence, whose numbers are none either.
  static let wordsOfSentence = 4

  /// The answers to all words, and whether each is to a number alone.
  private mutating func codes() -> [(answer: CodeAnswer, isNumber: Bool)] {
    var found: [(CodeAnswer, Bool)] = []
    skipThread()
    while position < tokens.count {
      let start = position
      if let answer = next() {
        found.append((answer, position == start + 1 && tokens[start].number != nil && !Self.isDistinct(tokens[start])))
      }
      if position == start { position += 1 }
    }
    return found
  }

  /// Whether a number is a code whatever stands around it, such as 0x8badf00d and 0xc0000005.
  private static func isDistinct(_ token: CodeToken) -> Bool {
    guard let number = token.number, token.isHexadecimal, number > 0x7fff_ffff else { return false }
    return MeaningTable.terminationCode(number) != nil || MeaningTable.windows(number) != nil
  }

  private func named(_ text: String) -> CodeMeaning? {
    let upper = text.uppercased()
    return MeaningTable.all.first { $0.name.uppercased() == upper || $0.query.uppercased() == upper }
  }

  // MARK: One code

  var token: CodeToken? { position < tokens.count ? tokens[position] : nil }
  func token(at offset: Int) -> CodeToken? { position + offset < tokens.count ? tokens[position + offset] : nil }

  /// The consumed words from `start` on.
  func words(from start: Int) -> String { tokens[start..<position].map(\.text).joined(separator: " ") }

  private mutating func next() -> CodeAnswer? {
    guard let token else { return nil }
    if let answer = keyword(token) { return answer }
    if let answer = namespace(token) { return answer }
    if let answer = exception(token) { return answer }
    if let answer = exitStatus() { return answer }
    if let answer = signal(token) { return answer }
    if let answer = name(token) { return answer }
    let start = position
    position += 1
    if let number = token.number { return bareNumber(number, token) }
    if Self.noise.contains(token.upper) && tokens.count > 1 { return nil }
    return Self.unknownName(words(from: start), token.text)
  }

  private mutating func skipNoise() {
    while let token, Self.noise.contains(token.upper) { position += 1 }
  }

  /// The next word that is not noise.
  mutating func nextToken() -> CodeToken? {
    skipNoise()
    return token
  }

  /// Consumes a number, if it is the next word; skips noise before it.
  mutating func takeNumber() -> UInt64? {
    let start = position
    skipNoise()
    guard let number = token?.number else {
      position = start
      return nil
    }
    position += 1
    return number
  }

  // MARK: Words in front of a number

  mutating func keyword(_ token: CodeToken) -> CodeAnswer? {
    let start = position
    func end(_ readings: [CodeReading], _ number: UInt64, _ field: String) -> CodeAnswer {
      let query = words(from: start)
      if !readings.isEmpty { return CodeAnswer(query, readings) }
      return CodeAnswer(query, unknown: "\(hex(number)) is unknown as \(field)")
    }
    func rows(_ rows: [CodeMeaning], _ number: UInt64) -> [CodeReading] {
      rows.filter { $0.has(number) }.map { CodeReading($0) }
    }
    position += 1
    switch token.upper {
    case "ESR", "SYNDROME":
      let part = self.token?.upper
      if part == "EC" || part == "DFSC" || part == "CLASS" || part == "STATUS" { position += 1 }
      if let number = takeNumber() {
        if part == "EC" || part == "CLASS" { return end(rows(CodeMeaning.syndromes, number), number, "a class of esr") }
        if part == "DFSC" || part == "STATUS" {
          return end(rows(CodeMeaning.faultStatuses, number), number, "a fault status of esr")
        }
        return end(Self.syndrome(number), number, "a value of esr")
      }
    case "BRK":
      if let number = takeNumber() { return end(rows(CodeMeaning.traps, number), number, "an immediate of brk") }
    case "FLAG", "FLAGS":
      if let number = takeNumber() { return end(Self.flags(number), number, "termination flags") }
    case "BAND", "PRIORITY":
      if let number = takeNumber() { return end(rows(CodeMeaning.jetsamBands, number), number, "a band of jetsam") }
    case "ADDRESS", "FAR", "CR2":
      if let name = self.token,
        let row = CodeMeaning.addresses.first(where: { $0.name.uppercased() == "ADDRESS \(name.upper)" })
      {
        position += 1
        return CodeAnswer(words(from: start), [CodeReading(row)])
      }
      if let number = takeNumber() {
        let pattern = AddressPattern(number).map { [CodeReading($0.row.name, facts: $0.facts, [$0.row])] } ?? []
        return end(pattern, number, "an address: it has none of the known patterns")
      }
    case "WINDOWS", "NTSTATUS":
      if let number = takeNumber() { return end(rows(CodeMeaning.windowsCodes, number), number, "a code of Windows") }
    case "BUG_TYPE", "BUGTYPE":
      if let number = takeNumber() {
        let found = rows(CodeMeaning.bugTypes, number)
        if !found.isEmpty { return end(found, number, "") }
        return CodeAnswer(words(from: start), unknown: "\(number) is unknown as a type of report")
      }
    case "FASTFAIL", "FAST_FAIL":
      if let number = takeNumber() { return end(rows(CodeMeaning.fastFails, number), number, "a reason of __fastfail") }
    case "SIGNAL" where start == 0 || tokens[start - 1].upper != "NAMESPACE":
      // In "Namespace SIGNAL, Code 11" the code is a Darwin signal. SwiftPM writes "unexpected signal code 11".
      if self.token?.upper == "CODE", self.token(at: 1)?.number != nil { position += 1 }
      if self.token?.number != nil, let number = takeNumber() {
        return end(Self.signals(number), number, "a signal")
      }
      if let name = self.token?.upper,
        let row = MeaningTable.signal(named: "SIG" + name) ?? MeaningTable.signal(named: name)
      {
        position += 1
        return CodeAnswer(words(from: start), [CodeReading(row)])
      }
    case "EXCEPTION", "MACH":
      if self.token?.upper == "EXCEPTION" { position += 1 }
      if self.token?.number != nil, let number = takeNumber(), number < 16 {
        return end(rows(CodeMeaning.exceptions, number), number, "a Mach exception")
      }
    default: break
    }
    position = start
    return nil
  }

  static func flags(_ value: UInt64) -> [CodeReading] {
    let found = CodeMeaning.terminationFlags.filter { $0.number.map { value & $0 != 0 } ?? false }
    if found.count == 1, found[0].number == value { return [CodeReading(found[0])] }
    guard !found.isEmpty else { return [] }
    var facts = found.map { DecodedFact($0.number.map(hex) ?? "", "\($0.name): \($0.event)") }
    let rest = found.reduce(value) { $0 & ~($1.number ?? 0) }
    if rest != 0 { facts.append(DecodedFact(hex(rest), "unknown")) }
    // The most informative flags come first.
    let order: [UInt64] = [0x100, 0x40, 0x1000, 0x400, 0x200, 0x80]
    let first = order.compactMap { bit in found.first { $0.number == bit } }.first ?? found[0]
    let others = found.filter { $0 != first }
    return [
      CodeReading("termination flags \(hex(value))", query: "flags \(hex(value))", facts: facts, [first] + others)
    ]
  }

  static func syndrome(_ value: UInt64) -> [CodeReading] {
    let decoded = FaultSyndrome(value)
    guard !decoded.rows.isEmpty else { return [] }
    return [CodeReading("esr \(hex(value))", query: "esr \(hex(value))", facts: decoded.facts, decoded.rows)]
  }

  /// The Linux and Darwin signals with this number; one reading if they are the same.
  static func signals(_ number: UInt64) -> [CodeReading] {
    let linux = MeaningTable.signal(number, on: .linux)
    let darwin = MeaningTable.signal(number, on: .darwin)
    if let linux, linux == darwin { return [CodeReading(linux.name, query: linux.name, facts: [], [linux])] }
    var readings: [CodeReading] = []
    if let linux {
      readings.append(CodeReading("\(linux.name) (signal \(number) of Linux)", query: linux.name, [linux]))
    }
    if let darwin {
      readings.append(CodeReading("\(darwin.name) (signal \(number) of Darwin)", query: darwin.name, [darwin]))
    }
    if readings.isEmpty, (32...64).contains(number) { readings.append(realTimeSignal(number)) }
    return readings
  }

  private static func realTimeSignal(_ number: UInt64) -> CodeReading {
    let row = CodeMeaning.realTimeSignal
    func name(_ first: UInt64) -> String {
      number < first ? "kept by the library" : number == first ? "SIGRTMIN" : "SIGRTMIN+\(number - first)"
    }
    return CodeReading(
      "signal \(number) of Linux, a real-time signal", query: "signal \(number)",
      facts: [DecodedFact("glibc", name(34)), DecodedFact("musl", name(35))], [row])
  }

  // MARK: Unknown

  static let collectReport = [
    "The whole report, with all its text around the code.", "The system's version, and its log of that time.",
  ]
  static let collectTermination = [
    "The whole termination: reasons, details, indicator and the terminating process.",
    "The system's log of that time (sysdiagnose), and the version of the system.",
  ]

  private static func unknownName(_ query: String, _ name: String) -> CodeAnswer {
    CodeAnswer(query, unknown: "\"\(name)\" is not a known code", suggestions: Suggestions.names(like: name))
  }
}

extension CodeAnswer {
  /// The answers to the words on a command line, or in a line copied from a report.
  package static func answers(to words: [String]) -> [CodeAnswer] {
    var parser = CodeParser(words)
    return parser.answers()
  }
}
