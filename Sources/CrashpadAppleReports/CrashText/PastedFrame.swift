// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A frame as consoles, debuggers and crash services write it.
struct PastedFrame {
  let number: UInt64?
  var source: TextFrame

  /// Nil if the line is not a frame.
  ///
  /// - Parameters:
  ///   - mayBeBare: whether a number and a name are a frame: the line is in a stack without addresses.
  ///   - last: the number of the frame before it.
  init?(_ line: TextBytes, mayBeBare: Bool, after last: UInt64?) {
    let line = line.has(prefix: "at ") ? line.dropFirst(3) : line
    if let frame = Self.debugger(line) ?? Self.hash(line) ?? Self.atos(line) ?? Self.numbered(line) ?? Self.comma(line)
    {
      self = frame
    } else if mayBeBare, let frame = PastedFrame(bare: line, after: last) {
      self = frame
    } else {
      return nil
    }
  }

  private init(_ number: UInt64?, _ source: TextFrame) {
    self.number = number
    self.source = source
  }

  /// lldb's own mark, and those of lists that Markdown makes of it.
  static let debuggerMarks: [UInt8] = Array("*+- ".utf8)

  // MARK: Forms

  /// "0  Shop  0x5a10 parse() + 12 (Config.swift:12)"
  private static func numbered(_ line: TextBytes) -> PastedFrame? {
    guard var frame = TextFrame(line), frame.hasAddress || frame.isListed, let number = frame.number else { return nil }
    if frame.isListed { return PastedFrame(number, frame) }
    // An address is larger, or as wide as a pointer. Debuggers write no offsets.
    if frame.address < 0x1000_0000, !frame.isPadded { frame.moduleOffset = frame.address }
    return PastedFrame(number, frame)
  }

  /// "* frame #0: 0x000000019119b014 libsystem_kernel.dylib`__pthread_kill + 8 at F.swift:3:5"
  private static func debugger(_ line: TextBytes) -> PastedFrame? {
    var rest = line.drop { debuggerMarks.contains($0) }
    guard rest.has(prefix: "frame #") else { return nil }
    rest = rest.dropFirst("frame #".utf8.count)
    guard let number = rest.takeNumber(), rest.first == UInt8(ascii: ":") else { return nil }
    rest = rest.dropFirst().trimmed
    var frame = TextFrame(address: 0, offset: line.startIndex)
    frame.hasAddress = false
    var afterAddress = rest
    if let address = afterAddress.takeWord().address {
      frame = TextFrame(address: address, offset: line.startIndex)
      rest = afterAddress.trimmed
    }
    if let mark = rest.firstIndex(of: UInt8(ascii: "`")) {
      frame.image = rest[..<mark].trimmed
      rest = rest[(mark + 1)...]
    }
    guard frame.hasAddress || !frame.image.isEmpty else { return nil }
    frame.readDebugger(rest)
    return PastedFrame(number, frame)
  }

  /// "#0\t0x000000010dfc5a36 in f() at /src/main.m:20", as of Xcode and gdb.
  private static func hash(_ line: TextBytes) -> PastedFrame? {
    guard line.first == UInt8(ascii: "#") else { return nil }
    var rest = line.dropFirst()
    guard let number = rest.takeNumber(), let address = rest.takeWord().address else { return nil }
    rest = rest.trimmed
    guard rest.has(prefix: "in ") else { return nil }
    rest = rest.dropFirst(3)
    var frame = TextFrame(address: address, offset: line.startIndex)
    if let from = rest.last(of: " from ") {
      let path = rest[(from + 6)...].trimmed
      frame.image = path.lastIndex(of: UInt8(ascii: "/")).map { path[($0 + 1)...] } ?? path
      rest = rest[..<from].trimmed
    }
    frame.readDebugger(rest)
    if let name = frame.function, name.hasSuffix(" ()") { frame.function = String(name.dropLast(3)) }
    return PastedFrame(number, frame)
  }

  /// "0   0x100429637 in -[Store join] (in Shop) + 295", as of atos.
  private static func atos(_ line: TextBytes) -> PastedFrame? {
    var rest = line
    guard let number = rest.takeNumber(), let address = rest.takeWord().address else { return nil }
    rest = rest.trimmed
    guard rest.has(prefix: "in "), let start = rest.last(of: "(in "),
      let close = rest[start...].firstIndex(of: UInt8(ascii: ")"))
    else { return nil }
    var frame = TextFrame(address: address, offset: line.startIndex)
    frame.image = rest[(start + 4)..<close].trimmed
    frame.function = rest[..<start].dropFirst(3).trimmed.string
    let behind = rest[(close + 1)...].trimmed
    if behind.has(prefix: "+ ") { frame.functionOffset = behind.dropFirst(2).trimmed.number }
    return PastedFrame(number, frame)
  }

  /// "0x55f9ab8f1485, App.Cart.load(Swift.String) -> () at /src/Cart.swift:459", "0x7f66da7c741f", as of the package
  /// swift-backtrace. A name of Swift may have blanks and commas.
  private static func comma(_ line: TextBytes) -> PastedFrame? {
    guard line.has(prefix: "0x") else { return nil }
    let word = line.prefix { !TextBytes.isBlank($0) }
    let hasName = word.last == UInt8(ascii: ",") && word.count < line.count
    guard hasName || word.count == line.count, let address = (hasName ? word.dropLast() : word).address,
      address >= 0x1_0000
    else { return nil }
    var frame = TextFrame(address: address, offset: line.startIndex)
    if hasName { frame.readDebugger(line[word.endIndex...].trimmed) }
    return PastedFrame(nil, frame)
  }

  /// Parses "3  dispatch_assert_queue", "1 UIKitCore -[UIView layoutSublayersOfLayer:]": a number that goes on, and a name.
  init?(bare line: TextBytes, after last: UInt64?) {
    var rest = line
    guard line.count <= Self.maximumLength, let number = rest.takeNumber(), number < 1024,
      last.map({ number > $0 }) ?? (number < 2), rest.first.map({ TextBytes.isBlank($0) }) == true
    else { return nil }
    rest = rest.trimmed
    if rest.has(prefix: "| ") {
      guard let frame = PastedFrame(cells: rest.dropFirst(2), of: number, at: line.startIndex) else { return nil }
      self = frame
      return
    }
    guard rest.first.map({ $0.isLetter || "_-+$[(".utf8.contains($0) }) == true else { return nil }
    var frame = TextFrame(address: 0, offset: line.startIndex)
    frame.hasAddress = false
    let method = rest.first(of: " -[") ?? rest.first(of: " +[")
    if let gap = rest.firstIndex(of: 0x09) ?? rest.first(of: "  ") ?? method {
      frame.image = rest[..<gap].trimmed
      rest = rest[gap...].trimmed
    }
    frame.readDebugger(rest)
    guard frame.function != nil else { return nil }
    self.init(number, frame)
  }

  /// Parses "UIKitCore | -[UIView layout]", "Shop | Cart.swift line 662Cart.load()": the cells of a table behind the number.
  private init?(cells: TextBytes, of number: UInt64, at offset: Int) {
    guard let bar = cells.first(of: " | ") else { return nil }
    var frame = TextFrame(address: 0, offset: offset)
    frame.hasAddress = false
    frame.image = cells[..<bar].trimmed
    var name = cells[(bar + 3)...].trimmed
    if let mark = name.first(of: " line "), name[..<mark].first(of: " ") == nil {
      var rest = name[(mark + " line ".utf8.count)...]
      if let line = rest.takeNumber() {
        // A compiler's own code has no file.
        let file = name[..<mark]
        if file.first != UInt8(ascii: "<"), line > 0 { (frame.file, frame.line) = (file.string, UInt32(exactly: line)) }
        name = rest.trimmed
      }
    }
    guard !frame.image.isEmpty, !name.isEmpty else { return nil }
    frame.function = name.string
    self.init(number, frame)
  }

  /// A longer line is no frame of a number and a name.
  private static let maximumLength = 8192
}

extension TextFrame {
  /// Parses "f(x=1) + 12 at F.swift:3:5 [inlined]".
  fileprivate mutating func readDebugger(_ text: TextBytes) {
    var rest = text.trimmed
    if rest.has(suffix: "[inlined]") {
      isInlined = true
      rest = rest.dropLast("[inlined]".utf8.count).trimmed
    }
    if let at = rest.last(of: " at "), readPlace(rest[(at + 4)...].trimmed) { rest = rest[..<at].trimmed }
    if let plus = rest.last(of: " + "), let distance = rest[(plus + 3)...].number {
      functionOffset = distance
      rest = rest[..<plus].trimmed
    }
    // Values of arguments are no part of a name; Swift's type of the result follows them.
    if rest.last == UInt8(ascii: ")") || rest.first(of: ") -> ") != nil,
      let open = rest.firstIndex(of: UInt8(ascii: "(")),
      rest[open...].contains(UInt8(ascii: "=")), open > rest.startIndex
    {
      rest = rest[..<open]
    }
    if !rest.isEmpty, rest.address == nil { function = rest.string }
  }

  /// "F.swift:3:5" or "/src/main.m:20"
  private mutating func readPlace(_ text: TextBytes) -> Bool {
    let parts = text.split(separator: UInt8(ascii: ":"))
    guard parts.count >= 2, let line = parts[1].decimal, parts.count == 2 || parts[2].decimal != nil else {
      return false
    }
    file = parts[0].string
    self.line = UInt32(exactly: line)
    return true
  }
}
