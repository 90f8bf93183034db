// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The numbers of the files and inlined functions to which a symbol file refers.
final class BreakpadNames {
  private(set) var files: [String] = []
  private(set) var origins: [String] = []
  private var fileNumbers: [String: Int] = [:]
  private var originNumbers: [String: Int] = [:]
  /// The numbers of the current unit's files and functions: by its own file numbers, and by the offsets of entries.
  private var unitFiles: [Int?] = []
  private var unitOrigins: [UInt64: Int] = [:]

  private static let maximumUnitFiles: UInt64 = 1 << 20
  /// The name if it is unknown.
  private static let unknown = "??"

  func beginUnit() {
    unitFiles.removeAll(keepingCapacity: true)
    unitOrigins.removeAll(keepingCapacity: true)
  }

  func file(_ number: UInt64, of unit: DwarfUnit) -> Int {
    guard number < Self.maximumUnitFiles else { return file(Self.unknown) }
    let index = Int(number)
    if index < unitFiles.count, let known = unitFiles[index] { return known }
    let new = file(unit.fileName(number).map(SourceLocation.tidied) ?? Self.unknown)
    while unitFiles.count <= index { unitFiles.append(nil) }
    unitFiles[index] = new
    return new
  }

  private func file(_ name: String) -> Int {
    if let known = fileNumbers[name] { return known }
    fileNumbers[name] = files.count
    files.append(name)
    return files.count - 1
  }

  private func origin(_ name: String?) -> Int {
    let name = name ?? Self.unknown
    if let known = originNumbers[name] { return known }
    originNumbers[name] = origins.count
    origins.append(name)
    return origins.count - 1
  }

  /// The number of the function whose entry is at `offset`.
  func origin(at offset: UInt64, _ sections: DwarfSections) -> Int {
    if let known = unitOrigins[offset] { return known }
    let names = sections.names(at: offset)
    let new = origin(names.linkage ?? names.short)
    unitOrigins[offset] = new
    return new
  }
}
