// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads loaded and unloaded modules.
extension MinidumpReader {
  mutating func readModuleList(_ range: ByteRange, _ bytes: RawSpan) {
    let entries = entries(
      of: range, size: MinidumpFormat.moduleSize, price: Price.module, mayBePadded: true, "ModuleList", bytes)
    snapshot.modules.reserveCapacity(entries.count)
    for (index, offset) in entries.enumerated() {
      var module = ModuleSnapshot()
      module.address = bytes.uint64(at: offset)
      module.size = UInt64(bytes.uint32(at: offset + 8))
      module.timestamp = UInt64(bytes.uint32(at: offset + 16))
      module.name = string(
        at: Int(bytes.uint32(at: offset + 20)), field: offset + 20, "ModuleList[\(index)].ModuleNameRva", bytes)
      if bytes.uint32(at: offset + 24) == MinidumpFormat.fixedFileInfoSignature {
        readVersion(&module, at: offset + 24, bytes)
      }
      readCodeView(&module, at: offset + 76, { "ModuleList[\(index)].CvRecord" }, bytes)
      snapshot.modules.append(module)
    }
  }

  /// Reads VS_FIXEDFILEINFO, in which Crashpad stores a Mach-O module's versions.
  private func readVersion(_ module: inout ModuleSnapshot, at offset: Int, _ bytes: RawSpan) {
    switch bytes.uint32(at: offset + 36) {
    case 1: module.fileType = .executable
    case 2: module.fileType = .sharedLibrary
    default: break
    }
    let high = bytes.uint32(at: offset + 8)
    let low = bytes.uint32(at: offset + 12)
    if high != 0 || low != 0, high & 0xff00 == 0 {
      module.dylibVersion = high & 0xffff_0000 | high << 8 & 0xff00 | low >> 16 & 0xff
    }
    let product = UInt64(bytes.uint32(at: offset + 16)) << 32 | UInt64(bytes.uint32(at: offset + 20))
    if product != 0 { module.sourceVersion = product }
  }

  private mutating func readCodeView(
    _ module: inout ModuleSnapshot, at field: Int, _ path: () -> String, _ bytes: RawSpan
  ) {
    if location(at: field, bytes).size == 0 { return }
    guard let range = range(ofLocationAt: field, of: field, minimum: 4, MinidumpRules.codeViewOutside, path, bytes)
    else { return }
    switch bytes.uint32(at: range.offset) {
    case MinidumpFormat.codeViewPDB70 where range.count >= 24:
      let uuid = guid(at: range.offset + 4, bytes)
      if uuid != .zero { module.identity = .uuid(uuid, age: bytes.uint32(at: range.offset + 20)) }
      module.debugName = name(from: range.offset + 24, to: range.end, bytes)
    case MinidumpFormat.codeViewELFBuildID where range.count > 4:
      module.identity = .buildID(SnapshotBytes(inputOffset: range.offset + 4, count: range.count - 4))
    case MinidumpFormat.codeViewPDB20 where range.count >= 16:
      module.debugName = name(from: range.offset + 16, to: range.end, bytes)
    case let kind:
      findings.append(
        Finding(MinidumpRules.unknownCodeView, at: range.offset, path: path(), found: .code(UInt64(kind))))
    }
  }

  /// Returns the bytes up to the first NUL. Records may share bytes, so the search is charged to the string budget.
  private mutating func name(from start: Int, to end: Int, _ bytes: RawSpan) -> SnapshotBytes {
    let reach = min(end, start + max(0, stringBudget))
    let count = bytes.firstZero(in: ByteRange(offset: start, count: reach - start)) - start
    stringBudget -= count
    return SnapshotBytes(inputOffset: start, count: count)
  }

  mutating func readUnloadedModuleList(_ range: ByteRange, _ bytes: RawSpan) {
    let path = "UnloadedModuleList"
    for offset in extendedEntries(
      of: range, minimumSize: 24, countBytes: 4, price: Price.annotation, path, bytes
    ).offsets {
      guard let name = string(at: Int(bytes.uint32(at: offset + 20)), field: offset + 20, path, bytes) else { continue }
      snapshot.unloadedModules.append(
        UnloadedModuleSnapshot(
          name: name, address: bytes.uint64(at: offset), size: bytes.uint32(at: offset + 8),
          timestamp: bytes.uint32(at: offset + 16)))
    }
  }
}
