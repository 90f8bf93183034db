// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// The id of one build of a module, in Breakpad's form: the UUID of a Mach-O file, the first 16 bytes of an ELF file's
/// build id, or the GUID and age of a PDB.
package struct DebugID: Sendable, Hashable {
  package let uuid: UUIDBytes
  package let age: UInt32
  /// Whether it is that of a PDB in the format 2.00, which has a time in place of a GUID. The time is the first part of the UUID.
  package let isOfOldPDB: Bool

  package init(uuid: UUIDBytes, age: UInt32 = 0) {
    self.uuid = uuid
    self.age = age
    isOfOldPDB = false
  }

  /// The id of a PDB in the format 2.00.
  package init(oldPDB time: UInt32, age: UInt32) {
    uuid = UUIDBytes(high: UInt64(time) << 32, low: 0)
    self.age = age
    isOfOldPDB = true
  }

  /// Parses that id in a MODULE record: eight hexadecimal digits of the time, and the age.
  package init?(oldPDBText text: String) {
    guard text.utf8.count > 8, text.utf8.count <= 16, let time = UInt32(text.prefix(8), radix: 16),
      let age = UInt32(text.dropFirst(8), radix: 16)
    else { return nil }
    self.init(oldPDB: time, age: age)
  }

  /// The id of an ELF file; nil if the build id is empty. The bytes are read as a GUID, whose first three parts are
  /// little-endian.
  package init?(buildID: [UInt8]) {
    guard !buildID.isEmpty else { return nil }
    let bytes = (0..<16).map { $0 < buildID.count ? buildID[$0] : 0 }
    let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15]
    var halves: [UInt64] = [0, 0]
    for (index, place) in order.enumerated() { halves[index / 8] = halves[index / 8] << 8 | UInt64(bytes[place]) }
    self.init(uuid: UUIDBytes(high: halves[0], low: halves[1]))
  }

  /// Whether two ids of a PDB are of one link. The age of a PDB is at least 1; writers that do not know it leave 0.
  package func isOfSameLink(as other: DebugID) -> Bool {
    uuid == other.uuid && isOfOldPDB == other.isOfOldPDB && (age == other.age || age == 0 || other.age == 0)
  }

  /// Parses the form in MODULE records and the folders of symbol stores: 32 hexadecimal digits and the age without
  /// leading zeros. Some writers leave out the age, which is 0 for all but Windows, or write hyphens between the digits.
  package init?(text: String) {
    let digits = text.utf8.contains(UInt8(ascii: "-")) ? text.filter { $0 != "-" } : text
    guard digits.utf8.count >= 32, digits.utf8.count <= 40, let uuid = UUIDBytes(text: String(digits.prefix(32)))
    else { return nil }
    let rest = digits.dropFirst(32)
    guard let age = rest.isEmpty ? 0 : UInt32(rest, radix: 16) else { return nil }
    self.init(uuid: uuid, age: age)
  }

  package var text: String {
    if isOfOldPDB {
      return (hexadecimal(uuid.high >> 32, width: 8) + String(age, radix: 16)).uppercased()
    }
    return hexadecimal(uuid.high, width: 16).uppercased() + hexadecimal(uuid.low, width: 16).uppercased()
      + String(age, radix: 16).uppercased()
  }
}

/// The id of one build of a program or library of Windows: the linker's time and the size in memory.
package struct WindowsCodeID: Sendable, Hashable {
  /// Eight upper-case hexadecimal digits of the time, and those of the size.
  package let text: String

  /// Nil without a time or a size: writers that do not know them leave zeros.
  package init?(timestamp: UInt32, size: UInt64) {
    guard timestamp != 0, size != 0 else { return nil }
    text = (hexadecimal(UInt64(timestamp), width: 8) + hexadecimal(size)).uppercased()
  }

  /// Parses the form in INFO CODE_ID records; nil for the ids of other systems.
  package init?(text: String) {
    guard text.utf8.count > 8, let time = UInt32(text.prefix(8), radix: 16),
      let size = UInt32(text.dropFirst(8), radix: 16)
    else { return nil }
    self.init(timestamp: time, size: UInt64(size))
  }
}

/// The data to identify a module for a symbol search.
package struct ModuleIdentity: Sendable, Hashable {
  /// The path from which the module was loaded; may be empty.
  package let path: String
  package let debugID: DebugID?
  /// NT_GNU_BUILD_ID of an ELF module if the dump has all of it; otherwise empty.
  package let buildID: [UInt8]
  /// The name for the search of debug information, which is the file's name.
  package let debugName: String
  /// Whether the module may be from this machine, so that its path is searched here too.
  package let mayBeLocal: Bool
  /// Whether the module is one of Windows: each link raises the age of its PDB, whose GUID may remain.
  package let isOfWindows: Bool
  /// The code id of a module of Windows; nil if the dump does not have it.
  package let codeID: WindowsCodeID?

  package init(
    path: String, debugName: String? = nil, debugID: DebugID?, buildID: [UInt8] = [], mayBeLocal: Bool = true,
    isOfWindows: Bool = false, codeID: WindowsCodeID? = nil
  ) {
    (self.isOfWindows, self.codeID) = (isOfWindows, codeID)
    self.path = path
    self.mayBeLocal = mayBeLocal
    self.debugID = debugID
    self.buildID = buildID
    self.debugName = lastPathComponent(debugName ?? path)
  }

  /// Why no file can have the module's symbols; nil if one may.
  package var symbolObstacle: SymbolObstacle? {
    if Self.isOfKernel(debugName) { return .kernel }
    return debugID == nil && buildID.isEmpty ? .noID : nil
  }

  /// Whether a module of Linux with this name, without directories, is code that the kernel maps into each process.
  package static func isOfKernel(_ name: String) -> Bool { kernelNames.contains(name) }

  /// The names that readers of processes, and Breakpad's writers, give the page of code that the kernel maps.
  private static let kernelNames = [
    "linux-gate.so", "linux-gate.so.1", "linux-vdso.so.1", "linux-vdso32.so.1", "linux-vdso64.so.1", "[vdso]",
  ]
}

/// A reason for which no file can have a module's symbols.
package enum SymbolObstacle: Sendable {
  /// The kernel maps its code, which is in no file.
  case kernel
  /// Without an id, no file can be recognized as the module's.
  case noID
}

/// Converts bytes to lower-case hexadecimal digits, two per byte.
package func hexadecimalDigits(_ bytes: [UInt8]) -> String {
  bytes.map { hexadecimal(UInt64($0), width: 2) }.joined()
}

/// The path of a build in a folder with the files of many: `.build-id/ab/cdef…`. Nil if the id is too short.
func buildIDPath(_ id: [UInt8]) -> String? {
  guard id.count > 1 else { return nil }
  let digits = hexadecimalDigits(id)
  return ".build-id/\(digits.prefix(2))/\(digits.dropFirst(2))"
}

/// The path of a symbol file in Breakpad's store: `NAME/ID/NAME.sym`, without the extension `.pdb`.
package func breakpadPath(_ name: String, _ id: String) -> String {
  "\(name)/\(id)/\(breakpadFileName(name))"
}

/// The name of the symbol file of a module: without the extension of a PDB.
package func breakpadFileName(_ name: String) -> String {
  (name.hasSuffix(".pdb") ? String(name.dropLast(4)) : name) + ".sym"
}
