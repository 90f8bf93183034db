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

  /// Reads VS_FIXEDFILEINFO, whose words mean something else on each system.
  private func readVersion(_ module: inout ModuleSnapshot, at offset: Int, _ bytes: RawSpan) {
    switch bytes.uint32(at: offset + 36) {
    case 1: module.fileType = .executable
    case 2: module.fileType = .sharedLibrary
    default: break
    }
    func word(_ place: Int) -> UInt32 { bytes.uint32(at: offset + place) }
    let (high, low, product) = (word(8), word(12), (high: word(16), low: word(20)))
    switch snapshot.system.operatingSystem {
    case .windows:
      module.fileVersion = ModuleSnapshot.FileVersion(high >> 16, high & 0xffff, low >> 16, low & 0xffff)
    case .ios, .macos:
      // Crashpad stores a Mach-O file's current version, and its source version as that of the product.
      if high & 0xff00 != 0 || low & 0xff00_ffff != 0 {
        // Another writer's: Mach-O has no such numbers.
        module.fileVersion = ModuleSnapshot.FileVersion(high >> 16, high & 0xffff, low >> 16, low & 0xffff)
      } else if high != 0 || low != 0 {
        module.dylibVersion = high & 0xffff_0000 | high << 8 & 0xff00 | low >> 16 & 0xff
      }
      let source = UInt64(product.high) << 32 | UInt64(product.low)
      if source != 0 { module.sourceVersion = source }
    case .linux, .android:
      // Writers in Rust store the numbers of a library's name, each in a word; others leave zeros.
      if high | low | product.high | product.low != 0 {
        module.fileVersion = ModuleSnapshot.FileVersion(high, low, product.high, product.low)
      }
    case .fuchsia, .unknown: break
    }
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
      let id = ByteRange(offset: range.offset + 4, count: range.count - 4)
      // Writers that found no build id leave at most 64 zeros.
      let isZero = id.count <= 64 && bytes.array(in: id).allSatisfy { $0 == 0 }
      if !isZero { module.identity = .buildID(SnapshotBytes(inputOffset: id.offset, count: id.count)) }
    case MinidumpFormat.codeViewPDB20 where range.count >= 16:
      let time = bytes.uint32(at: range.offset + 8)
      if time != 0 { module.oldPDB = ModuleSnapshot.OldPDB(time: time, age: bytes.uint32(at: range.offset + 12)) }
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
