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

  /// Skips "AST: type=0x1 flavor=0x200 target=0x3029f" of the kernel's line about a guard: the code word behind has them all.
  mutating func skipFieldsOfGuard() {
    guard token?.upper == "AST" else { return }
    position = tokens[position...].firstIndex { $0.upper == "CODE" } ?? position
  }

  // MARK: What the kernel and systemd log

  private static let trapWords: [(String, String)] = [
    ("invalid opcode", "SIGILL"), ("divide error", "SIGFPE"), ("int3", "SIGTRAP"), ("general protection", "SIGSEGV"),
    ("bounds", "SIGSEGV"), ("alignment check", "SIGBUS"), ("stack segment", "SIGBUS"),
  ]

  private static let noMemory = "the kernel, as the container or the machine had no memory left"
  private static let wroteCore = DecodedFact("core", "the kernel wrote a core file")

  private static let withoutAddress = DecodedFact(
    "address", "the processor gives none for such a fault; mostly it is one that no pointer can have (not canonical)")

  private func ended(by row: CodeMeaning, _ title: String, _ facts: [DecodedFact]) -> CodeAnswer {
    CodeAnswer(text, [CodeReading("\(title): \(row.name)", query: row.name, facts: facts, [row])])
  }

  /// The answer to the lines of the Linux kernel about errors of its own, such as "Oops: 0002 [#1] SMP"; nil for other text.
  func kernelFault() -> CodeAnswer? {
    let row = CodeMeaning.message(named: "Fault in the Linux kernel")
    let line = text.lowercased()
    guard hasOopsCount || row.aliases.contains(where: { line.containsBytes($0) }) else { return nil }
    return CodeAnswer(text, [CodeReading(row)])
  }

  /// Whether an error code and the number of the kernel's errors stand in the line: ": 0000 [#1]".
  private var hasOopsCount: Bool {
    guard let open = text.firstRange(of: " [#"), let close = text[open.upperBound...].firstIndex(of: "]") else {
      return false
    }
    let number = text[open.upperBound..<close]
    let code = text[..<open.lowerBound].split(separator: " ").last ?? ""
    return !number.isEmpty && number.allSatisfy(\.isNumber) && code.count >= 4 && code.allSatisfy(\.isHexDigit)
  }

  /// The answer to Slurm's words about a step that it or the kernel ended; nil for other text.
  func batchStatus() -> CodeAnswer? {
    let line = text.lowercased()
    guard line.containsBytes("srun: error: ") || line.containsBytes("slurmstepd: error: ") else { return nil }
    if line.hasSuffix("out of memory"), let row = MeaningTable.signal(named: "SIGKILL") {
      return ended(by: row, "\"\(text)\"", [DecodedFact("cause", Self.noMemory)])
    }
    if line.containsBytes("due to time limit"), let row = MeaningTable.signal(named: "SIGTERM") {
      return ended(by: row, "\"\(text)\"", [DecodedFact("cause", "Slurm, as the job had used up its time")])
    }
    return nil
  }

  /// The answer to "shop[812]: segfault at 8 ip … sp … error 4 in libshop.so[…]", to "traps: shop[812] trap invalid opcode ip:…
  /// sp:… error:0" and to "Memory cgroup out of memory: Killed process 812 (shop)": nil for other text.
  func kernelLine() -> CodeAnswer? {
    func word(after marker: String) -> String? {
      text.firstRange(of: marker).map { String(text[$0.upperBound...].prefix { !" ,;".contains($0) }) }
    }
    if let process = word(after: "ut of memory: Killed process "), let row = MeaningTable.signal(named: "SIGKILL") {
      return ended(
        by: row, "\"Out of memory\" of the Linux kernel",
        [DecodedFact("cause", Self.noMemory), DecodedFact("process", process)])
    }
    if let address = word(after: "segfault at "), text.containsBytes(" ip "),
      let row = MeaningTable.signal(named: "SIGSEGV")
    {
      var facts = [DecodedFact("address", "0x" + address)]
      if let place = word(after: " ip ") { facts.append(DecodedFact("instruction", "0x" + place)) }
      // The kernel writes it in hexadecimal digits, without a mark.
      if let digits = word(after: " error "), let error = UInt64(digits, radix: 16) {
        facts.append(DecodedFact("error \(digits)", Self.pageFault(error)))
      }
      return ended(by: row, "\"segfault\" of the Linux kernel", facts)
    }
    guard text.containsBytes(" ip:"), text.containsBytes(" sp:"),
      let name = Self.trapWords.first(where: { text.containsBytes($0.0) }), let row = MeaningTable.signal(named: name.1)
    else { return nil }
    var facts = word(after: " ip:").map { [DecodedFact("instruction", "0x" + $0)] } ?? []
    if name.0 == "general protection" { facts.append(Self.withoutAddress) }
    return ended(by: row, "\"\(name.0)\" of the Linux kernel", facts)
  }

  /// The bits of a page fault's error code of x86. Source: arch/x86/include/asm/trap_pf.h of Linux.
  static func pageFault(_ error: UInt64) -> String {
    let access = error & 16 != 0 ? "an instruction fetch" : error & 2 != 0 ? "a write" : "a read"
    let mode = error & 4 != 0 ? "by the program" : "by the kernel"
    return "\(access) \(mode) \(error & 1 != 0 ? "of a page that does not allow it" : "of a page that is not mapped")"
  }

  /// The answer to systemd's "code=killed, status=11/SEGV", "code=dumped, status=6/ABRT", and to the status alone; nil for other
  /// text.
  func unitStatus() -> CodeAnswer? {
    guard let status = text.firstRange(of: "status="),
      case let value = text[status.upperBound...].prefix(while: { !" ,);".contains($0) }),
      case let parts = value.split(separator: "/"), parts.count == 2, let number = UInt64(parts[0]),
      let row = MeaningTable.signal(named: "SIG\(parts[1])"), row.has(number, on: [.linux, .any])
    else { return nil }
    var facts: [DecodedFact] = []
    if text.containsBytes("code=dumped") {
      facts.append(Self.wroteCore)
    } else if text.containsBytes("code=killed") {
      facts.append(DecodedFact("core", "none is named"))
    }
    return ended(by: row, "\"\(value)\" of systemd", facts)
  }

  // MARK: What shells and containers print

  /// Words that say the end by a signal of Linux wherever they stand.
  private static let phrases: [(String, UInt64)] = [
    ("segmentation fault", 11), ("invalid memory reference", 11), ("general protection fault", 11), ("bus error", 7),
    ("illegal instruction", 4), ("illegal hardware instruction", 4), ("trace/breakpoint trap", 5),
    ("trace/bpt trap", 5), ("floating point exception", 8), ("floating-point exception", 8), ("abort trap", 6),
    ("bad system call", 31), ("invalid system call", 31),
    // OpenJ9's own words.
    ("type=segmentation error", 11), ("type=floating point error", 8), ("type=abort vmstate", 6),
    ("broken pipe", 13), ("cpu time limit exceeded", 24), ("cpu limit exceeded", 24), ("file size limit exceeded", 25),
  ]
  /// Words that say the end by SIGKILL wherever they stand, with its cause.
  private static let memoryPhrases: [(String, cause: String)] = [
    ("oomkilled", noMemory), ("oom-kill", noMemory), ("oom_kill", noMemory), ("killed by the oom killer", noMemory),
    (
      "terminated due to memory issue",
      "the system, as the app used more memory than it may, or the device had none left"
    ),
  ]
  /// Words that have another meaning in a sentence.
  private static let wholeLines: [(String, UInt64)] = [
    ("aborted", 6), ("killed", 9), ("terminated", 15), ("hangup", 1), ("quit", 3), ("interrupt", 2),
    ("alarm clock", 14),
  ]
  /// Words of zsh alone.
  private static let wordsOfZsh: [(String, UInt64)] = [("abort", 6), ("trace trap", 5), ("alarm", 14)]

  /// The answer to the line of a shell about a program that a signal ended, which has the words of the signal and at most its
  /// number, "(core dumped)" and the command: "Killed: 9", "bash: line 1: 812 Aborted  (core dumped) ./shop", "[1]+  Terminated
  /// ./shop", "zsh: abort  ./shop"; nil for other text.
  func shellLine() -> CodeAnswer? {
    let line = text.lowercased()
    let isOfZsh = line.hasPrefix("zsh: ")
    var rest = line[...]
    while true {
      // The number of a job or of the process is in front of the words.
      let start = rest.drop { "0123456789 []+-".contains($0) }
      let isShell = Self.mayPrecede(line[..<rest.startIndex])
      let words = Self.phrases + (isShell ? Self.wholeLines : []) + (isOfZsh ? Self.wordsOfZsh : [])
      for (name, signal) in words where start.hasPrefix(name) {
        let behind = start.dropFirst(name.count)
        if let row = MeaningTable.signal(signal, on: .linux), Self.mayFollow(behind, row, isOfZsh: isOfZsh) {
          return ended(by: row, line)
        }
      }
      guard let colon = rest.firstRange(of: ": ") else { return nil }
      rest = rest[colon.upperBound...]
    }
  }

  /// Whether a shell writes this in front of the words of a signal: its own name or the script's, and the line; or Apple's reports.
  private static func mayPrecede(_ text: Substring) -> Bool {
    text.split(separator: ":").map { $0.drop { $0 == " " } }.allSatisfy { part in
      part.isEmpty || part == "termination signal"
        || (part.hasPrefix("line ") ? part.dropFirst(5).allSatisfy(\.isNumber) : !part.contains(" "))
    }
  }

  /// Whether a shell may write this behind the words of a signal.
  private static func mayFollow(_ text: Substring, _ row: CodeMeaning, isOfZsh: Bool) -> Bool {
    if text.isEmpty || text.hasPrefix(" (core dumped)") || text.hasPrefix("  ") { return true }
    if isOfZsh { return text.hasPrefix(" ") }
    return text.hasPrefix(": ") && UInt64(text.dropFirst(2)).map { row.has($0) } ?? false
  }

  /// The answer to a line that a container or a runtime prints of a program that a signal ended; nil for other text.
  func phrase() -> CodeAnswer? {
    let line = text.lowercased()
    if let (_, cause) = Self.memoryPhrases.first(where: { line.containsBytes($0.0) }),
      let row = MeaningTable.signal(named: "SIGKILL")
    {
      return ended(by: row, "\"\(text)\"", [DecodedFact("cause", cause)])
    }
    guard
      let signal = Self.phrases.first(where: { line.containsBytes($0.0) })?.1
        ?? Self.wholeLines.first(where: { line == $0.0 })?.1,
      let row = MeaningTable.signal(signal, on: .linux)
    else { return nil }
    return ended(by: row, line)
  }

  /// Whether the words of a signal stand in a sentence of a person, who tells of an end at some time: a word of the sentence is before
  /// them, where programs have a sign, a number or a word that announces a signal.
  var isTold: Bool {
    let line = text.lowercased()
    guard let place = Self.phrases.compactMap({ line.firstRange(of: $0.0) }).first else { return false }
    let before = line[..<place.lowerBound]
    guard before.hasSuffix(" "), let last = before.split(separator: " ").last, last.allSatisfy(\.isLetter) else {
      return false
    }
    return !Self.announcers.contains(String(last))
  }

  private static let announcers: Set = ["signal", "with", "by", "got", "received", "caught", "code", "error", "from"]

  private func ended(by row: CodeMeaning, _ line: String) -> CodeAnswer {
    ended(by: row, "\"\(text)\"", line.containsBytes("core dumped") ? [Self.wroteCore] : [])
  }
}
