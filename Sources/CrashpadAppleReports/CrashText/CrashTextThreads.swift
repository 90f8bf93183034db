// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// A frame as in the text. Its image is resolved after all images are read.
struct TextFrame {
  let address: UInt64
  /// The byte offset of the line.
  let offset: Int
  var image: TextBytes = []
  /// The address of the image, if the text gives it instead of a name.
  var base: UInt64?
  var moduleOffset: UInt64?
  var function: String?
  var functionOffset: UInt64?
  var file: String?
  var line: UInt32?
  var isInlined = false

  init(address: UInt64, offset: Int) {
    self.address = address
    self.offset = offset
  }
}

struct TextFrames {
  enum Owner {
    case lastException
    /// An index in the snapshot's threads.
    case thread(Int)
  }

  var last: [TextFrame] = []
  var threads: [[TextFrame]] = []
}

extension CrashText {
  // MARK: Threads

  /// Parses "Thread 0 name:  Dispatch queue: X", "Thread 4 Crashed:", "Thread 0:: Dispatch queue: X", "Thread 0
  /// crashed with ARM Thread State (64-bit):", "Thread 0 instruction stream:".
  mutating func beginThread(_ content: TextBytes) -> Bool {
    var rest = content.dropFirst("Thread ".utf8.count)
    guard let number = rest.takeNumber() else { return false }
    endRegisters()
    if rest.has(prefix: " name:") {
      thread = threadIndex(number)
      setName(rest.dropFirst(" name:".utf8.count), of: thread)
      section = .thread
      return true
    }
    if rest.first(of: " crashed with ") == rest.startIndex {
      thread = threadIndices[number] ?? -1
      if thread < 0 { builder.note(ReportRules.badThread, at: content.startIndex, found: .text(String(number))) }
      section = thread < 0 ? .skipped : .registers
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
    if state.equals("Crashed"), faultingNumber == nil { faultingNumber = number }
    if state.equals("Attributed") || state.equals("Highlighted"), faultingNumber == nil { faultingNumber = number }
    let name = rest[(colon + 1)...].drop { $0 == UInt8(ascii: ":") }
    if !name.trimmed.isEmpty { setName(name, of: thread) }
    section = .thread
    return true
  }

  private mutating func threadIndex(_ number: UInt64) -> Int {
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

  private mutating func setName(_ text: TextBytes, of index: Int) {
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
    guard let frame = TextFrame(content) else {
      if continueName(content, of: owner) { return }
      // A line that begins with a number was probably meant as a frame.
      if content.first.map({ (0x30...0x39).contains($0) }) == true {
        builder.note(ReportRules.badFrame, at: content.startIndex)
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
      frames.threads[index].append(frame)
    }
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

extension TextFrame {
  /// Parses "0   libobjc.A.dylib   0x00007fff69feae9d objc_msgSend + 29"; nil if the line is not a frame.
  init?(_ line: TextBytes) {
    var rest = line
    guard rest.takeNumber() != nil, let first = rest.first, TextBytes.isBlank(first) else { return nil }
    guard let place = Self.place(rest) else { return nil }
    self.init(address: place.address, offset: line.startIndex)
    image = place.image
    readWhat(place.rest)
  }

  /// Splits the rest of a frame. The image's name may contain blanks, so it ends only at the address.
  private static func place(_ text: TextBytes) -> (image: TextBytes, address: UInt64, rest: TextBytes)? {
    if let tab = text.firstIndex(of: 0x09) {
      var rest = text[tab...]
      if let address = rest.takeWord().address { return (text[..<tab].trimmed, address, rest.trimmed) }
    }
    var start = text.startIndex
    while let found = text[start...].first(of: "0x") {
      if found > text.startIndex, TextBytes.isBlank(text[found - 1]) {
        let word = text[found...].prefix { !TextBytes.isBlank($0) }
        let image = text[..<found].trimmed
        if let address = word.address, !image.isEmpty { return (image, address, text[word.endIndex...].trimmed) }
      }
      start = found + 2
    }
    return nil
  }

  /// Parses "objc_msgSend + 29 (objc.m:3) [inlined]", "0x102230000 + 25788", "0x193c9c000 +
  /// 0xe0c // mach_msg_trap + 0x8", "0x28000 + 30048 (objc_msgSend + 29)".
  private mutating func readWhat(_ text: TextBytes) {
    var rest = text
    if rest.has(suffix: "[inlined]") {
      isInlined = true
      rest = rest.dropLast("[inlined]".utf8.count).trimmed
    }
    if rest.has(prefix: "0x"), let comment = rest.first(of: "// ") {
      readName(rest[..<comment].trimmed)
      rest = rest[(comment + 3)...].trimmed
    }
    while rest.last == UInt8(ascii: ")"), let open = rest.last(of: " ("),
      takeParenthesis(rest[(open + 2)...].dropLast())
    {
      rest = rest[..<open].trimmed
    }
    if rest.has(prefix: "0x"), rest.last == UInt8(ascii: ")"), let open = rest.first(of: " (") {
      readName(rest[..<open].trimmed)
      rest = rest[(open + 2)...].dropLast()
    }
    readName(rest)
  }

  /// Parses "main.m:16", "in App", or ":-1", which means that the line is unknown; false if the parenthesis is part of
  /// a name.
  private mutating func takeParenthesis(_ inner: TextBytes) -> Bool {
    if inner.has(prefix: "in ") || inner.equals(":-1") { return true }
    guard let colon = inner.lastIndex(of: UInt8(ascii: ":")), let line = inner[(colon + 1)...].decimal,
      colon > inner.startIndex
    else { return false }
    file = inner[..<colon].string
    self.line = UInt32(exactly: line)
    return true
  }

  private mutating func readName(_ text: TextBytes) {
    var name = text
    var distance: UInt64?
    if let plus = text.last(of: " + "), let value = text[(plus + 3)...].number {
      name = text[..<plus].trimmed
      distance = value
    }
    if let base = name.number, let distance {
      self.base = base
      moduleOffset = distance
    } else if !image.isEmpty, name.elementsEqual(image), distance != nil {
      moduleOffset = distance
    } else if !name.isEmpty, !name.equals("???"), name.address == nil {
      function = name.string
      functionOffset = distance
    }
  }
}
