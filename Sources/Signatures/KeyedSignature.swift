package import FileSystem
package import Snapshot
internal import Symbolication

/// A signature made without symbols, and what tells that another crash gets the same one with them.
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
    let kind = CrashKind(snapshot)
    let stack = Signature.stack(snapshot, file, nil, kind, options)
    var modules = SignatureModules(snapshot, file, inApp: options.inApp)
    let entries = options.names.entries(stack.frames, &modules)
    signature = Signature(SignatureChoice(kind, entries))
    var text = StackText(snapshot, file)
    text.add(kind)
    for (frame, entry) in zip(stack.frames, entries) { text.add(frame, entry) }
    if let thread = stack.thread { text.add(wordsOf: thread) }
    let flags = signature.flags.map(\.rawValue).joined(separator: ",")
    key = Signature.digest(
      "crashpadctl-key/\(SignatureRule.version)\n\(signature.id) \(signature.raw) \(flags)\n" + text.text, count: 16)
  }
}

/// All that the walk of a stack with symbols depends on, as text: addresses by their modules.
private struct StackText {
  private(set) var text = ""
  private let snapshot: ProcessSnapshot
  private let file: InputFile
  /// For each module its build.
  private var builds: [Int: String] = [:]
  /// Sorted by address.
  private let ranges: [(start: UInt64, end: UInt64, module: Int)]
  private var firstStackPointer: UInt64?
  private var isSure = true

  /// So many words from the top of a stack may hold the return address that a walk without symbols passes over: a function
  /// without a frame of its own has it there.
  private static let topWords = 16
  /// The same where frames were guessed.
  private static let scannedWords = 512

  init(_ snapshot: ProcessSnapshot, _ file: InputFile) {
    self.snapshot = snapshot
    self.file = file
    ranges = snapshot.modules.enumerated().compactMap { index, module in
      guard let start = module.address, let size = module.size, size > 0 else { return nil }
      return (start, start.addingReportingOverflow(size).overflow ? .max : start + size, index)
    }.sorted { $0.start < $1.start }
  }

  mutating func add(_ kind: CrashKind) {
    text += "\(kind.text) \(kind.place) \(kind.isHang) \(kind.isFault) \(kind.isAbort) \(kind.isStackOverflow)\n"
  }

  mutating func add(_ frame: Symbolization.Frame, _ entry: StackEntry) {
    let (place, pointer) = (frame.frame, frame.frame.stackPointer)
    if firstStackPointer == nil { firstStackPointer = pointer }
    if place.trust == .scan { isSure = false }
    let distance = pointer.map { $0 &- (firstStackPointer ?? 0) }
    text += "\(place.trust.rawValue) \(place.isSignalFrame) \(entry.isInApp) "
    text += "\(place.module.map { build($0) } ?? "-")+\(hexadecimal(place.moduleOffset ?? 0)) "
    text += "\(distance.map { hexadecimal($0) } ?? "-") \(entry.shownName ?? "")\n"
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
    text += "\(hexadecimal(offset)) \(build(range.module))+\(hexadecimal(address - range.start))\n"
  }

  private mutating func build(_ index: Int) -> String {
    if let build = builds[index] { return build }
    guard snapshot.modules.indices.contains(index) else { return "-" }
    let module = snapshot.modules[index]
    let name = module.name.map { name in file.withBytes { snapshot.text(name, in: $0) } } ?? ""
    let identity =
      switch module.identity {
      case .uuid(let uuid, let age): "\(uuid.text)-\(age)"
      case .buildID(let content): hexadecimalDigits(file.withBytes { snapshot.bytes(of: content, in: $0) })
      case nil: "~" + hexadecimal(module.size ?? 0)
      }
    let last = name.utf8.lastIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    let build = (last.map { String(name[name.utf8.index(after: $0)...]) } ?? name) + "@" + identity
    builds[index] = build
    return build
  }
}
