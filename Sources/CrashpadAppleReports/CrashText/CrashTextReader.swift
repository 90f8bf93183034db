// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads Apple's `.crash` texts and the texts of resource reports.
enum CrashTextReader {
  /// - Parameter start: the byte offset of the text; a JSON header may precede it.
  static func read(_ bytes: RawSpan, from start: Int, into builder: inout ReportBuilder) {
    let content = CutText.whole(bytes.array(in: ByteRange(offset: 0, count: bytes.byteCount)))
    var rest = content[min(start, content.count)...]
    let head = start == 0 ? TextStart.of(bytes) : []
    if WalkedText.isIn(head[...]) { return WalkedText.read(rest.withoutMark, into: &builder) }
    if !head.isEmpty, !TextStart.isApple(head[...]) {
      if let form = ToolText.form(ofTextWith: head[...]) { return form.read(rest.withoutMark, into: &builder) }
      if PastedLine.areIn(head[...]) { return PastedText.read(rest.withoutMark, into: &builder) }
    }
    var text = CrashText(builder)
    text.isCr4shed = CrashText.isCr4shed(rest.withoutMark)
    var indentation: Int?
    while let line = rest.popLine() {
      if indentation == nil { indentation = line.headIndentation }
      text.read(line.dropFirst(Swift.min(indentation ?? 0, line.blanks)))
      if text.section == .ended { break }
    }
    text.finish(content[...], isCut: content.last != 0x0a && !text.endsInWords(content[...]))
    builder = text.builder
  }
}

extension TextBytes {
  /// The text without a byte order mark and blank lines before it.
  fileprivate var withoutMark: TextBytes { drop { [0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d].contains($0) } }

  /// Removes and returns the first line, without its line end.
  fileprivate mutating func popLine() -> TextBytes? {
    guard !isEmpty else { return nil }
    let end = firstIndex(of: 0x0a) ?? endIndex
    var line = self[..<end]
    self = self[Swift.min(end + 1, endIndex)...]
    if line.last == 0x0d { line.removeLast() }
    return line
  }

  /// The number of leading blanks.
  fileprivate var blanks: Int { prefix { Self.isBlank($0) }.count }

  /// The number of blanks before the first line of a report, as in a report quoted in a message; nil for other lines.
  fileprivate var headIndentation: Int? {
    let count = blanks
    let content = self[(startIndex + count)...]
    let isFirst = ["Incident Identifier:", "Process:", "Exception Type:", "panic(cpu "].contains {
      content.has(prefix: $0)
    }
    return isFirst || TextStart.hasCrashed(content) ? count : nil
  }
}

/// The state while a `.crash` text is read, line by line.
struct CrashText {
  /// The part of the report to which a line belongs.
  enum Section: Equatable {
    case head
    /// Lines that explain a termination.
    case termination
    case messages, signatures, syslog, triage, vmRegions, dyld, formulating
    case lastException
    /// A backtrace that the code in one image left for the report.
    case ownBacktrace
    case thread, registers, instructions
    case images
    /// The parts of a resource report.
    case heaviest, samples
    /// The call trees of threads, of sample(1) and spindump.
    case tree
    /// The text of the kernel.
    case panic
    /// Cr4shed's list of images.
    case loadedImages
    case skipped
    case ended
  }

  var builder: ReportBuilder
  var section = Section.head
  /// Whether the last line was blank.
  var isAfterBlank = false
  /// The byte offset of the last line that is not blank.
  var lastLine = 0
  var seen = Seen()

  struct Seen {
    var images = false
    var ownBacktrace = false
    var samples = 0
    /// Whether a frame had an address.
    var addresses = false
    /// Whether a line names the thread that crashed.
    var crashedThread = false
    /// Whether a line ends in the mark of those that are cut.
    var cutLine = false
    /// The byte offset of a key without its value, where the text may be cut.
    var cutKey: Int?
    /// The byte offset of a frame or an image that can't be read.
    var unreadLine: Int?
    /// Whether the text says that it has no stacks.
    var noBacktrace = false
  }

  // MARK: What is resolved at the end

  /// The index of each thread, by its number in the text.
  var threadIndices: [UInt64: Int] = [:]
  var threadNumbers: [UInt64] = []
  /// The thread to which the current frames and registers belong.
  var thread = 0
  var faultingNumber: UInt64?
  var frames = TextFrames()
  /// The frames above the first title of a thread.
  var headless: [TextFrame] = []
  /// The places where frames of a recursion are missing: the thread, the number of frames before, and the levels.
  var elided: [(thread: Int, index: Int, levels: UInt64?)] = []
  /// The calls of the recursion whose frames are read.
  var recursionDepth: UInt64?
  /// The stack whose thread had one before.
  var repeated: RepeatedStack?

  struct RepeatedStack {
    let number: UInt64
    /// The byte offset of its title.
    let offset: Int
    /// The number of its frames so far.
    var count = 0
  }

  var registers: [CPUContext.NamedRegister] = []
  /// Whether they are of a thread that the report does not list; then they become that thread's context.
  var isOfUnlisted = false
  var contextOfUnlisted: CPUContext?
  var exception = TextException()
  var version: String?
  var samples: [TextSample] = []
  var trees: [TextTree] = []
  var hasLoaderMessage = false
  /// Whether the section of another process than the report's is read.
  var isOtherProcess = false
  var isCr4shed = false
  /// Whether sample(1) wrote the text.
  var isSampled = false
  /// Whether the last line of the heaviest stack can't be read.
  var isSampleCut = false
  private var hasBrokenLines = false
  /// Whether a line followed that is no rest of the panic's first one.
  private var hasWholePanic = false
  /// The lines since the last image that are none.
  private var strayLines = 0
  /// The text of a panic.
  var panic = ""
  /// The name of the exception, and of the thread, in a log of Cr4shed.
  var exceptionName: String?
  /// The name of an exception whose reason may be in the next line.
  var uncaughtName: String?
  var threadName: TextBytes?

  init(_ builder: ReportBuilder) { self.builder = builder }

  /// Shorter lines are not cut at their width.
  private static let leastCut = 40

  mutating func read(_ line: TextBytes) {
    let content = line.trimmed
    guard !content.isEmpty else { return blank() }
    lastLine = content.startIndex
    if OmittedLines.isMark(content) {
      return builder.note(ReportRules.damagedWrapping, at: content.startIndex, found: .text("lines were left out"))
    }
    if !seen.cutLine, content.count > Self.leastCut, content.has(suffix: "…") {
      seen.cutLine = true
      builder.note(ReportRules.damagedWrapping, at: content.startIndex, found: .text("the ends of lines were cut off"))
    }
    let isIndented = line.first.map { TextBytes.isBlank($0) } ?? false
    if section == .panic || !beginSection(content, isIndented: isIndented) {
      body(content, line, isIndented: isIndented)
    }
    isAfterBlank = false
  }

  private mutating func blank() {
    isAfterBlank = true
    switch section {
    case .registers:
      endRegisters()
      section = .head
    case .panic: panic += "\n"
    case .termination, .triage, .syslog, .formulating, .heaviest, .dyld: section = .head
    case .lastException where !frames.last.isEmpty: section = .head
    case .messages:
      if builder.report.messages.last?.text.isEmpty == false { addMessageLine("") }
    default: break
    }
  }

  private mutating func body(_ content: TextBytes, _ line: TextBytes, isIndented: Bool) {
    switch section {
    case .head: head(content)
    case .termination: terminationLine(content)
    case .messages:
      if isAfterBlank, TextKey(content)?.isPadded == true {
        section = .head
        head(content)
      } else if isAfterBlank, content.has(prefix: "## ") || content.has(prefix: "### ") {
        // A heading of the text around the report.
        section = .skipped
      } else {
        addMessageLine(line.string)
      }
    case .signatures: builder.addField("Application Specific Signatures", content.string)
    case .syslog: if !content.equals("None found") { builder.addField("Filtered syslog", content.string) }
    case .triage: builder.report.kernelTriage.append(content.string)
    case .vmRegions:
      if isIndented || content.first == UInt8(ascii: "-") {
        builder.report.vmRegionInfo?.append("\n" + line.string)
      } else {
        section = .head
        head(content)
      }
    case .dyld:
      hasLoaderMessage = true
      addReason(content.string)
    case .formulating: builder.report.notes.append(content.string)
    case .lastException: lastException(content)
    case .ownBacktrace: if !seen.ownBacktrace { readFrame(content, of: .lastException) }
    case .thread:
      if isAfterBlank, TextKey(content)?.isPadded == true {
        section = .head
        head(content)
      } else {
        readFrame(content, of: .thread(thread))
      }
    case .registers: readRegisters(content)
    case .instructions: readInstructions(content)
    case .images: image(content)
    case .heaviest: heaviest(content)
    case .samples: sample(line)
    case .tree: treeLine(line)
    case .panic: panicLine(line)
    case .loadedImages: loadedImage(content)
    case .skipped, .ended: break
    }
  }

  /// Joins the rest of the first line, if a message broke that: it begins in lower case, and none of the kernel's lines does.
  private mutating func panicLine(_ line: TextBytes) {
    let isRest =
      !hasWholePanic && line.first.map { (0x61...0x7a).contains($0) } == true && !line.contains(UInt8(ascii: ":"))
    hasWholePanic = !isRest
    panic += (isRest ? " " : "\n") + line.string
    if isRest { noteBrokenLine(line) }
  }

  /// Says once that a line was joined to the one before it.
  mutating func noteBrokenLine(_ line: TextBytes) {
    if !hasBrokenLines { builder.note(ReportRules.damagedWrapping, at: line.startIndex, found: .text("broken lines")) }
    hasBrokenLines = true
  }

  private mutating func image(_ content: TextBytes) {
    strayLines = readImage(content) ? 0 : strayLines + 1
    if strayLines > Self.mostStrayLines { section = .skipped }
  }

  /// Lines of others between two images, such as those of a message; behind more the list has ended.
  private static let mostStrayLines = 8

  private mutating func addMessageLine(_ line: String) {
    if builder.report.messages.isEmpty { builder.addMessage("") }
    // The first line of a message is not a continuation.
    let index = builder.report.messages.count - 1
    let isFirst = builder.report.messages[index].text.isEmpty
    builder.report.messages[index].text += isFirst ? line : "\n" + line
  }

  // MARK: Sections

  /// Whether the line begins a part of the report, or is all of it.
  private mutating func beginSection(_ content: TextBytes, isIndented: Bool) -> Bool {
    if isIndented { return beginIndented(content) }
    switch content.first {
    case UInt8(ascii: "T") where content.has(prefix: "Total number in stack"):
      section = .skipped
      return true
    case UInt8(ascii: "-") where content.has(prefix: "--------"):
      recursion(content)
      return section == .thread
    case UInt8(ascii: "T") where content.has(prefix: "Thread "): return beginThread(content)
    case UInt8(ascii: "B"), UInt8(ascii: "A"), UInt8(ascii: "V"), UInt8(ascii: "E"), UInt8(ascii: "K"),
      UInt8(ascii: "L"), UInt8(ascii: "D"), UInt8(ascii: "F"), UInt8(ascii: "H"), UInt8(ascii: "M"),
      UInt8(ascii: "C"),
      UInt8(ascii: "P"), UInt8(ascii: "U"), UInt8(ascii: "S"), UInt8(ascii: "I"):
      return beginNamed(content)
    case UInt8(ascii: "p"), UInt8(ascii: "k"):
      return content.equals("kernel messages:") ? beginNotes() : beginPanic(content)
    default: return false
    }
  }

  /// Whether an indented line begins a part of the section of one process.
  private mutating func beginIndented(_ content: TextBytes) -> Bool {
    if content.has(prefix: "Binary Images:"), section == .samples || section == .tree {
      seen.images = true
      section = isOtherProcess ? .skipped : .images
      return true
    }
    guard content.has(prefix: "Thread 0x"), [.head, .tree, .images, .skipped].contains(section), !isOtherProcess else {
      return false
    }
    return beginTextTree(content)
  }

  /// Begins lines that are kept as they are.
  private mutating func beginNotes() -> Bool {
    endRegisters()
    section = .formulating
    return true
  }

  /// Whether the line is the first of the kernel's text. Early systems have the debugger's line, or one about an abort.
  private mutating func beginPanic(_ content: TextBytes) -> Bool {
    let starts = ["panic(cpu ", "Debugger message: ", "kernel abort type "]
    guard builder.snapshot.threads.isEmpty, exception.type == nil, starts.contains(where: { content.has(prefix: $0) })
    else { return false }
    builder.report.kind = .panic
    panic = content.string
    section = .panic
    return true
  }

  private static let sections: [(title: String, section: Section)] = [
    ("Call graph:", .tree), ("Sort by top of stack", .skipped), ("Handler crashed while reporting:", .ended),
    ("Loaded images:", .loadedImages),
    ("Binary Images", .images), ("Application Specific Information:", .messages),
    ("Application Specific Signatures:", .signatures), ("Application Specific Backtrace", .ownBacktrace),
    ("Last Exception Backtrace:", .lastException), ("Kernel Triage:", .triage), ("Filtered syslog:", .syslog),
    ("VM Region Info:", .vmRegions), ("VM Regions Near ", .vmRegions), ("Dyld Error Message:", .dyld),
    ("Dyld Error Information:", .dyld), ("Error Formulating Crash Report:", .formulating),
    ("Heaviest stack", .heaviest), ("Powerstats for:", .samples), ("External Modification Summary:", .skipped),
    ("VM Region Summary:", .skipped), ("Microstackshots:", .skipped), ("Model: ", .skipped),
    ("System Profile:", .skipped), ("PPC Thread State", .registers), ("Unknown thread crashed with", .registers),
    ("Bad magic ", .skipped),
    ("EOF", .ended), ("Full Report", .ended),
  ]

  private mutating func beginNamed(_ content: TextBytes) -> Bool {
    if beginPanic(content) { return true }
    if isCr4shed, content.equals("Call stack:") {
      beginCallStack()
      return true
    }
    guard let row = Self.sections.first(where: { content.has(prefix: $0.title) }) else {
      // A second report follows the first.
      if seen.images, content.has(prefix: "Incident Identifier:") || content.has(prefix: "Process:  ") {
        section = .ended
        return true
      }
      return false
    }
    if section == .samples, row.section == .skipped { return false }
    if row.section == .ended, content.count != row.title.utf8.count { return false }
    endRegisters()
    if row.section == .images { seen.images = true }
    if section == .ownBacktrace, !frames.last.isEmpty { seen.ownBacktrace = true }
    section = row.section
    let value = content.dropFirst(row.title.utf8.count).trimmed
    switch row.section {
    // Its stack is not in the report.
    case .registers where row.title.hasPrefix("Unknown"): isOfUnlisted = true
    case .vmRegions: builder.report.vmRegionInfo = row.title.hasSuffix(":") ? value.string : content.string
    case .messages: builder.addMessage(value.string)
    case .lastException: if !value.isEmpty { lastException(value) }
    case .ended where row.title.hasPrefix("Handler crashed"):
      builder.report.notes.append("The crash reporter crashed as well while it wrote the report.")
    case .loadedImages: seen.images = true
    case .ownBacktrace: if !frames.last.isEmpty { seen.ownBacktrace = true }
    case .samples:
      seen.samples += 1
      // The sections of other processes follow; their images have other addresses.
      if seen.samples > 1 { section = .ended }
    default: break
    }
    return true
  }

  private mutating func lastException(_ content: TextBytes) {
    guard content.first == UInt8(ascii: "(") || content.has(prefix: "0x") else {
      return readFrame(content, of: .lastException)
    }
    var rest = content
    while !rest.isEmpty {
      let word = rest.takeWord().drop { $0 == UInt8(ascii: "(") }
      guard let address = word.prefix(while: { $0 != UInt8(ascii: ")") }).address else { continue }
      var frame = TextFrame(address: address, offset: word.startIndex)
      (frame.digits, frame.hasNothing) = (word.prefix { $0 != UInt8(ascii: ")") }.count - 2, true)
      frames.last.append(frame)
    }
  }
}
