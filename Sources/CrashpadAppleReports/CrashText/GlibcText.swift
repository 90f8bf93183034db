// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads the stacks of glibc's backtrace_symbols(3): what glibc up to 2.25 writes when it finds the heap or the stack damaged, its
/// libSegFault at a signal, and the handlers of servers, runtimes and libraries: MySQL, Ceph, MongoDB, Ruby, g3log.
struct GlibcText {
  private var stacks: ToolStacks
  private var signal: String?
  private var code: String?
  private var address: UInt64?
  /// The program counter, which Redis writes above the stack, and whether the next line has it.
  private var counter: Frame?
  private var isCounter = false
  /// The stack that MongoDB writes as JSON, which counts if it does not follow as text.
  private var written: [RecordedFrame] = []
  private var isInStack = false
  /// Whether a program's own handler writes the stack: in the same form, without a title.
  private var isOfHandler = false
  private var isOfMacOS = false
  private var lastNumber: UInt64?
  /// Lines of others since the last frame.
  private var others = 0
  private var hasEnded = false

  /// So many lines of others may stand between two frames without numbers.
  private static let mostOthers = 3

  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { message($0) != nil || isHandlerHead($0) }) else { return false }
    let lines = lines[head...]
    return
      (zip(lines, lines.dropFirst()).contains { frame($0) != nil && frame($1) != nil }
      || lines.contains { MongoLog.frames(of: $0) != nil })
      && (message(lines[head]) == nil || lines.contains { isTitle($0) })
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var text = GlibcText(stacks: stacks)
    for line in lines where !text.hasEnded { text.read(line) }
    text.finish()
    stacks = text.stacks
  }

  private init(stacks: ToolStacks) { self.stacks = stacks }

  private mutating func read(_ line: TextBytes) {
    if let message = Self.message(line) {
      guard stacks.threads.isEmpty else {
        hasEnded = true
        return
      }
      stacks.builder.addMessage(message.text)
      signal = message.signal
    } else if signal == nil, let caught = Self.caught(line) {
      (signal, code) = (caught.name, caught.code)
      isOfHandler = true
      // Ceph writes the stack of a failed assertion before that of its signal.
      if !startsWhole { removeStack() } else if !stacks.threads.isEmpty { hasEnded = true }
    } else if let failure = Self.assertion(line) {
      if stacks.threads.isEmpty, stacks.builder.report.messages.isEmpty { stacks.builder.addMessage(failure.string) }
      isOfHandler = true
    } else if signal == nil, let bug = Self.bug(line) {
      (signal, address, isOfHandler) = (bug.signal, bug.address, true)
    } else if let place = line.after("Invalid access at address: ") {
      // MongoDB's own, in hexadecimal.
      address = place.leadingHexadecimal
    } else if let place = line.after("Accessing address: ") {
      address = place.leadingPointer
    } else if line.has(prefix: "Signal code: "), let number = line.between("(", ")"), code == nil {
      code = number.string
    } else if let place = line.after("Failing at address: ") {
      address = place.leadingPointer
    } else if let words = PastedLine.guru(line) {
      stacks.builder.addMessage(words.string)
    } else if isOfHandler, let check = line.first(of: "==> "), line.has(suffix: " is not true") {
      stacks.builder.addMessage(line[(check + 4)...].string)
    } else if isOfHandler, line.has(suffix: "EIP:") {
      isCounter = true
    } else if isOfHandler, let frames = MongoLog.frames(of: line) {
      written = frames
    } else if Self.isHandlerTitle(line) {
      isOfHandler = true
    } else if Self.isTitle(line) {
      guard stacks.threads.isEmpty else {
        hasEnded = true
        return
      }
      stacks.beginThread(isCrashed: true)
      isInStack = true
    } else if isInStack || isOfHandler, let frame = Self.frame(line) {
      add(frame)
    } else if isInStack, isOfHandler {
      others += 1
      // Frames with numbers go on behind lines of others.
      guard isEnd(line) || lastNumber == nil && others > Self.mostOthers else { return }
      // A log may name the signal below the stack.
      isInStack = false
      hasEnded = signal != nil && startsWhole
    } else if isInStack, line.first(of: "Memory map:") != nil {
      hasEnded = true
    }
  }

  /// Whether a line ends the stack: what the handlers write behind it.
  private func isEnd(_ line: TextBytes) -> Bool {
    line.isEmpty && lastNumber == nil || line.first(of: "END BACKTRACE") != nil
      || ["NOTE: ", "Trying to get some variables", "-- ", "--- "].contains { line.has(prefix: $0) }
  }

  private mutating func add(_ frame: Frame) {
    if isCounter {
      (counter, isCounter) = (frame, false)
      return
    }
    if let number = frame.number, let lastNumber, number <= lastNumber {
      hasEnded = true
      return
    }
    if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) } else if !isInStack { return }
    if let number = frame.number {
      // Ceph leaves out its handler's own frame.
      stacks.addGap(before: number, after: lastNumber ?? (number == 1 ? 0 : nil))
      lastNumber = number
    }
    (isInStack, others) = (true, 0)
    if frame.isOfMacOS { isOfMacOS = true }
    stacks.add(frame.frame, module: frame.module)
  }

  /// Whether the stack is there from its innermost frame on.
  private var startsWhole: Bool { stacks.threads.first?.elided.first?.index != 0 }

  private mutating func removeStack() {
    stacks.removeThreads()
    (lastNumber, isInStack) = (nil, false)
  }

  private mutating func finish() {
    stacks.builder.snapshot.system.operatingSystem = isOfMacOS ? .macos : .linux
    if stacks.threads.isEmpty, !written.isEmpty {
      stacks.beginThread(isCrashed: true)
      for frame in written { stacks.add(frame) }
    }
    if let signal { stacks.setSignal(signal, code: code, address: address) }
    if isOfHandler { stacks.leaveOutHandler(signal: signal, hasRestorer: true) }
    if let counter, stacks.threads.last?.frames?.isEmpty ?? true {
      if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
      stacks.add(counter.frame, module: counter.module)
    }
  }

  // MARK: Lines

  /// "*** glibc detected *** ./gear: double free or corruption (!prev): 0x0000000001c24710 ***", "*** Error in `./gear': free():
  /// invalid pointer: 0x00007fff ***", "*** buffer overflow detected ***: ./gear terminated", "*** Segmentation fault".
  ///
  /// Markdown may have taken stars for its own.
  private static func message(_ line: TextBytes) -> (text: String, signal: String)? {
    let words = line.filter { $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: "\\") }[...].trimmed
    let isMarked = line.prefix(3).contains(UInt8(ascii: "*"))
    let isOfHeap =
      words.has(prefix: "glibc detected ") || words.has(prefix: "Error in `") || words.has(prefix: "Error in '")
    let isOfCheck = words.has(prefix: "buffer overflow detected ") || words.has(prefix: "stack smashing detected ")
    if isMarked, isOfHeap || isOfCheck { return (words.string, "SIGABRT") }
    guard isMarked, let signal = SignalWords.name(words), words.count < 40 else { return nil }
    return (words.string, signal)
  }

  private static func isHandlerHead(_ line: TextBytes) -> Bool {
    caught(line) != nil || assertion(line) != nil || isHandlerTitle(line) || bug(line) != nil
  }

  /// The signal that a handler caught, and the number that Redis writes of its code: "Redis 6.2.6 crashed by signal: 11, si_code: 1".
  private static func caught(_ line: TextBytes) -> (name: String, code: String?)? {
    // Open MPI: "Signal: Segmentation fault (11)".
    if line.has(prefix: "Signal: "), let words = line.after("Signal: "), let name = SignalWords.name(words) {
      return (name, nil)
    }
    return PastedLine.caughtSignal(line).map { ($0, line.after(", si_code: ")?.string) }
  }

  /// "wheel.rb:12: [BUG] Segmentation fault at 0x0000000000000008", of Ruby.
  private static func bug(_ line: TextBytes) -> (signal: String, address: UInt64?)? {
    guard let words = line.after("[BUG] "), let name = SignalWords.name(words) else { return nil }
    guard var place = words.after(" at ") else { return (name, nil) }
    return (name, place.takeWord().address)
  }

  /// Whether a line is above the stack of Ruby or MongoDB.
  private static func isHandlerTitle(_ line: TextBytes) -> Bool {
    line.has(prefix: "-- C level backtrace information --") || line.first(of: "----- BEGIN BACKTRACE -----") != nil
  }

  /// "/src/BlueFS.cc: 172: FAILED assert(offset < length)", "/src/osd.cc: 7: FAILED ceph_assert(is_primary())", as Ceph writes them.
  private static func assertion(_ line: TextBytes) -> TextBytes? {
    line.last == UInt8(ascii: ")")
      && (line.first(of: ": FAILED assert(") ?? line.first(of: ": FAILED ceph_assert(")) != nil
      ? line : nil
  }

  private static func isTitle(_ line: TextBytes) -> Bool {
    line.has(prefix: "=") && line.first(of: " Backtrace: ") != nil || line.equals("Backtrace:")
      || line.has(suffix: " Backtrace:")
  }

  struct Frame {
    /// The number that the text gives the frame.
    var number: UInt64?
    var frame: RecordedFrame
    var module: TextBytes?
    /// Whether it has the form of macOS.
    var isOfMacOS = false
  }

  /// "/lib/libc.so.6(cfree+0x6c)[0x7fe3aaa47d7c]", "./gear(+0xddc6)[0x55]", "[0x4a3c10]", "./gear[0x4a3c10]", "3: (turn(int)+0x1f)
  /// [0x55]", "3. /usr/lib/libgear.so(+0x7dc5) [0x7f]", "7: main()", "stack dump [2]  ./gear : turn(int)+0x1f [0x55]".
  ///
  /// Source: glibc, debug/backtracesymsfd.c.
  static func frame(_ line: TextBytes) -> Frame? {
    var (number, rest) = numbered(line)
    let isOfG3log = line.has(prefix: stackDump)
    if isOfG3log, let found = macFrame(rest, number) { return found }
    var frame = RecordedFrame(address: 0)
    var source: (file: TextBytes, line: UInt32)?
    // Ruby writes the place in the source behind the address.
    if rest.last != UInt8(ascii: "]"), let mark = rest.first(of: "] "), let place = rest[(mark + 2)...].sourcePlace {
      source = place
      rest = rest[...mark]
    }
    guard rest.last == UInt8(ascii: "]"), let open = rest.last(of: "["),
      let address = rest[(open + 1)...].dropLast().address
    else { return named(rest, number) }
    frame.address = address
    rest = rest[..<open].trimmed
    if isOfG3log, rest.last != UInt8(ascii: ")"), let plus = distance(rest) {
      // g3log separates the name from the path only if it can demangle the name.
      if let mark = rest.first(of: " : "), mark + 3 < plus {
        (frame.function, frame.functionOffset) = (rest[(mark + 3)..<plus].string, rest[(plus + 1)...].number)
        rest = rest[..<mark]
      } else {
        rest = []
      }
    }
    if rest.last == UInt8(ascii: ")"), let start = rest.first(of: "(") {
      let place = rest[(start + 1)...].dropLast()
      rest = rest[..<start]
      if let plus = distance(place), let offset = place[(plus + 1)...].number {
        var name = place[..<plus]
        // Ceph writes a pair of parentheses where it has no name.
        if name.equals("()") { name = [] }
        if name.isEmpty {
          if !rest.isEmpty { frame.moduleOffset = offset }
        } else {
          frame.function = name.string
          if place[plus] == UInt8(ascii: "+") { frame.functionOffset = offset }
        }
      } else if let offset = place.address, !rest.isEmpty {
        frame.moduleOffset = offset
      } else if let source = rest.sourcePlace {
        // MariaDB asks addr2line: "sql/sql_parse.cc:1234(do_command(THD*))[0x7d]", "??:0(do_command)[0x7d]".
        if !source.file.equals("??") { (frame.file, frame.line) = (source.file.string, source.line) }
        if !place.isEmpty { frame.function = place.string }
        rest = []
      } else if !place.isEmpty {
        return nil
      }
    }
    // A program may have another title than its path: "Rack: /webapp/geras".
    if rest.contains(0x20), let path = rest.last(of: " /") { rest = rest[(path + 1)...] }
    // Redis has the place of its socket in its title: "/usr/bin/redis-server 127.0.0.1:6379".
    if rest.first == UInt8(ascii: "/") || rest.has(prefix: "redis-server "), let blank = rest.firstIndex(of: 0x20),
      rest.last?.isDigit == true
    {
      rest = rest[..<blank]
    }
    guard !rest.contains(0x20) else { return nil }
    if let source, !source.file.equals("(null)") { (frame.file, frame.line) = (source.file.string, source.line) }
    return Frame(number: number, frame: frame, module: rest.isEmpty ? nil : rest)
  }

  /// The start of the distance from the function between parentheses: "turn+0x1f", "turn+0".
  private static func distance(_ place: TextBytes) -> Int? {
    if let plus = place.last(of: "+0x") ?? place.last(of: "-0x") { return plus }
    guard let plus = place.lastIndex(of: UInt8(ascii: "+")), place[(plus + 1)...].decimal != nil else { return nil }
    return plus
  }

  /// A frame without an address: "7: main()" of Ceph from version 16 on, and an inlined call of Ruby, "/usr/lib/libruby.so(rb_vm_bugreport)
  /// /src/vm_dump.c:1080".
  private static func named(_ line: TextBytes, _ number: UInt64?) -> Frame? {
    var frame = RecordedFrame(address: 0)
    if number != nil, line.has(suffix: "()"), !line.contains(0x20), line.count > 2 {
      frame.function = line.dropLast(2).string
      return Frame(number: number, frame: frame)
    }
    guard line.first == UInt8(ascii: "/"), let open = line.first(of: "("), let mark = line.first(of: ") "),
      open + 1 < mark,
      !line[..<mark].contains(0x20), let source = line[(mark + 2)...].sourcePlace
    else { return nil }
    frame.function = line[(open + 1)..<mark].string
    frame.isInlined = true
    if !source.file.equals("(null)") { (frame.file, frame.line) = (source.file.string, source.line) }
    return Frame(number: number, frame: frame, module: line[..<open])
  }

  /// A frame of backtrace_symbols(3) of macOS: "2   libsystem_platform.dylib  0x00000001836a9a24 _sigtramp + 56".
  static func macFrame(_ text: TextBytes, _ number: UInt64?) -> Frame? {
    var rest = text
    guard rest.takeNumber() != nil, TextBytes.isBlank(rest.first ?? 0) else { return nil }
    let module = rest.takeWord()
    guard let address = rest.takeWord().address else { return nil }
    var frame = RecordedFrame(address: address)
    rest = rest.trimmed
    if let plus = rest.last(of: " + "), let offset = rest[(plus + 3)...].decimal, !rest.has(prefix: "0x") {
      (frame.function, frame.functionOffset) = (rest[..<plus].string, offset)
    }
    return Frame(number: number, frame: frame, module: module.equals("???") ? nil : module, isOfMacOS: true)
  }

  /// The words of g3log before the number of a frame.
  private static let stackDump = "stack dump ["

  /// The line without the number before it.
  private static func numbered(_ line: TextBytes) -> (UInt64?, TextBytes) {
    let line = line.has(prefix: stackDump) ? line.dropFirst(stackDump.utf8.count - 1) : line
    // Open MPI: "[ 0] /lib/libc.so.6(+0x42520)[0x7f93]".
    if line.first == UInt8(ascii: "["), let close = line.first(of: "] "),
      let number = line[1 + line.startIndex..<close].trimmed.decimal
    {
      return (number, line[(close + 2)...].trimmed)
    }
    var rest = line
    guard let number = rest.takeNumber(), rest.has(prefix: ": ") || rest.has(prefix: ". ") else { return (nil, line) }
    return (number, rest.dropFirst(2).trimmed)
  }
}
