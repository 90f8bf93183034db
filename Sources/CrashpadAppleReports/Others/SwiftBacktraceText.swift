// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads the text of swift-backtrace, with or without colors.
struct SwiftBacktraceText {
  var builder: ReportBuilder
  private var hasBegun = false
  private var isInImages = false
  private var hasBrokenLines = false
  private var names: [[String?]] = []
  private var registers: [CPUContext.NamedRegister] = []
  /// The thread of the next registers. The section after the threads has the registers of the crashed thread.
  private var registerThread: Int?
  private var description = ""
  private var address: UInt64?

  init(_ builder: ReportBuilder) { self.builder = builder }

  mutating func read(_ bytes: RawSpan) {
    let text = bytes.array()
    let lines = text.split(separator: 0x0a, omittingEmptySubsequences: false)
      .map { (text: Self.plain($0), offset: $0.startIndex) }
    let width = lines.reduce(0) { max($0, $1.text.count) }
    // A mail breaks lines at blanks: only a long word has a wider line.
    let filled = lines.reduce(0) { $1.text.isBreakable ? max($0, $1.text.count) : $0 }
    var index = 0
    while index < lines.count {
      var line = lines[index].text
      let offset = lines[index].offset
      // A message broke all lines at one width.
      while index + 1 < lines.count, line.count < Self.longestLine, isRest(lines[index + 1].text, of: line) {
        let next = lines[index + 1].text
        let isFixed = lines[index].text.count == width && width <= OmittedLines.widestBroken
        let word = next.prefix { $0 != 0x20 }.count
        guard isFixed || filled <= OmittedLines.widestBroken && lines[index].text.count + 1 + word > filled else {
          break
        }
        index += 1
        line = Array(line + (isFixed ? [] : [0x20]) + next)[...]
        if !hasBrokenLines {
          builder.note(ReportRules.damagedWrapping, at: lines[index].offset, found: .text("broken lines"))
        }
        hasBrokenLines = true
      }
      readLine(line, at: offset)
      index += 1
    }
    endRegisters()
    guard hasBegun else {
      builder.note(ReportRules.noBody, at: 0)
      builder.isRefused = true
      return
    }
    if builder.snapshot.threads.isEmpty { builder.note(ReportRules.noThreads) }
    // A list of images ends the text, but where the program asked for none; a line without its end was cut.
    if !isInImages, text.last != 0x0a || builder.report.faultingThread == nil {
      builder.note(ReportRules.cut, at: text.count)
      builder.snapshot.isComplete = false
    }
    builder.resolveSwiftFrames(names)
    builder.setSwiftException(description, address: address)
  }

  /// Names of generic functions are long; no line of a backtrace is longer.
  private static let longestLine = 8192

  /// Whether a line can't begin anything below a frame or an image.
  private func isRest(_ line: TextBytes, of before: TextBytes) -> Bool {
    guard let first = line.first, hasBegun, before.first?.isDigit == true, before.first(of: "0x") != nil else {
      return false
    }
    let starts = [
      "Thread ", "Registers:", "Images", "Backtrace took", "...", "0x", "```", "~~~", "{code", "{noformat", "</", "|}",
    ]
    return !first.isDigit && first < 0x80 && !starts.contains { line.has(prefix: $0) }
  }

  /// The line without color sequences and without text overwritten by a carriage return.
  private static func plain(_ line: TextBytes) -> TextBytes {
    var result: [UInt8] = []
    result.reserveCapacity(line.count)
    var isEscape = false
    for byte in line {
      if isEscape {
        isEscape = !(0x40...0x5a).contains(byte) && !(0x61...0x7a).contains(byte)
      } else if byte == 0x1b {
        isEscape = true
      } else {
        result.append(byte)
      }
    }
    while result.last == 0x0d { result.removeLast() }
    return result[(result.lastIndex(of: 0x0d).map { $0 + 1 } ?? 0)...].trimmed
  }

  private mutating func readLine(_ line: TextBytes, at offset: Int) {
    if let place = line.first(of: "Program crashed: ") { return begin(line[(place + 17)...]) }
    if hasBegun, OmittedLines.isMark(line) {
      return builder.note(ReportRules.damagedWrapping, at: offset, found: .text("lines were left out"))
    }
    guard hasBegun else {
      if line.first(of: "Fatal error") != nil { builder.addMessage(line.string) }
      return
    }
    if line.has(prefix: "Platform: ") { return platform(line.dropFirst(10).trimmed) }
    if line.has(prefix: "Thread ") { return thread(line.dropFirst(7)) }
    if line.equals("Registers:") {
      registerThread = builder.report.faultingThread
      return
    }
    if line.has(prefix: "Images") {
      isInImages = true
      return
    }
    if isInImages, line.has(prefix: "0x") { return image(line, at: offset) }
    if !isInImages { frameOrRegisters(line, at: offset) }
  }

  /// Parses "Illegal instruction at 0x00007f0dd996df7f ***".
  private mutating func begin(_ line: TextBytes) {
    var text = line
    if text.has(suffix: "***") { text = text.dropLast(3).trimmed }
    hasBegun = true
    if let place = text.last(of: " at 0x") {
      address = text[(place + 4)...].address
      text = text[..<place]
    }
    description = text.string
  }

  /// Parses "x86_64 Linux (Debian GNU/Linux 12 (bookworm))".
  private mutating func platform(_ text: TextBytes) {
    var rest = text
    let architecture = rest.takeWord().string
    builder.report.codeType = architecture
    builder.snapshot.system.architecture = ReportNames.architecture(architecture)
    builder.setSwiftPlatform(rest.trimmed.string)
  }

  /// Parses "0 \"crash\" crashed:".
  private mutating func thread(_ text: TextBytes) {
    endRegisters()
    var rest = text
    guard let number = rest.takeNumber(), rest.has(suffix: ":") else { return }
    var thread = ThreadSnapshot()
    if number != builder.snapshot.threads.count { thread.number = Int(exactly: number) }
    thread.frames = []
    if let open = rest.firstIndex(of: 0x22), let close = rest.lastIndex(of: 0x22), open < close {
      thread.name = builder.content(rest[(open + 1)..<close].string)
    }
    if rest.has(suffix: "crashed:"), builder.report.faultingThread == nil {
      builder.report.faultingThread = builder.snapshot.threads.count
    }
    registerThread = builder.snapshot.threads.count
    builder.snapshot.threads.append(thread)
    names.append([])
  }

  // MARK: Frames

  /// Parses "3 [ra]          0x000055c4c576b15a turn(_:by:) + 57 in crash at /src/crash.swift:2:80",
  /// or "rax 0x0000000000000000  0".
  private mutating func frameOrRegisters(_ line: TextBytes, at offset: Int) {
    var rest = line
    let first = rest.takeWord()
    guard first.decimal != nil else { return readRegisters(line) }
    guard !builder.snapshot.threads.isEmpty else { return }
    var isInlined = false
    while rest.trimmed.first == UInt8(ascii: "[") { if rest.takeWord().equals("[inlined]") { isInlined = true } }
    guard let address = rest.takeWord().address else {
      // A line of source code, or of a program's output.
      return
    }
    var frame = RecordedFrame(address: address)
    frame.isInlined = isInlined
    names[names.count - 1].append(readWhat(rest.trimmed, &frame))
    builder.snapshot.threads[names.count - 1].frames?.append(frame)
  }

  /// Parses the description of a frame. Returns the image's name.
  private func readWhat(_ text: TextBytes, _ frame: inout RecordedFrame) -> String? {
    var rest = text
    if let place = rest.last(of: " at "), rest[place...].contains(UInt8(ascii: "/")) || rest[place...].contains(0x3a) {
      readPlace(rest[(place + 4)...], &frame)
      rest = rest[..<place]
    }
    var image: String?
    if let place = rest.last(of: " in ") {
      image = rest[(place + 4)...].string
      rest = rest[..<place]
    } else if rest.has(prefix: "in ") {
      image = rest.dropFirst(3).string
      rest = []
    }
    if let place = rest.last(of: " + "), let distance = rest[(place + 3)...].number {
      frame.functionOffset = distance
      rest = rest[..<place]
    }
    if !rest.isEmpty, !rest.equals("<unknown>") { frame.function = rest.string }
    return image
  }

  /// Parses "/src/crash.swift:2:80", or only a file.
  private func readPlace(_ text: TextBytes, _ frame: inout RecordedFrame) {
    var numbers: [UInt64] = []
    var path = text
    while numbers.count < 2, let colon = path.lastIndex(of: 0x3a), let number = path[(colon + 1)...].decimal {
      numbers.insert(number, at: 0)
      path = path[..<colon]
    }
    frame.file = path.string
    frame.line = numbers.first.flatMap { UInt32(exactly: $0) }
  }

  // MARK: Registers

  private mutating func readRegisters(_ line: TextBytes) {
    var rest = line
    while registers.count < 64 {
      let name = rest.takeWord()
      guard !name.isEmpty, name.count <= 6, let value = rest.takeWord().address else { return }
      registers.append(CPUContext.NamedRegister(name: name.string, value: value))
      // Segment registers: "cs 0x0033  fs 0x0000  gs 0x0000". On other lines, the value is repeated in another form.
      guard name.count == 2, name.last == UInt8(ascii: "s") else { return }
    }
  }

  private mutating func endRegisters() {
    defer { registers = [] }
    guard let thread = registerThread ?? builder.report.faultingThread, registers.count > 4,
      builder.snapshot.threads.indices.contains(thread)
    else { return }
    builder.snapshot.threads[thread].context = ReportRegisters.context(registers)
  }

  // MARK: Images

  /// Parses "0x000055c4c576a000–0x000055c4c576b6e0 bda362c1… crash   /src/crash". The dash takes three bytes.
  private mutating func image(_ line: TextBytes, at offset: Int) {
    var rest = line
    let range = rest.takeWord()
    let startWord = range.prefix { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) || $0 == 0x78 }
    guard let start = startWord.address else { return builder.note(ReportRules.badImage, at: offset) }
    let end = range.last(of: "0x").flatMap { $0 > startWord.startIndex ? range[$0...].address : nil }
    var afterIdentity = rest
    let identity = afterIdentity.takeWord()
    let hasIdentity = identity.count >= 8 && !SwiftHex.bytes(identity.string).isEmpty
    if hasIdentity { rest = afterIdentity }
    rest = rest.trimmed
    let slash = rest.first(of: " /")
    builder.addSwiftImage(
      name: rest[..<(slash ?? rest.endIndex)].trimmed.string, path: slash.map { rest[($0 + 1)...].string } ?? "",
      identity: hasIdentity ? identity.string : "", start: start, end: end)
  }
}

enum SwiftHex {
  /// The bytes for pairs of hexadecimal digits; empty if there are other characters.
  static func bytes(_ text: String) -> [UInt8] {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return [] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = digits[index..<index + 2].hexadecimal else { return [] }
      bytes.append(UInt8(byte))
    }
    return bytes
  }
}
