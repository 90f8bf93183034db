// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

extension CrashText {
  /// Reads a line of the binary images; false if it is not one.
  mutating func readImage(_ content: TextBytes) -> Bool {
    guard content.has(prefix: "0x") else { return false }
    guard let image = TextImage(content) else {
      builder.note(ReportRules.badImage, at: content.startIndex)
      seen.unreadLine = content.startIndex
      return true
    }
    builder.snapshot.modules.append(module(image))
    return true
  }

  private mutating func module(_ image: TextImage) -> ModuleSnapshot {
    let name = image.path.isEmpty ? image.name : image.path
    let file = image.path.lastIndex(of: UInt8(ascii: "/")).map { image.path[($0 + 1)...] } ?? image.name
    // The end is the address of the last byte. The pseudo image for all addresses ends at the highest address.
    let size = image.end.map { $0 == .max ? 0 : $0 &- image.start &+ 1 }
    var module = builder.module(name.string, file: file.string, address: image.start, size: size)
    if !image.name.elementsEqual(file), image.name.contains(UInt8(ascii: ".")) { module.bundleID = image.name.string }
    module.bundleVersion = image.version.isEmpty || image.version.equals("*") ? nil : image.version.string
    module.architecture = image.architecture.isEmpty ? nil : image.architecture.string
    if let uuid = image.uuid, uuid != .zero { module.identity = .uuid(uuid, age: 0) }
    return module
  }
}

/// One line of the binary images.
struct TextImage {
  var start: UInt64
  /// The address of the last byte; nil if the text does not state it.
  var end: UInt64?
  var name: TextBytes = []
  var version: TextBytes = []
  var architecture: TextBytes = []
  var uuid: UUIDBytes?
  var path: TextBytes = []

  /// Parses "0x104824000 - 0x10482ffff App arm64  <uuid> /path", "0x1000 - 0x1fff +com.App (1.0 - 1) <UUID> /path".
  init?(_ line: TextBytes) {
    var rest = line
    guard let start = rest.takeWord().address, rest.takeWord().equals("-") else { return nil }
    let endWord = rest.takeWord()
    end = endWord.address
    guard end != nil || endWord.equals("???"), (end ?? .max) >= start else { return nil }
    self.start = start
    rest = rest.trimmed
    if rest.first == UInt8(ascii: "+") { rest = rest.dropFirst().trimmed }
    split(rest)
    guard !name.isEmpty || !path.isEmpty || uuid != nil else { return nil }
  }

  private mutating func split(_ text: TextBytes) {
    var head = text
    var index = text.startIndex
    while let open = text[index...].firstIndex(of: UInt8(ascii: "<")) {
      let inner = text[(open + 1)...].prefix(37).prefix { $0 != UInt8(ascii: ">") }
      if inner.count <= 36, inner.endIndex < text.endIndex, let uuid = UUIDBytes(text: inner.string) {
        self.uuid = uuid
        head = text[..<open].trimmed
        path = text[(inner.endIndex + 1)...].trimmed
        break
      }
      index = open + 1
    }
    if uuid == nil, let slash = text.first(of: " /") {
      head = text[..<slash].trimmed
      path = text[(slash + 1)...].trimmed
    }
    // Other tools append data of package managers.
    if let facts = path.first(of: " {\"") { path = path[..<facts].trimmed }
    if path.equals("???") { path = [] }
    splitName(head)
  }

  private static let architectures: Set<String> = [
    "arm64", "arm64e", "arm64_32", "arm64v8", "armv6", "armv7", "armv7s", "armv7k", "armv7f", "arm", "i386", "x86_64",
    "x86_64h", "ppc", "ppc64", "unknown",
  ]

  private mutating func splitName(_ head: TextBytes) {
    name = head
    if head.last == UInt8(ascii: ")"), let open = head.last(of: " (") {
      let inner = head[(open + 2)...].dropLast()
      version = inner[..<(inner.first(of: " - ") ?? inner.endIndex)]
      name = head[..<open].trimmed
      // Such as "com.apple.CoreFoundation 6.9 (1452.23)".
      if let blank = name.lastIndex(of: 0x20), name[(blank + 1)...].first.map({ (0x30...0x39).contains($0) }) == true {
        version = name[(blank + 1)...]
        name = name[..<blank].trimmed
      }
    } else if let blank = head.lastIndex(of: 0x20) {
      let last = head[(blank + 1)...]
      guard last.count <= 8, Self.architectures.contains(last.string) else { return }
      architecture = last
      name = head[..<blank].trimmed
    }
  }
}

/// Finds an image by address or name.
struct TextImageIndex {
  /// The modules with a size, sorted by address.
  private var ranges: [(start: UInt64, size: UInt64, index: Int)] = []
  private var names: [TextBytes: Int] = [:]
  private var uuids: [UUIDBytes: Int] = [:]
  /// The ends of names, in the length to which texts shorten names from the left.
  private var ends: [TextBytes: Int] = [:]
  /// The file's name and the bundle's id of each module.
  private var labels: [(name: TextBytes, bundle: TextBytes)] = []
  static let cutLength = 27

  /// An index of all modules of a report.
  init(_ snapshot: ProcessSnapshot) {
    for (index, module) in snapshot.modules.enumerated() {
      add(module, index, name: module.debugName.map { snapshot.bytes(of: $0, in: RawSpan())[...] } ?? [])
    }
    ranges.sort { ($0.start, $0.index) < ($1.start, $1.index) }
  }

  mutating func add(_ module: ModuleSnapshot, _ index: Int, name: TextBytes) {
    if let start = module.address, let size = module.size, size > 0 { ranges.append((start, size, index)) }
    if case .uuid(let uuid, _) = module.identity, uuids[uuid] == nil { uuids[uuid] = index }
    let bundle = module.bundleID.map { Array($0.utf8)[...] } ?? []
    labels.append((name, bundle))
    for name in [name, bundle] where !name.isEmpty {
      if names[name] == nil { names[name] = index }
      let end = name.suffix(Self.cutLength)
      if ends[end] == nil { ends[end] = index }
    }
  }

  /// The ranges in a damaged report may overlap; this is the maximum number to check.
  private static let maximumOverlaps = 8

  func index(containing address: UInt64) -> Int? {
    let behind = ranges.indices.partitioningIndex { ranges[$0].start > address }
    for range in ranges[max(0, behind - Self.maximumOverlaps)..<behind].reversed()
    where address - range.start < range.size { return range.index }
    return nil
  }

  /// The image with the name that a frame gives, if the one at the frame's address has another.
  func index(named name: TextBytes, insteadOf index: Int) -> Int? {
    let label = labels[index]
    guard !name.isEmpty, !label.name.isEmpty, !label.name.elementsEqual(name), !label.bundle.elementsEqual(name) else {
      return nil
    }
    let found = self.index(named: name)
    return found == index ? nil : found
  }

  func index(of uuid: UUIDBytes) -> Int? { uuids[uuid] }

  func index(named name: TextBytes) -> Int? {
    var name = name
    if name.has(suffix: " (*)") { name = name.dropLast(4).trimmed }
    if let index = names[name] { return index }
    return name.has(prefix: "...") ? ends[name.dropFirst(3).suffix(Self.cutLength)] : nil
  }
}
