// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMinidump
internal import CrashpadSnapshot

/// The stream of Crashpad itself, with ids and annotations.
extension MinidumpRedactor {
  mutating func claimCrashpadInfo(_ range: ByteRange, _ bytes: RawSpan) {
    let offset = range.offset
    guard range.count >= 52, bytes.uint32(at: offset) == 1, isList(at: offset + 36, size: 8, bytes),
      isList(at: offset + 44, size: 12, bytes)
    else { return }
    // Version, ids and two locations; the address mask is a later addition.
    claims.copy(offset, 52)
    if range.count >= MinidumpFormat.crashpadInfoSize { claims.copy(offset + 56, 8) }
    claimAnnotations(at: offset + 36, size: 8, bytes)
    guard let modules = place(at: offset + 44, bytes), knownPlaces.insert(modules.offset).inserted else { return }
    for entry in claimEntries(of: modules, at: offset + 44, size: 12, bytes) ?? [] {
      claims.copy(entry, 12)
      guard let info = place(at: entry + 4, bytes), info.count >= MinidumpFormat.oldModuleCrashpadInfoSize,
        knownPlaces.insert(info.offset).inserted
      else { continue }
      let hasObjects = info.count >= MinidumpFormat.moduleCrashpadInfoSize
      let size = hasObjects ? MinidumpFormat.moduleCrashpadInfoSize : MinidumpFormat.oldModuleCrashpadInfoSize
      claims.copy(info.offset, size)
      claimMessages(at: info.offset + 4, bytes)
      claimAnnotations(at: info.offset + 12, size: 8, bytes)
      if hasObjects { claimAnnotations(at: info.offset + 20, size: 12, bytes) }
    }
  }

  /// Whether the list at the location in `field` lies in the file and fits its size, or the location is empty.
  private func isList(at field: Int, size: Int, _ bytes: RawSpan) -> Bool {
    guard bytes.uint32(at: field) > 0 else { return true }
    guard let range = place(at: field, bytes), range.count >= 4 else { return false }
    return 4 + size * Int(bytes.uint32(at: range.offset)) <= range.count
  }

  /// The range of the list at the location in `field`; nil if it is claimed already.
  private mutating func list(at field: Int, _ bytes: RawSpan) -> ByteRange? {
    guard let range = place(at: field, bytes), knownPlaces.insert(range.offset).inserted else { return nil }
    return range
  }

  /// The entries of the list at the location in `field`. If the list exceeds the budget, the list and
  /// its location are removed: nil.
  private mutating func claimEntries(of range: ByteRange, at field: Int, size: Int, _ bytes: RawSpan) -> [Int]? {
    guard range.count >= 4 else { return [] }
    let count = min(Int(bytes.uint32(at: range.offset)), (range.count - 4) / size)
    guard look(at: count + 1), !claims.isExhausted else {
      claims.claim(ByteRange(offset: field, count: 8), .blank)
      claims.claim(range, .removed)
      removals.add(.unread, byteCount: 4 + size * count)
      return nil
    }
    return entries(of: range, size: size, bytes)
  }

  /// Claims the entries that stay. If some are removed, the size in the location at `field` shrinks.
  private mutating func finish(
    _ range: ByteRange, at field: Int, _ offsets: [Int], _ kept: [Int], size: Int, _ bytes: RawSpan
  ) {
    claimList(range, header: 4, offsets, kept, size: size, bytes)
    if kept.count < offsets.count { claims.make(littleEndian(UInt32(4 + size * kept.count)), at: field) }
  }

  private mutating func claimMessages(at field: Int, _ bytes: RawSpan) {
    guard let range = list(at: field, bytes) else { return }
    let name = Array(RedactionPolicy.messageName.utf8)
    let stays = policy.keeps(annotation: name)
    guard let offsets = claimEntries(of: range, at: field, size: 4, bytes) else { return }
    for entry in offsets {
      let rva = Int(bytes.uint32(at: entry))
      if stays { claimString(at: rva, RedactionPolicy.messageName, bytes) } else { remove(name, valueAt: rva, bytes) }
    }
    finish(range, at: field, offsets, stays ? offsets : [], size: 4, bytes)
  }

  /// Counts an annotation as removed, and ensures that no other claim keeps its value.
  private mutating func remove(_ name: [UInt8], valueAt rva: Int, _ bytes: RawSpan) {
    guard let value = byteArray(at: rva, bytes) else { return }
    removals.add(.annotation, name: name, byteCount: value.count)
    claims.claim(ByteRange(offset: rva, count: 4 + value.count), .removed)
  }

  /// The name at `rva`; nil if it is too long to check against the policy. If the budget is spent, also nil, and
  /// the value at `value` is removed.
  private mutating func name(at rva: Int, of value: ByteRange, _ bytes: RawSpan) -> [UInt8]? {
    guard let range = byteArray(at: rva, bytes), range.count <= 4096 else { return nil }
    guard spend(range) else {
      claims.claim(value, .removed)
      return nil
    }
    return bytes.array(in: range)
  }

  /// Claims a dictionary, whose entries have 8 bytes, or a list of typed annotations, with 12: the place of the name,
  /// the type of a typed annotation, and the place of the value.
  private mutating func claimAnnotations(at field: Int, size: Int, _ bytes: RawSpan) {
    guard let range = list(at: field, bytes) else { return }
    var kept: [Int] = []
    guard let offsets = claimEntries(of: range, at: field, size: size, bytes) else { return }
    for entry in offsets {
      let nameRVA = Int(bytes.uint32(at: entry))
      let valueRVA = Int(bytes.uint32(at: entry + size - 4))
      guard let value = byteArray(at: valueRVA, bytes), let name = name(at: nameRVA, of: value, bytes) else { continue }
      guard policy.keeps(annotation: name) else {
        remove(name, valueAt: valueRVA, bytes)
        continue
      }
      kept.append(entry)
      claimString(at: nameRVA, "annotation names", bytes)
      let kind = size == 8 ? .simple : AnnotationKind(objectType: bytes.uint16(at: entry + 4))
      switch policy.value(of: kind, named: name) {
      case .text: claimString(at: valueRVA, "annotations", bytes, KeyedValues.place(named: name))
      case .asterisks:
        guard knownStrings.insert(valueRVA).inserted else { break }
        claims.copy(valueRVA, 4)
        claim(TextRedactor.Piece(range: value, isHidden: true), "annotations", bytes)
        if value.end < self.size { claims.hold(ByteRange(offset: value.end, count: 1)) }
      case .whole: claims.copy(valueRVA, 4 + value.count)
      case .zeros:
        claims.copy(valueRVA, 4)
        claims.claim(value, .blank)
        if knownStrings.insert(valueRVA).inserted, !spend(value) || bytes.nonzeroCount(in: value) > 0 {
          removals.add(.value, name: name, byteCount: value.count)
        }
      }
    }
    finish(range, at: field, offsets, kept, size: size, bytes)
  }
}
