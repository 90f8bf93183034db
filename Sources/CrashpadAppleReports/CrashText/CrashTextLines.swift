// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// A line of the form "Key:   value".
struct TextKey {
  let name: String
  let value: TextBytes
  /// Whether at least two blanks follow the colon, as with Apple's keys.
  let isPadded: Bool

  init(name: String, value: TextBytes) {
    self.name = name
    self.value = value
    isPadded = true
  }

  /// Nil if the line does not have this form.
  init?(_ line: TextBytes) {
    guard let first = line.first, (0x41...0x5a).contains(first), let colon = line.prefix(42).firstIndex(of: 0x3a) else {
      return nil
    }
    let name = line[..<colon]
    guard name.allSatisfy({ Self.isLetter($0) }) else { return nil }
    self.name = name.string
    let rest = line[(colon + 1)...]
    value = rest.trimmed
    isPadded = rest.isEmpty || rest.count - value.count >= 2
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x20 || byte == UInt8(ascii: "/")
  }
}

/// The type and signal in the exception block, kept until the threads are known.
struct TextException {
  var type: String?
  var signal: String?
}

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
  /// The number at the start of the line.
  var number: UInt64?
  var hasAddress = true
  /// Whether a tool put a name in the place of the address: other frames of the stack may have theirs.
  var isListed = false
  /// Whether zeros fill the address up to the width of a pointer.
  var isPadded = false
  /// The number of digits of the address.
  var digits = 0
  /// Whether the address is the last word of the line.
  var hasNothing = false

  init(address: UInt64, offset: Int) {
    self.address = address
    self.offset = offset
  }

  /// Whether two lines are of one frame.
  func isSame(as other: TextFrame) -> Bool {
    number == other.number && hasAddress == other.hasAddress && address == other.address && function == other.function
  }
}

extension TextFrame {
  /// Parses "0   libobjc.A.dylib   0x00007fff69feae9d objc_msgSend + 29"; nil if the line is not a frame.
  init?(_ line: TextBytes) {
    var rest = line
    guard let number = rest.takeNumber(), let first = rest.first, TextBytes.isBlank(first) else { return nil }
    if let place = Self.place(rest) {
      self.init(address: place.address, offset: line.startIndex)
      isPadded = place.isPadded
      digits = place.digits
      hasNothing = place.rest.isEmpty
      image = place.image
      readWhat(place.rest)
    } else if let parts = Self.listed(rest) {
      self.init(address: 0, offset: line.startIndex)
      (hasAddress, isListed) = (false, true)
      (image, functionOffset) = (parts.image, parts.offset)
      function = parts.name.string
      file = parts.place?.file.string
      self.line = parts.place?.line
    } else {
      guard let parts = Self.named(rest) else { return nil }
      self.init(address: 0, offset: line.startIndex)
      hasAddress = false
      image = parts.image
      readWhat(parts.rest)
      guard function != nil else { return nil }
    }
    self.number = number
  }

  /// Splits the rest of a frame without an address, as Bugly writes them: "UIKitCore   -[UIView layout] + 64". The image
  /// ends at a tab or two blanks, or else at the first blank.
  private static func named(_ text: TextBytes) -> (image: TextBytes, rest: TextBytes)? {
    let text = text.trimmed
    guard let plus = text.last(of: " + "), text[(plus + 3)...].prefix(while: { $0 != 0x20 }).decimal != nil else {
      return nil
    }
    let gap = text.firstIndex(of: 0x09) ?? text.first(of: "  ") ?? text.firstIndex(of: 0x20)
    guard let gap, gap < plus else { return nil }
    return (text[..<gap].trimmed, text[gap...].trimmed)
  }

  /// A frame in which a tool replaced the address.
  private struct Listed {
    let image: TextBytes
    let name: TextBytes
    var offset: UInt64?
    var place: (file: TextBytes, line: UInt32)?
  }

  /// Splits the rest of a frame in which atos replaced the address: "CoreFoundation   ___CFRunLoopRun\t(in CoreFoundation)\t12",
  /// "Shop   -[Cart total] (in Shop) (Cart.m:12)", "Shop   main (in Shop) + 12".
  private static func listed(_ text: TextBytes) -> Listed? {
    guard let mark = text.last(of: "(in "), mark > text.startIndex, TextBytes.isBlank(text[mark - 1]),
      let close = text[mark...].firstIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let image = text[(mark + "(in ".utf8.count)..<close]
    let head = text[..<mark].trimmed
    guard !image.isEmpty, head.has(prefix: image.string), case let rest = head.dropFirst(image.count),
      rest.first.map(TextBytes.isBlank) == true, !rest.trimmed.isEmpty
    else { return nil }
    var listed = Listed(image: image, name: rest.trimmed)
    let tail = text[(close + 1)...].trimmed
    if tail.isEmpty { return listed }
    if tail.first == UInt8(ascii: "("), tail.last == UInt8(ascii: ")") {
      listed.place = tail.dropFirst().dropLast().sourcePlace
      return listed.place == nil ? nil : listed
    }
    listed.offset = (tail.has(prefix: "+ ") ? tail.dropFirst(2).trimmed : tail).decimal
    return listed.offset == nil ? nil : listed
  }

  /// The parts of a frame behind its number.
  private struct Place {
    let image: TextBytes
    let address: UInt64
    let isPadded: Bool
    let digits: Int
    let rest: TextBytes

    /// Nil if `word` is not an address.
    init?(_ image: TextBytes, _ word: TextBytes, _ rest: TextBytes) {
      guard let address = word.address else { return nil }
      self.image = image
      self.address = address
      isPadded = word.count >= 10 && word.has(prefix: "0x0")
      digits = word.count - (word.has(prefix: "0x") ? 2 : 0)
      self.rest = rest.trimmed
    }
  }

  /// Splits the rest of a frame. The image's name may contain blanks, so it ends only at the address.
  private static func place(_ text: TextBytes) -> Place? {
    if let tab = text.firstIndex(of: 0x09) {
      var rest = text[tab...]
      if let place = Place(text[..<tab].trimmed, rest.takeWord(), rest) { return place }
    }
    // Without the first blanks, which each look for the image's name would pass over again.
    let text = text.trimmed
    var start = text.startIndex
    while let found = text[start...].first(of: "0x") {
      if found > text.startIndex, TextBytes.isBlank(text[found - 1]) {
        let word = text[found...].prefix { !TextBytes.isBlank($0) }
        let image = text[..<found].trimmed
        if !image.isEmpty, let place = Place(image, word, text[word.endIndex...]) { return place }
      }
      start = found + 2
    }
    return nil
  }

  /// Parses "objc_msgSend + 29 (objc.m:3) [inlined]", "[inlined] isspace (ctype.h:269)", "0x102230000 + 25788", "0x193c9c000 +
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
    // "__cxa_throw + 388 f()": the exported name that is next, and behind it the one of the debug information.
    if file != nil, let plus = text.first(of: " + ") {
      var rest = text[(plus + 3)...]
      if rest.takeNumber() != nil, rest.first == 0x20, !rest.trimmed.isEmpty, !rest.trimmed.has(prefix: "+ ") {
        name = rest.trimmed
      }
    }
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
      let mark = "[inlined] "
      if name.has(prefix: mark) { isInlined = true }
      function = Self.whole(isInlined && name.has(prefix: mark) ? name.dropFirst(mark.utf8.count) : name)[...].string
      functionOffset = distance
    }
  }

  /// The name without the second offset that old systems put into it: "-[NSObject+ 1045168 (NSObject) copy]", "f+ 29459 ()".
  private static func whole(_ name: TextBytes) -> [UInt8] {
    guard let plus = name.first(of: "+ "), plus > name.startIndex, name[plus - 1] != 0x20 else { return Array(name) }
    let rest = name[(plus + 2)...].drop { (0x30...0x39).contains($0) }
    guard rest.startIndex > plus + 2, rest.has(prefix: " (") else { return Array(name) }
    return Array(name[..<plus]) + rest.dropFirst()
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

/// The call tree of a thread, with what else is known of the thread.
struct TextTree {
  var id: UInt64?
  var name: String?
  var queue: String?
  /// The report's words about what the thread waits for.
  var blocked: String?
  var samples: [TextSample] = []
}

/// A line in a call tree: the number of samples, and their frame.
struct TextSample {
  /// The number of bytes before the count.
  let depth: Int
  let count: UInt64
  let frame: TextFrame

  /// Parses "    61  ??? (libsystem_pthread.dylib + 2240) [0x22f72b8c0]"; nil if the line has another form.
  init?(_ line: TextBytes) {
    // The marks connect the branches of a tree.
    let content = line.drop { TextBytes.isBlank($0) || "*+!:|".utf8.contains($0) }
    depth = content.startIndex - line.startIndex
    var rest = content
    guard let count = rest.takeNumber(), rest.first.map({ TextBytes.isBlank($0) }) == true else { return nil }
    self.count = count
    rest = rest.trimmed
    guard let open = rest.last(of: "[0x"), let close = rest[open...].firstIndex(of: UInt8(ascii: "]")),
      let address = rest[(open + 1)..<close].address
    else { return nil }
    var frame = TextFrame(address: address, offset: content.startIndex)
    frame.readSample(rest[..<open].trimmed)
    frame.readPlace(rest[(close + 1)...].trimmed)
    self.frame = frame
  }
}

extension TextFrame {
  /// Parses "start_wqthread + 8 (libsystem_pthread.dylib + 7308)", "??? (<4540B641-…> + 32448)",
  /// "CoreFoundation 0x1858ec000 + 37028".
  fileprivate mutating func readSample(_ text: TextBytes) {
    var name = text
    if let start = text.last(of: "  (in "), let close = text[start...].firstIndex(of: UInt8(ascii: ")")) {
      image = text[(start + "  (in ".utf8.count)..<close]
      let rest = text[(close + 1)...].trimmed
      if rest.has(prefix: "load address "), let plus = rest.last(of: " + ") {
        moduleOffset = rest[(plus + 3)...].number
      } else if rest.has(prefix: "+ ") {
        functionOffset = rest.dropFirst(2).trimmed.number
      }
      name = text[..<start].trimmed
    } else if text.last == UInt8(ascii: ")"), let open = text.last(of: "(") {
      let inner = text[(open + 1)...].dropLast()
      name = text[..<open].trimmed
      if let plus = inner.last(of: " + "), let distance = inner[(plus + 3)...].number {
        image = inner[..<plus].trimmed
        moduleOffset = distance
      }
    }
    if let plus = name.last(of: " + "), let distance = name[(plus + 3)...].number {
      name = name[..<plus].trimmed
      functionOffset = distance
    }
    guard !name.isEmpty, !name.equals("???") else { return }
    function = name.string
  }

  /// Parses "main.swift:4", which sample(1) writes behind the address.
  fileprivate mutating func readPlace(_ text: TextBytes) {
    let word = text.prefix { !TextBytes.isBlank($0) }
    guard let colon = word.lastIndex(of: UInt8(ascii: ":")), colon > word.startIndex,
      let line = word[(colon + 1)...].decimal
    else { return }
    file = word[..<colon].string
    self.line = UInt32(exactly: line)
  }
}
