// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// The texts that people copy from consoles, debuggers and the pages of crash services: stacks without the head of a report,
/// and what runtimes and debuggers write before them. Other lines between them are passed over.
struct PastedText {
  /// The list to which the next frames belong.
  enum Owner {
    case none
    case lastException
    /// The stack of an exception that was read already.
    case repeated
    /// An index in the snapshot's threads.
    case thread(Int)
  }

  var builder: ReportBuilder
  var owner = Owner.none
  /// The number of the last frame.
  private var lastNumber: UInt64?
  /// Whether frames of this stack have addresses: then a number and words below it are no frame.
  private var hasAddresses = false
  /// The last line that says nothing else: it may be the name of the thread whose frames follow.
  private var title: TextBytes?
  private var modules: [TextBytes: Int] = [:]
  /// The exception, as its name and words, kept until the threads are known.
  var exception = PastedException()
  /// The line that has just been read was "Fatal Exception: NAME": the next may be its reason.
  var isReasonNext = false
  /// The messages so far; a console may have one twice.
  var messages: Set<String> = []
  /// Whether the last statement was the message of a runtime that ends the process.
  var isAfterFailure = false
  /// Whether the last line began the message of a check, which goes on to its quotation mark.
  var isInCheck = false
  /// Whether reasons of a termination follow.
  var isInTermination = false
  /// Whether the text is Crashlytics' export, in which "#" begins comments.
  let isExport: Bool

  static func read(_ text: TextBytes, into builder: inout ReportBuilder) {
    let lines = text.split(omittingEmptySubsequences: false) { $0 == 0x0a }
    var reader = PastedText(builder, isExport: lines.contains { isExportHead($0.trimmed) })
    for line in lines { reader.read(PastedLine.content(line)) }
    reader.noteOthers(text)
    reader.finish()
    builder = reader.builder
  }

  /// Says that the stack of the text is one that is not read.
  private mutating func noteOthers(_ text: TextBytes) {
    guard builder.snapshot.threads.isEmpty, builder.report.lastException.isEmpty,
      let name = OtherTexts.name(Array(text.prefix(TextStart.length)))
    else { return }
    builder.note(ReportRules.damagedWrapping, at: text.startIndex, found: .text("\(name), which is not read"))
  }

  private static func isExportHead(_ line: TextBytes) -> Bool {
    ["# Crashlytics - ", "# Bundle Identifier: ", "# OS Version: "].contains { line.has(prefix: $0) }
  }

  private init(_ builder: ReportBuilder, isExport: Bool) {
    self.builder = builder
    self.isExport = isExport
  }

  private mutating func read(_ line: TextBytes) {
    guard !line.isEmpty else {
      isInCheck = false
      // A colon announces text, whatever lines a paste has between.
      if builder.report.termination?.reasons.last?.hasSuffix(":") != true { isInTermination = false }
      return
    }
    if isInCheck {
      isInCheck = !line.has(suffix: "'")
      if !builder.report.messages.isEmpty, PastedFrame(line, mayBeBare: false, after: nil) == nil,
        !PastedLine.isEnd(line)
      {
        builder.report.messages[builder.report.messages.count - 1].text += "\n" + line.string
        return
      }
    }
    let mayBeReason = isReasonNext
    isReasonNext = false
    if isExport, line.first == UInt8(ascii: "#") {
      let words = line.dropFirst().trimmed
      if !words.isEmpty, !crashedThread(line), !exportHead(words) { beginThread(named: words) }
    } else if statement(line) {
      title = nil
    } else if let frame = PastedFrame(line, mayBeBare: isInStack && !hasAddresses, after: lastNumber) {
      add(frame)
    } else if mayBeReason, !ServiceException.isQueue(line) {
      exception.reason = exception.reason ?? line.string
    } else {
      title = line
      if case .none = owner { return }
      if line.first.map({ (0x30...0x39).contains($0) }) == true {
        builder.note(ReportRules.badFrame, at: line.startIndex)
        noteGap(at: line)
      }
    }
  }

  private var isInStack: Bool {
    switch owner {
    case .none: false
    default: true
    }
  }

  // MARK: Threads

  /// - Parameter isCrashed: whether the text says that the thread crashed.
  mutating func beginThread(named name: TextBytes?, isCrashed: Bool = false) {
    var thread = ThreadSnapshot()
    thread.frames = []
    if let name, !name.equals("Thread"), !name.isEmpty {
      let isQueue = name.equals("com.apple.main-thread")
      if isQueue { thread.queue = builder.content(name.string) } else { thread.name = builder.content(name.string) }
    }
    let index = builder.snapshot.threads.count
    isAfterFailure = false
    if isCrashed {
      builder.report.statesCrash = true
      if builder.report.faultingThread == nil { builder.report.faultingThread = index }
    }
    builder.snapshot.threads.append(thread)
    begin(.thread(index))
  }

  /// Begins the stack of an exception; a text may have it twice.
  mutating func beginException() {
    begin(builder.report.lastException.isEmpty ? .lastException : .repeated)
  }

  private mutating func begin(_ list: Owner) {
    (owner, lastNumber, hasAddresses) = (list, nil, false)
  }

  // MARK: Frames

  private mutating func add(_ frame: PastedFrame) {
    if frame.number == 0, lastNumber != nil || !isInStack {
      // The stack below the message of the runtime that ended the process is the crashed one.
      beginThread(named: threadName, isCrashed: isAfterFailure)
    }
    title = nil
    // Without numbers, it stands behind the message of the process that printed it.
    if !isInStack { beginThread(named: nil, isCrashed: frame.number == nil && !messages.isEmpty) }
    if let number = frame.number, case .thread(let index) = owner { noteGap(before: number, index) }
    lastNumber = frame.number ?? lastNumber
    if frame.source.hasAddress { hasAddresses = true }
    let recorded = recorded(frame.source)
    switch owner {
    case .none, .repeated: break
    case .lastException: builder.report.lastException.append(recorded)
    case .thread(let index): builder.snapshot.threads[index].frames?.append(recorded)
    }
  }

  /// Adds that frames are missing before one, as the numbers tell.
  private mutating func noteGap(before number: UInt64, _ index: Int) {
    let expected = lastNumber.map { $0 &+ 1 } ?? 0
    guard number > expected else { return }
    let count = builder.snapshot.threads[index].frames?.count ?? 0
    // A line that can't be read may be one of them.
    builder.snapshot.threads[index].elided.removeAll { $0.index == count && $0.frames == nil && $0.levels == nil }
    builder.snapshot.threads[index].elided.append(
      ElidedFrames(index: count, frames: number - expected, levels: nil))
  }

  /// Adds that a frame is missing where a line with its number can't be read.
  private mutating func noteGap(at line: TextBytes) {
    guard case .thread(let index) = owner, let lastNumber, line.prefix(while: \.isDigit).decimal == lastNumber &+ 1
    else { return }
    let count = builder.snapshot.threads[index].frames?.count ?? 0
    builder.snapshot.threads[index].elided.append(ElidedFrames(index: count, frames: nil, levels: nil))
  }

  /// The line above the first frame, if it is a name: Crashlytics writes the queue or the thread's name there.
  private var threadName: TextBytes? {
    guard let title, title.count <= 80, !title.contains(0x20), title.last != UInt8(ascii: ":"),
      title.contains(where: { $0.isLetter || $0.isDigit || $0 >= 0x80 })
    else { return nil }
    return title
  }

  private mutating func recorded(_ source: TextFrame) -> RecordedFrame {
    var frame = RecordedFrame(address: source.address)
    frame.function = source.function.flatMap { PlaceholderNames.isMissing($0) ? nil : $0 }
    frame.file = source.file
    // The number behind "+" is the line where Crashlytics' frame has a file.
    frame.line = source.line
    if source.file == nil { frame.functionOffset = source.functionOffset }
    frame.isInlined = source.isInlined
    guard !source.image.isEmpty, !source.image.equals("???"), !source.image.equals("...") else { return frame }
    frame.module = module(source.image)
    frame.moduleOffset = source.moduleOffset
    return frame
  }

  private mutating func module(_ name: TextBytes) -> Int {
    if let index = modules[name] { return index }
    var module = builder.module(name.string, file: nil, address: nil)
    module.debugName = module.name
    modules[name] = builder.snapshot.modules.count
    builder.snapshot.modules.append(module)
    return builder.snapshot.modules.count - 1
  }

  // MARK: The end

  /// Removes threads of which the text has only the title, if it has the stack of another.
  private mutating func removeBareThreads() {
    let hasFrames = builder.snapshot.threads.map { $0.frames?.isEmpty == false }
    guard hasFrames.contains(true), hasFrames.contains(false) else { return }
    let kept = hasFrames.indices.filter { hasFrames[$0] }
    builder.snapshot.threads = kept.map { builder.snapshot.threads[$0] }
    if let crashed = builder.report.faultingThread {
      // The first one of a title that stands twice may be the bare one.
      builder.report.faultingThread = kept.firstIndex { $0 >= crashed }
    }
  }

  /// Finds the stack that a program's own handler of a signal wrote: the signal ended the process.
  private mutating func findHandler() {
    guard !builder.report.statesCrash, builder.report.faultingThread == nil else { return }
    guard let index = builder.snapshot.threads.firstIndex(where: { Self.handlerCall($0) != nil }) else { return }
    builder.report.statesCrash = true
    builder.report.faultingThread = index
  }

  /// The index of the frame by which the system called the program's own handler of a signal; nil if the stack has none.
  private static func handlerCall(_ thread: ThreadSnapshot) -> Int? {
    let names = (thread.frames ?? []).prefix(16).map { $0.function ?? "" }
    guard let call = names.firstIndex(of: "_sigtramp"), names[..<call].contains(where: PastedLine.isHandler) else {
      return nil
    }
    return call
  }

  /// Leaves out the frames of such a handler in the crashed thread.
  private mutating func leaveOutHandler() {
    guard builder.report.statesCrash || builder.snapshot.exception != nil, let thread = builder.report.faultingThread,
      let call = Self.handlerCall(builder.snapshot.threads[thread]),
      call + 1 < builder.snapshot.threads[thread].frames?.count ?? 0
    else { return }
    builder.leaveOutHandler(call + 1, of: thread)
  }

  /// Finds the end of the process in the one stack of a text: its thread called abort().
  private mutating func findAbort() {
    guard !builder.report.statesCrash, builder.report.faultingThread == nil, builder.snapshot.threads.count == 1,
      builder.snapshot.threads[0].elided.isEmpty,
      builder.snapshot.threads[0].frames?.prefix(4).contains(where: { $0.function == "abort" }) == true
    else { return }
    builder.report.statesCrash = true
    builder.report.faultingThread = 0
  }

  private mutating func finish() {
    removeBareThreads()
    findHandler()
    findAbort()
    exception.set(in: &builder)
    leaveOutHandler()
    if builder.snapshot.threads.isEmpty, builder.report.lastException.isEmpty { builder.note(ReportRules.noThreads) }
    // Such a text never lists them.
    builder.note(ReportRules.noImages)
  }
}
