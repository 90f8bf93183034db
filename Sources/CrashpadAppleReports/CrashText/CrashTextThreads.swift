// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

extension CrashText {
  // MARK: Threads

  /// Parses "Thread 0 name:  Dispatch queue: X", "Thread 4 Crashed:", "Thread 0:: Dispatch queue: X", "Thread 0
  /// crashed with ARM Thread State (64-bit):", "Thread 0 instruction stream:".
  mutating func beginThread(_ content: TextBytes) -> Bool {
    guard let title = ThreadTitle(content) else { return false }
    let (number, rest) = (title.number, title.rest)
    let isRegisters = rest.first(of: " crashed with ") == rest.startIndex
    if isRegisters { placeHeadless(aboveRegistersOf: number) } else { placeHeadless(before: number) }
    endRegisters()
    recursionDepth = nil
    if rest.has(prefix: " name:") {
      thread = threadIndex(number)
      setName(rest.dropFirst(" name:".utf8.count), of: thread)
      section = .thread
      return true
    }
    if isRegisters {
      builder.report.statesCrash = true
      faultingNumber = faultingNumber ?? number
      // A paste may have the registers without the stack.
      if threadIndices[number] == nil, !threadIndices.isEmpty {
        builder.note(ReportRules.noCrashedThread, at: content.startIndex, found: .text(String(number)))
      }
      thread = threadIndex(number)
      section = .registers
      return true
    }
    if rest.has(prefix: " instruction stream") {
      section = .instructions
      return true
    }
    guard let colon = rest.first(of: ":") else { return false }
    let state = rest[..<colon].trimmed
    guard [0, 7, 8, 10, 11].contains(state.count) else { return false }
    thread = threadIndex(number)
    repeated = frames.threads[thread].isEmpty ? nil : RepeatedStack(number: number, offset: content.startIndex)
    if state.equals("Crashed") {
      builder.report.statesCrash = true
      if faultingNumber == nil { faultingNumber = number }
    }
    if state.equals("Attributed") || state.equals("Highlighted"), faultingNumber == nil { faultingNumber = number }
    let name = rest[(colon + 1)...].drop { $0 == UInt8(ascii: ":") }
    if !name.trimmed.isEmpty { setName(name, of: thread) }
    section = .thread
    return true
  }

  /// Reads "-------- ELIDED 9994 LEVELS OF RECURSION THROUGH 0x10a02 work + 12", which stands where frames are missing.
  mutating func recursion(_ content: TextBytes) {
    guard section == .thread, frames.threads.indices.contains(thread) else { return }
    if content.first(of: "RECURSION ") != nil, let start = content.last(of: "LEVEL ") {
      var rest = content[(start + "LEVEL ".utf8.count)...]
      // The levels are counted down to the outermost.
      if let level = rest.takeNumber() { recursionDepth = max(recursionDepth ?? 0, level) }
    }
    guard let start = content.first(of: "ELIDED ") else { return }
    var rest = content[(start + "ELIDED ".utf8.count)...]
    elided.append((thread, frames.threads[thread].count, recursionDepth ?? rest.takeNumber()))
    recursionDepth = nil
  }

  mutating func threadIndex(_ number: UInt64) -> Int {
    if let index = threadIndices[number] { return index }
    let index = builder.snapshot.threads.count
    threadIndices[number] = index
    threadNumbers.append(number)
    var thread = ThreadSnapshot()
    thread.frames = []
    builder.snapshot.threads.append(thread)
    frames.threads.append([])
    return index
  }

  mutating func setName(_ text: TextBytes, of index: Int) {
    let words = "Dispatch queue:"
    let queue = text.first(of: words)
    let name = text[..<(queue ?? text.endIndex)].trimmed
    if !name.isEmpty { builder.snapshot.threads[index].name = builder.content(name.string) }
    if let queue {
      builder.snapshot.threads[index].queue = builder.content(text[(queue + words.utf8.count)...].trimmed.string)
    }
  }

  // MARK: Frames

  mutating func readFrame(_ content: TextBytes, of owner: TextFrames.Owner) {
    guard let frame = TextFrame(content) ?? hashFrame(content) ?? bareFrame(content, of: owner), isExpected(frame)
    else {
      if continueName(content, of: owner) { return }
      // A line that begins with a number was probably meant as a frame.
      if content.first.map({ (0x30...0x39).contains($0) }) == true {
        builder.note(ReportRules.badFrame, at: content.startIndex)
        seen.unreadLine = content.startIndex
        noteGap(at: content, of: owner)
      } else if content.first(of: ": ") == nil {
        builder.report.notes.append(content.string)
      }
      return
    }
    switch owner {
    case .lastException: frames.last.append(frame)
    case .thread(let index):
      // Every section of frames selects a thread first. If a text does not, only the frame is lost.
      guard frames.threads.indices.contains(index) else {
        return builder.note(ReportRules.badFrame, at: content.startIndex)
      }
      if !isRepeated(frame, index) { frames.threads[index].append(frame) }
    }
  }

  /// Whether the frame is one of a stack that stands a second time, as people put the part that matters before or behind the report.
  /// Another stack of the same number is that of another report, and all that follows.
  private mutating func isRepeated(_ frame: TextFrame, _ index: Int) -> Bool {
    guard let stack = repeated, section == .thread else { return false }
    // The first may be the beginning alone.
    guard stack.count < frames.threads[index].count else {
      repeated = nil
      return false
    }
    if frames.threads[index][stack.count].isSame(as: frame) {
      repeated?.count += 1
      return true
    }
    builder.note(
      ReportRules.damagedWrapping, at: stack.offset,
      found: .text("a second stack of thread \(stack.number) follows, as of another report, and is not read"))
    section = .ended
    return true
  }

  /// Adds that a frame is missing where a line with its number can't be read: mostly it is the last one, where the text is cut.
  private mutating func noteGap(at content: TextBytes, of owner: TextFrames.Owner) {
    guard case .thread(let index) = owner, frames.threads.indices.contains(index),
      let last = frames.threads[index].last?.number, content.prefix(while: \.isDigit).decimal == last &+ 1
    else { return }
    elided.append((index, frames.threads[index].count, nil))
  }

  /// "#2   0x8fe06134 in load_images_libraries", as of gdb and Mac OS X up to 10.2.
  private func hashFrame(_ content: TextBytes) -> TextFrame? {
    guard content.first == UInt8(ascii: "#") else { return nil }
    let frame = PastedFrame(content, mayBeBare: false, after: nil)
    return frame.map { frame in
      var source = frame.source
      source.number = frame.number
      return source
    }
  }

  /// "2  Shop   -[Cart join]", where no frame has an address.
  private func bareFrame(_ content: TextBytes, of owner: TextFrames.Owner) -> TextFrame? {
    guard !seen.addresses else { return nil }
    let last: TextFrame? =
      switch owner {
      case .lastException: frames.last.last
      case .thread(let index): frames.threads.indices.contains(index) ? frames.threads[index].last : nil
      }
    guard let frame = PastedFrame(bare: content, after: last?.number) else { return nil }
    var source = frame.source
    source.number = frame.number
    return source
  }

  /// Whether a frame may be one: a text whose frames have addresses has none without, but broken lines that look so.
  private mutating func isExpected(_ frame: TextFrame) -> Bool {
    if frame.hasAddress { seen.addresses = true }
    return frame.hasAddress || frame.isListed || !seen.addresses
  }

  /// Parses " + 0 [inlined]", the rest of a frame whose function name contains a line feed.
  private mutating func continueName(_ content: TextBytes, of owner: TextFrames.Owner) -> Bool {
    guard content.has(prefix: "+ "), case .thread(let index) = owner, frames.threads.indices.contains(index),
      !frames.threads[index].isEmpty
    else {
      return false
    }
    var rest = content.dropFirst(2)
    let last = frames.threads[index].count - 1
    frames.threads[index][last].functionOffset = rest.takeNumber()
    if rest.first(of: "[inlined]") != nil { frames.threads[index][last].isInlined = true }
    return true
  }
}
