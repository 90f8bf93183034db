// SPDX-License-Identifier: Apache-2.0
/// A dyld shared cache with small libraries, and the name that each address of it has: made from what Apple's `dyld_cache_format.h`,
/// `mach-o/loader.h` and `nlist.h` say. No code in it ever runs.
public struct SynthSharedCache: Sendable {
  /// The forms in which systems had them.
  public enum Shape: String, CaseIterable, Sendable {
    /// One file, with local symbols in it.
    case single
    /// Several, whose names end with a number: ".1".
    case numbered
    /// Several, whose endings are in the first file: ".02.dyldlinkedit".
    case named
  }

  /// The place of the name of a function.
  public enum Kind: CaseIterable, Sendable {
    /// In the library's own symbol table and in its trie
    case exported
    /// In the trie alone
    case inTrie
    /// In the local symbols; the library's own table has "<redacted>"
    case local
    /// In the library's own table, as a local symbol
    case kept
    /// Nowhere: only the start of the function is known.
    case unnamed
  }

  public struct Function: Sendable {
    public let name: String
    public let kind: Kind
    public let address: UInt64
    public let size: UInt64
  }

  public struct Image: Sendable {
    public let path: String
    public let uuid: [UInt8]
    public let address: UInt64
    public var functions: [Function]
    /// Whether its code is in the first sub-cache.
    public let isInPart: Bool
  }

  public let shape: Shape
  public private(set) var images: [Image] = []
  public let uuid: [UInt8]
  public let partUUID: [UInt8]
  public let linkeditUUID: [UInt8]
  public let symbolsUUID: [UInt8]
  /// The ends of the names of the files with code and with tables.
  public static let partSuffixes: [Shape: [String]] = [
    .single: [], .numbered: [".1", ".2"], .named: [".01", ".02.dyldlinkedit"],
  ]

  static let base: UInt64 = 0x1_8000_0000
  private static let page = 0x1000
  private static let headerSize = 0x1000

  public init(_ shape: Shape, images count: Int = 5, functions: Int = 24, seed: UInt64 = 1) {
    var random = SplitMix64(seed: seed, area: 41)
    self.shape = shape
    uuid = random.bytes(16)
    partUUID = random.bytes(16)
    linkeditUUID = random.bytes(16)
    symbolsUUID = random.bytes(16)
    var (main, part) = (Self.base + UInt64(Self.headerSize), Self.base + 0x1000_0000 + UInt64(Self.headerSize))
    for number in 0..<count {
      let isInPart = shape != .single && number % 2 == 1
      let address = isInPart ? part : main
      var image = Image(
        path: "/usr/lib/libsample\(number).dylib", uuid: random.bytes(16), address: address, functions: [],
        isInPart: isInPart)
      var place = address + 0x400
      for index in 0..<functions {
        let size = UInt64(4 * random.between(2, 12))
        let kind = Kind.allCases[random.between(0, Kind.allCases.count - 1)]
        let name = index % 3 == 0 ? "_ZN\(1 + "\(number)".count)s\(number)5work\(index % 10)Ev" : "f\(number)_\(index)"
        image.functions.append(Function(name: name, kind: kind, address: place, size: size))
        place += size
      }
      images.append(image)
      let next = (place + 0x400 + UInt64(Self.page)) / UInt64(Self.page) * UInt64(Self.page)
      if isInPart { part = next } else { main = next }
    }
  }

  /// The files by their suffixes, the first of which is empty, in the order in which they are opened.
  public var files: [(suffix: String, bytes: [UInt8])] {
    let text = region(isInPart: false)
    let linkedit = linkedit()
    let locals = locals()
    switch shape {
    case .single:
      // Symbols are behind the code in the same file.
      let start = Self.headerSize + text.count
      let link = makeLinkedit(linkedit, fileOffset: start)
      var bytes = header(mappings(text: Self.headerSize + text.count, linkedit: link.count, offset: start))
      bytes += patched(text, false, start) + link
      bytes.overwrite(UInt64(bytes.count), width: 8, at: 72)
      bytes.overwrite(UInt64(locals.count), width: 8, at: 80)
      return [("", bytes + locals)]
    case .numbered, .named:
      let part = region(isInPart: true)
      let main = header([(Self.base, UInt64(Self.headerSize + text.count), 0)]) + patched(text, false, Self.headerSize)
      let partBytes =
        partHeader(partUUID, [(Self.base + 0x1000_0000, UInt64(Self.headerSize + part.count), 0)])
        + patched(part, true, Self.headerSize)
      let link = makeLinkedit(linkedit, fileOffset: Self.headerSize)
      let linkBytes =
        partHeader(
          linkeditUUID, [(Self.linkeditBase - UInt64(Self.headerSize), UInt64(Self.headerSize + link.count), 0)]) + link
      var symbols = partHeader(symbolsUUID, [])
      symbols.overwrite(UInt64(symbols.count), width: 8, at: 72)
      symbols.overwrite(UInt64(locals.count), width: 8, at: 80)
      let suffixes = Self.partSuffixes[shape] ?? []
      return [("", main), (suffixes[0], partBytes), (suffixes[1], linkBytes), (".symbols", symbols + locals)]
    }
  }

  /// One string of bytes for all files: the length of each, and its bytes.
  public var packed: [UInt8] {
    files.flatMap { Bytes.of(UInt32($0.bytes.count)) + $0.bytes }
  }

  // MARK: Headers

  private static let linkeditBase = base + 0x2000_0000
  private typealias Mapping = (address: UInt64, size: UInt64, offset: UInt64)

  private var headerLength: Int {
    switch shape {
    case .single: 0x140
    case .numbered: 0x1c8
    case .named: 0x210
    }
  }

  private func mappings(text: Int, linkedit: Int, offset: Int) -> [Mapping] {
    [(Self.base, UInt64(text), 0), (Self.linkeditBase, UInt64(linkedit), UInt64(offset))]
  }

  private func partHeader(_ uuid: [UInt8], _ mappings: [Mapping]) -> [UInt8] {
    var bytes = Array("dyld_v1  arm64e\0".utf8) + [UInt8](repeating: 0, count: Self.headerSize - 16)
    bytes.overwrite(UInt64(headerLength), width: 4, at: 16)
    bytes.overwrite(UInt64(mappings.count), width: 4, at: 20)
    bytes.replaceSubrange(88..<104, with: uuid)
    bytes.overwrite(2, width: 4, at: 216)
    for (index, mapping) in mappings.enumerated() {
      let place = headerLength + 32 * index
      bytes.overwrite(mapping.address, width: 8, at: place)
      bytes.overwrite(mapping.size, width: 8, at: place + 8)
      bytes.overwrite(mapping.offset, width: 8, at: place + 16)
    }
    return bytes
  }

  private func header(_ mappings: [Mapping]) -> [UInt8] {
    var bytes = partHeader(uuid, mappings)
    // The size of all that is mapped, which only the first file has
    bytes.overwrite(0x4000_0000, width: 8, at: 232)
    var place = headerLength + 32 * mappings.count
    bytes.overwrite(UInt64(place), width: 8, at: 136)
    bytes.overwrite(UInt64(images.count), width: 8, at: 144)
    var paths = place + 32 * images.count + 2 * 56
    for image in images {
      bytes.replaceSubrange(place..<place + 16, with: image.uuid)
      bytes.overwrite(image.address, width: 8, at: place + 16)
      bytes.overwrite(UInt64(Self.page), width: 4, at: place + 24)
      bytes.overwrite(UInt64(paths), width: 4, at: place + 28)
      bytes.replaceSubrange(paths..<paths + image.path.utf8.count, with: Array(image.path.utf8))
      paths += image.path.utf8.count + 1
      place += 32
    }
    if shape != .single { writeParts(&bytes, at: place) }
    return bytes
  }

  private func writeParts(_ bytes: inout [UInt8], at start: Int) {
    let suffixes = Self.partSuffixes[shape] ?? []
    let size = shape == .named ? 56 : 24
    bytes.overwrite(UInt64(start), width: 4, at: 392)
    bytes.overwrite(UInt64(suffixes.count), width: 4, at: 396)
    for (index, uuid) in [partUUID, linkeditUUID].enumerated() {
      let place = start + index * size
      bytes.replaceSubrange(place..<place + 16, with: uuid)
      bytes.overwrite(UInt64(index + 1) * 0x1000_0000, width: 8, at: place + 16)
      let suffix = Array(suffixes[index].utf8)
      if shape == .named { bytes.replaceSubrange(place + 24..<place + 24 + suffix.count, with: suffix) }
    }
    bytes.replaceSubrange(400..<416, with: symbolsUUID)
  }

  // MARK: Tables

  private struct Table {
    var entries: [UInt8] = []
    var count = 0
    var starts: [UInt8] = []
    var trie: [UInt8] = []
  }

  private struct Linkedit {
    var tables: [Table] = []
    var strings = Array("\0<redacted>\0".utf8)

    func offset(_ index: Int) -> Int {
      tables[..<index].reduce(0) { $0 + $1.entries.count + $1.starts.count + $1.trie.count }
    }
  }

  /// The symbol tables, function starts and tries of all images, and the names that they share.
  private func linkedit() -> Linkedit {
    var result = Linkedit()
    for image in images {
      var table = Table()
      // The symbol of the header, a debugging entry, and an undefined symbol come with all libraries.
      add("__mh_dylib_header", 0x0f, 1, image.address, &table, &result.strings)
      add("_malloc", 0x01, 0, 0, &table, &result.strings)
      for function in image.functions {
        switch function.kind {
        case .exported: add("_" + function.name, 0x0f, 1, function.address, &table, &result.strings)
        case .kept: add("_" + function.name, 0x0e, 1, function.address, &table, &result.strings)
        case .local, .unnamed: add("<redacted>", 0x0e, 1, function.address, &table, &result.strings)
        case .inTrie: break
        }
      }
      var last = image.address
      for function in image.functions {
        table.starts += uleb(function.address - last)
        last = function.address
      }
      table.starts += [0]
      table.starts.appendZeros((8 - table.starts.count % 8) % 8)
      table.trie = trie(image)
      result.tables.append(table)
    }
    return result
  }

  private func add(
    _ name: String, _ type: UInt8, _ section: UInt8, _ address: UInt64, _ table: inout Table, _ strings: inout [UInt8]
  ) {
    table.entries.append(little: UInt32(name == "<redacted>" ? 1 : strings.count))
    table.entries += [type, section, 0, 0]
    table.entries.append(little: address)
    table.count += 1
    if name != "<redacted>" { strings += Array(name.utf8) + [0] }
  }

  private func uleb(_ value: UInt64) -> [UInt8] {
    var (rest, bytes) = (value, [UInt8]())
    repeat {
      bytes.append(UInt8(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
    return bytes
  }

  /// Four bytes, whatever the number.
  private func wideUleb(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(value >> (7 * $0) & 0x7f) | ($0 < 3 ? 0x80 : 0) }
  }

  /// A root, a node for the underscore of all names, and a node for each name.
  private func trie(_ image: Image) -> [UInt8] {
    let names = image.functions.filter { [.exported, .inTrie].contains($0.kind) }
    let root: [UInt8] = [0, 1, 0x5f, 0, 5]
    let nodeSize = 2 + names.reduce(0) { $0 + $1.name.utf8.count + 1 + 4 }
    var (middle, leaves) = ([0, UInt8(names.count)], [UInt8]())
    for function in names {
      middle += Array(function.name.utf8) + [0] + wideUleb(5 + nodeSize + leaves.count)
      let place = uleb(function.address - image.address)
      leaves += [UInt8(1 + place.count), 0] + place + [0]
    }
    let bytes = root + middle + leaves
    return bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
  }

  private func makeLinkedit(_ linkedit: Linkedit, fileOffset: Int) -> [UInt8] {
    linkedit.tables.flatMap { $0.entries + $0.starts + $0.trie } + linkedit.strings
  }

  /// The local symbols of all images.
  private func locals() -> [UInt8] {
    var (strings, entries, list): ([UInt8], [UInt8], [UInt8]) = ([0], [], [])
    var count = 0
    for image in images {
      let first = count
      for function in image.functions where function.kind == .local {
        entries.append(little: UInt32(strings.count))
        entries += [0x0e, 1, 0, 0]
        entries.append(little: function.address)
        strings += Array("_\(function.name)".utf8) + [0]
        count += 1
      }
      if shape == .single {
        list.append(little: UInt32(image.address - Self.base))
      } else {
        list.append(little: image.address - Self.base)
      }
      list.append(little: UInt32(first))
      list.append(little: UInt32(count - first))
    }
    var bytes: [UInt8] = []
    let place = 24 + list.count
    for value in [place, count, place + entries.count, strings.count, 24, images.count] {
      bytes.append(little: UInt32(value))
    }
    return bytes + list + entries + strings
  }

  // MARK: Images

  /// The code of a file, without its header.
  private func region(isInPart: Bool) -> [UInt8] {
    let start = Self.base + (isInPart ? 0x1000_0000 : 0) + UInt64(Self.headerSize)
    let own = images.filter { $0.isInPart == isInPart }
    guard let last = own.last?.functions.last else { return [] }
    let end = (last.address + last.size + 0x400 + UInt64(Self.page)) / UInt64(Self.page) * UInt64(Self.page)
    var bytes = [UInt8](repeating: 0, count: Int(end - start))
    for image in own {
      for (index, function) in image.functions.enumerated() {
        for word in stride(from: function.address, to: function.address + function.size, by: 4) {
          bytes.overwrite(0xd503_2000 | UInt64(index), width: 4, at: Int(word - start))
        }
      }
    }
    return bytes
  }

  /// Writes the load commands of the images.
  private func patched(_ region: [UInt8], _ isInPart: Bool, _ linkeditOffset: Int) -> [UInt8] {
    var bytes = region
    let start = Self.base + (isInPart ? 0x1000_0000 : 0) + UInt64(Self.headerSize)
    let linkedit = linkedit()
    for (index, image) in images.enumerated() where image.isInPart == isInPart {
      let head = head(image, index, linkedit, linkeditOffset)
      precondition(head.count <= 0x400)
      let place = Int(image.address - start)
      bytes.replaceSubrange(place..<place + head.count, with: head)
    }
    return bytes
  }

  private func name(_ text: String) -> [UInt8] {
    Array(text.utf8) + [UInt8](repeating: 0, count: 16 - text.utf8.count)
  }

  private func head(_ image: Image, _ index: Int, _ linkedit: Linkedit, _ fileOffset: Int) -> [UInt8] {
    let table = linkedit.tables[index]
    let total = linkedit.offset(linkedit.tables.count)
    let entries = fileOffset + linkedit.offset(index)
    var commands = [
      segment("__TEXT", image.address, textSize(image), image.address - Self.base, [section(image)]),
      segment("__LINKEDIT", Self.linkeditBase, UInt64(total + linkedit.strings.count), UInt64(fileOffset), []),
      command(0x1b, image.uuid),
      // LC_BUILD_VERSION: iOS 17.0
      command(0x32, [2, 0, 0, 0, 0, 0, 17, 0, 0, 0, 17, 0, 0, 0, 0, 0]),
      command(
        0x0d, [24, 0, 0, 0] + [UInt8](repeating: 1, count: 12) + Array(image.path.utf8) + [0]),
    ]
    commands.append(command(0x02, words([entries, table.count, fileOffset + total, linkedit.strings.count])))
    let starts = entries + table.entries.count
    commands.append(command(0x26, words([starts, table.starts.count])))
    commands.append(command(0x8000_0033, words([starts + table.starts.count, table.trie.count])))
    let body = commands.flatMap { $0 }
    return words([0xfeed_facf, 0x0100_000c, 0x8000_0002, 6, commands.count, body.count, 0, 0]) + body
  }

  private func words(_ values: [Int]) -> [UInt8] { values.flatMap { Bytes.of(UInt32(truncatingIfNeeded: $0)) } }

  private func textSize(_ image: Image) -> UInt64 {
    (image.functions.last.map { $0.address + $0.size } ?? image.address) - image.address
  }

  private func section(_ image: Image) -> [UInt8] {
    var bytes = name("__text") + name("__TEXT")
    bytes.append(little: image.address + 0x400)
    bytes.append(little: textSize(image) - 0x400)
    return bytes + words([Int(image.address - Self.base) + 0x400, 2, 0, 0, 0x8000_0400, 0, 0, 0])
  }

  private func segment(
    _ text: String, _ address: UInt64, _ size: UInt64, _ offset: UInt64, _ sections: [[UInt8]]
  ) -> [UInt8] {
    var body = name(text)
    for value in [address, size, offset, size] { body.append(little: value) }
    return command(0x19, body + words([5, 5, sections.count, 0]) + sections.flatMap { $0 })
  }

  private func command(_ number: UInt32, _ body: [UInt8]) -> [UInt8] {
    let size = (8 + body.count + 7) / 8 * 8
    return Bytes.of(number) + Bytes.of(UInt32(size)) + body + [UInt8](repeating: 0, count: size - 8 - body.count)
  }
}
