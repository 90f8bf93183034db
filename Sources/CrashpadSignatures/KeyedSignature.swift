// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot
internal import CrashpadSymbolication

/// A signature made without symbols, with the key by which another crash is known to get the same signature with symbols.
///
/// Collections have many crashes for each fault: it is enough to look up the symbols of one crash for each key.
package struct KeyedSignature: Sendable {
  package let signature: Signature
  /// 32 hexadecimal digits: a digest of all that a walk of the stack goes by. Crashes of one key have the same kind, the
  /// same frames in the same builds at the same distances, and the same code addresses on top of the stack.
  package let key: String

  /// - Parameters:
  ///   - snapshot: what is known of the process.
  ///   - file: what the snapshot was read from.
  ///   - options: which modules belong to the program; with a cache that finds no symbols.
  package init(_ snapshot: ProcessSnapshot, _ file: InputFile, _ options: SignatureOptions) {
    let (kind, stack) = Signature.kindAndStack(snapshot, file, nil, options)
    var modules = SignatureModules(snapshot, file, inApp: options.inApp, options.version)
    let entries = options.names.entries(stack.frames, &modules)
    signature = Signature(kind, entries, options.version)
    var text = KeyText(snapshot, file)
    text.add("crashpadctl-key/\(options.version.rawValue)")
    for part in [signature.id, signature.raw, signature.flags.map(\.rawValue).joined(separator: ",")] { text.add(part) }
    text.add(kind)
    text.add(UInt64(stack.frames.count))
    // Without symbols a frame may be inlined only in a report, which has its names.
    for entry in entries { text.add(stack.frames[entry.frame], entry) }
    if let thread = stack.thread { text.add(wordsOf: thread) }
    key = SignatureDigest.bytes(text.bytes, count: 16)
  }
}

/// All that the walk of a stack with symbols depends on, as bytes: addresses by their modules.
///
/// Each part says where it ends, so that other parts are other bytes. Dumps by the million are keyed: text of digits would take
/// half of the time of a dump.
private struct KeyText {
  private(set) var bytes: [UInt8] = []
  private let snapshot: ProcessSnapshot
  private let file: InputFile
  /// For each module its number, from 1, in the order in which they come; 0 before.
  private var numbers: [UInt64]
  private var lastNumber: UInt64 = 0
  /// Sorted by address.
  private let ranges: [(start: UInt64, end: UInt64, module: Int)]
  private var firstStackPointer: UInt64?
  private var isSure = true

  /// The number of words from the top of a stack that may hold the return address that a walk without symbols passes
  /// over: a function without a frame of its own has it there.
  private static let topWords = 16
  /// The same where frames were guessed.
  private static let scannedWords = 512

  init(_ snapshot: ProcessSnapshot, _ file: InputFile) {
    self.snapshot = snapshot
    self.file = file
    numbers = Array(repeating: 0, count: snapshot.modules.count)
    ranges = snapshot.modules.enumerated().compactMap { index, module in
      guard let start = module.address, let size = module.size, size > 0 else { return nil }
      return (start, start.addingReportingOverflow(size).overflow ? .max : start + size, index)
    }.sorted { $0.start < $1.start }
    bytes.reserveCapacity(2048)
  }

  /// Small numbers take one byte.
  mutating func add(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    bytes += text.utf8
  }

  mutating func add(_ kind: CrashKind) {
    add(kind.text)
    let flags = [
      kind.place == .lastException, kind.place == .mainThread, kind.isHang, kind.isFault, kind.isAbort,
      kind.isStackOverflow, kind.isJumpOutOfCode,
    ]
    for flag in flags { add(flag ? 1 : 0) }
    for word in kind.words { add(word) }
    add(kind.program ?? "")
  }

  mutating func add(_ frame: Symbolization.Frame, _ entry: StackEntry) {
    let (place, pointer) = (frame.frame, frame.frame.stackPointer)
    if firstStackPointer == nil { firstStackPointer = pointer }
    if place.trust == .scan { isSure = false }
    add(place.trust.rawValue)
    add((place.isSignalFrame ? 1 : 0) + (entry.isInApp ? 2 : 0) + (pointer == nil ? 0 : 4))
    if place.interruptsSystemCall { add(1) }
    add(module: place.module)
    add(place.moduleOffset ?? 0)
    if let pointer { add(pointer &- (firstStackPointer ?? 0)) }
    add(entry.shownName ?? "")
  }

  /// Words on top of a captured stack that point into modules, and where a call left its return address.
  mutating func add(wordsOf thread: Symbolization.Thread) {
    guard let context = thread.context, thread.frames.first?.frame.trust == .context else { return }
    if case .arm64(let registers) = context { add(word: registers.lr, at: 0) }
    if thread.end != .done { isSure = false }
    let memory = WalkedMemory(snapshot, file)
    for index in 0..<(isSure ? Self.topWords : Self.scannedWords) {
      let offset = UInt64(index) * 8
      guard let word = memory.word(context.stackPointer &+ offset) else { break }
      add(word: word, at: offset)
    }
  }

  private mutating func add(word: UInt64, at offset: UInt64) {
    let address = word & ~snapshot.codeAddressMask
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address < ranges[low - 1].end else { return }
    let range = ranges[low - 1]
    add(offset)
    add(module: range.module)
    add(address - range.start)
  }

  /// The number of a module; its name and build follow it the first time.
  private mutating func add(module index: Int?) {
    guard let index, numbers.indices.contains(index) else { return add(0) }
    let isNew = numbers[index] == 0
    if isNew {
      lastNumber += 1
      numbers[index] = lastNumber
    }
    add(numbers[index])
    if isNew { add(build(snapshot.modules[index])) }
  }

  private func build(_ module: ModuleSnapshot) -> String {
    let name = module.name.map { name in file.withBytes { snapshot.text(name, in: $0) } } ?? ""
    let identity =
      switch module.identity {
      case .uuid(let uuid, let age): "\(uuid.text)-\(age)"
      case .buildID(let content): hexadecimalDigits(file.withBytes { snapshot.bytes(of: content, in: $0) })
      case nil: "~" + hexadecimal(module.size ?? 0)
      }
    return lastPathComponent(name) + "@" + identity
  }
}
