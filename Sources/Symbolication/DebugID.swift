package import Snapshot

/// The number that tells one build of a module from all others, as Breakpad writes it: of a Mach-O file its UUID, of an ELF
/// file the first 16 bytes of its build id, of a PDB its GUID with the age.
package struct DebugID: Sendable, Hashable {
  package let uuid: UUIDBytes
  package let age: UInt32

  package init(uuid: UUIDBytes, age: UInt32 = 0) {
    self.uuid = uuid
    self.age = age
  }

  /// Of an ELF file; nil if it has no build id. The bytes are taken for a GUID, whose first three parts are little endian.
  package init?(buildID: [UInt8]) {
    guard !buildID.isEmpty else { return nil }
    let bytes = (0..<16).map { $0 < buildID.count ? buildID[$0] : 0 }
    let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15]
    var halves: [UInt64] = [0, 0]
    for (index, place) in order.enumerated() { halves[index / 8] = halves[index / 8] << 8 | UInt64(bytes[place]) }
    self.init(uuid: UUIDBytes(high: halves[0], low: halves[1]))
  }

  /// As in MODULE records and in the folders of symbol stores: 32 upper-case digits and the age without zeros in front.
  package init?(text: String) {
    guard text.utf8.count > 32, text.utf8.count <= 40, let age = UInt32(text.dropFirst(32), radix: 16),
      let uuid = UUIDBytes(text: String(text.prefix(32)))
    else { return nil }
    self.init(uuid: uuid, age: age)
  }

  package var text: String {
    hexadecimal(uuid.high, width: 16).uppercased() + hexadecimal(uuid.low, width: 16).uppercased()
      + String(age, radix: 16).uppercased()
  }
}

/// What is known of a module that symbols are looked for.
package struct ModuleIdentity: Sendable, Hashable {
  /// The path that it was loaded from; may be empty.
  package let path: String
  package let debugID: DebugID?
  /// NT_GNU_BUILD_ID of an ELF module, if the dump has all of it; else empty.
  package let buildID: [UInt8]
  /// The name under which debug information is looked for: the file's.
  package let debugName: String
  /// Whether it may have been a program of this machine: then its path is looked at here too.
  package let mayBeLocal: Bool

  package init(
    path: String, debugName: String? = nil, debugID: DebugID?, buildID: [UInt8] = [], mayBeLocal: Bool = true
  ) {
    self.path = path
    self.mayBeLocal = mayBeLocal
    self.debugID = debugID
    self.buildID = buildID
    let name = debugName ?? path
    self.debugName = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? name
  }
}

/// Lower-case hexadecimal digits, two for each byte.
package func hexadecimalDigits(_ bytes: [UInt8]) -> String {
  bytes.map { hexadecimal(UInt64($0), width: 2) }.joined()
}
