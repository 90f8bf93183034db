// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

extension CrashText {
  /// Resolves the references that need the whole text.
  ///
  /// - Parameter isCut: whether the text lacks a final line feed.
  mutating func finish(_ text: TextBytes, isCut: Bool) {
    guard !builder.isRefused else { return }
    if builder.report.kind == .panic { return builder.setPanic(panic) }
    endRegisters()
    placeHeadless(before: nil)
    setVersion()
    endTrees()
    endSamples()
    for index in builder.report.messages.indices { trim(&builder.report.messages[index].text) }
    builder.report.messages.removeAll { $0.text.isEmpty }
    removeRepeatedMessages()
    if threadNumbers.enumerated().contains(where: { UInt64($0.offset) != $0.element }) {
      for (index, number) in threadNumbers.enumerated() {
        builder.snapshot.threads[index].number = Int(exactly: number)
      }
    }
    setElided()
    nameLoader()
    setFaultingThread()
    let endsInKey = seen.cutKey.map { $0 >= lastLine } ?? false
    let isCut =
      endsUnread(text) || lacksStacks || !seen.images && (dropCutFrame() || endsInKey || isCut)
    if seen.crashedThread, builder.report.kind == .crash, exception.type == nil, builder.report.termination == nil {
      builder.report.statesCrash = true
    }
    resolveFrames()
    setException()
    if builder.snapshot.threads.isEmpty { builder.note(ReportRules.noThreads) }
    if isCut {
      builder.note(ReportRules.cut, at: text.endIndex)
      builder.snapshot.isComplete = false
    } else if !seen.images {
      builder.note(ReportRules.noImages)
    }
  }

  /// Whether the last line begins like a frame or an image, and is too short for one.
  private func endsUnread(_ text: TextBytes) -> Bool {
    guard let unread = seen.unreadLine, unread >= lastLine else { return false }
    return text[unread...].split(separator: 0x20, maxSplits: Self.fewestWords).count <= Self.fewestWords
  }

  /// Whether the text ends before its stacks: it names the crashed thread, ends in a table that no report ends in, or has only the
  /// head, which says nothing of an end.
  private var lacksStacks: Bool {
    let isHead = section == .head && exception.type == nil && builder.report.termination == nil
    return builder.report.kind == .crash && builder.snapshot.threads.isEmpty && frames.last.isEmpty
      && !seen.images && !seen.noBacktrace && (faultingNumber != nil || section == .vmRegions || isHead)
  }

  /// Whether the last line is a sentence of the text around the report, which is not the line that a cut one ends with.
  func endsInWords(_ text: TextBytes) -> Bool {
    guard [.head, .thread, .images, .skipped].contains(section) else { return false }
    let line = text[((text.lastIndex(of: 0x0a) ?? text.startIndex - 1) + 1)...].trimmed
    return line.first?.isLetter == true && ThreadTitle(line) == nil && TextKey(line)?.isPadded != true
      && line.split(separator: 0x20).count > Self.fewestWords
  }

  private static let fewestWords = 4

  /// The numbers of the frames around a gap tell how many are missing, and that there is one.
  private mutating func setElided() {
    let firsts = frames.threads.compactMap { $0.first?.number }
    let base: UInt64 = firsts.count > 1 && firsts.allSatisfy { $0 == 1 } ? 1 : 0
    for (index, list) in frames.threads.enumerated() where list.allSatisfy({ $0.number != nil }) {
      var expected = base
      for (place, number) in list.lazy.compactMap(\.number).enumerated() {
        if number > expected, !elided.contains(where: { $0.thread == index && $0.index == place }) {
          elided.append((index, place, nil))
        }
        expected = number &+ 1
      }
    }
    elided.sort { ($0.thread, $0.index) < ($1.thread, $1.index) }
    for gap in elided {
      let list = frames.threads[gap.thread]
      var count: UInt64?
      if gap.index == 0 { count = list.first?.number }
      if gap.index > 0, gap.index < list.count, let last = list[gap.index - 1].number,
        let next = list[gap.index].number,
        next > last, next - last > 1
      {
        count = next - last - 1
      }
      builder.snapshot.threads[gap.thread].elided.append(
        ElidedFrames(index: gap.index, frames: count, levels: gap.levels))
    }
  }

  /// Names the namespace of the dynamic loader's own message, which older texts have in place of a termination.
  private mutating func nameLoader() {
    guard hasLoaderMessage, let termination = builder.report.termination, termination.namespace == nil else { return }
    builder.report.termination?.namespace = "DYLD"
    for (words, code) in [("Library not loaded: ", 1), ("Symbol not found: ", 4)] as [(String, UInt64)]
    where termination.code == nil && termination.reasons.contains(where: { $0.hasPrefix(words) }) {
      builder.report.termination?.code = code
    }
  }

  /// The console's line above a report and the report itself may have one message.
  private mutating func removeRepeatedMessages() {
    guard builder.report.messages.count > 1 else { return }
    var seen: Set<String> = []
    builder.report.messages.removeAll { !seen.insert($0.text).inserted }
  }

  private func trim(_ text: inout String) {
    while let last = text.last, last.isWhitespace { text.removeLast() }
  }

  private mutating func setFaultingThread() {
    guard let faultingNumber, builder.report.faultingThread == nil else { return }
    let number = Int(exactly: faultingNumber)
    if let index = threadIndices[faultingNumber] {
      builder.report.faultingThread = index
      if index != number { builder.report.faultingNumber = number }
    } else {
      builder.report.faultingNumber = number
      builder.note(ReportRules.noCrashedThread, found: .text(String(faultingNumber)))
    }
  }

  // MARK: Frames

  private mutating func resolveFrames() {
    var images = TextImageIndex(builder.snapshot)
    for index in frames.threads.indices where frames.threads[index].isEmpty {
      // The instruction pointer is the innermost frame, and here the one that is known.
      guard let pointer = builder.snapshot.threads[index].context?.instructionPointer, pointer != 0 else { continue }
      frames.threads[index].append(TextFrame(address: pointer, offset: 0))
      builder.snapshot.threads[index].elided = [ElidedFrames(index: 1, frames: nil, levels: nil)]
    }
    for (index, list) in frames.threads.enumerated() {
      builder.snapshot.threads[index].frames = list.map { resolve($0, &images) }
    }
    builder.report.lastException = frames.last.map { resolve($0, &images) }
  }

  private mutating func resolve(_ source: TextFrame, _ images: inout TextImageIndex) -> RecordedFrame {
    var frame = RecordedFrame(address: source.address)
    frame.function = source.function
    frame.functionOffset = source.functionOffset
    frame.file = source.file
    frame.line = source.line
    frame.isInlined = source.isInlined
    frame.module = images.index(containing: source.address)
    // The name is in the text; that an address is of an image follows from another part of it, which may not fit.
    let other = frame.module.flatMap { images.index(named: source.image, insteadOf: $0) }
    frame.module = other ?? frame.module
    if source.address == 0, source.function != nil, source.image.isEmpty { return frame }
    if frame.module == nil, source.image.first == UInt8(ascii: "<"), source.image.last == UInt8(ascii: ">") {
      frame.module = module(ofUUID: source, &images)
    }
    if frame.module == nil, !source.image.isEmpty, !source.image.equals("???"), !source.image.has(prefix: "<") {
      frame.module = images.index(named: source.image) ?? addMissing(source, &images)
    }
    guard let module = frame.module else { return frame }
    let start = other == nil ? builder.snapshot.modules[module].address : nil
    let distance = source.address == 0 ? nil : start.flatMap { $0 <= source.address ? source.address - $0 : nil }
    frame.moduleOffset = distance ?? source.moduleOffset
    return frame
  }

  /// The module of a frame whose image is named by its UUID alone: "<4540B641-…> + 32448".
  private mutating func module(ofUUID frame: TextFrame, _ images: inout TextImageIndex) -> Int? {
    guard let uuid = UUIDBytes(text: frame.image.dropFirst().dropLast().string) else { return nil }
    if let known = images.index(of: uuid) { return known }
    let address = frame.moduleOffset.flatMap { $0 <= frame.address ? frame.address - $0 : nil }
    let module = builder.module(nil, file: nil, address: address, uuid: uuid.text)
    builder.snapshot.modules.append(module)
    images.add(module, builder.snapshot.modules.count - 1, name: [])
    return builder.snapshot.modules.count - 1
  }

  /// Adds a module that has only the name and the address given in the frame.
  private mutating func addMissing(_ frame: TextFrame, _ images: inout TextImageIndex) -> Int {
    let name = frame.image.string
    // A text without a list lacks all of them, which is said once.
    if seen.images {
      builder.note(
        ReportRules.missingImage, at: frame.offset,
        found: builder.findings.hasRoom(for: ReportRules.missingImage) ? .text(name) : nil)
    }
    let address = frame.base ?? frame.moduleOffset.flatMap { $0 <= frame.address ? frame.address - $0 : nil }
    var module = builder.module(name, file: nil, address: address)
    module.debugName = module.name
    builder.snapshot.modules.append(module)
    images.add(module, builder.snapshot.modules.count - 1, name: Array(frame.image)[...])
    return builder.snapshot.modules.count - 1
  }
}
