// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

/// Copies the known and allowed records of an intermediate dump one by one. Records have lengths and no offsets,
/// so removed records leave no gap.
struct DumpRedactor {
  let policy: RedactionPolicy
  let text: TextRedactor
  let tree: DumpTree
  var facts: DumpFacts
  var plan: RedactionPlan
  var removals = RemovalCounter()

  static func plan(
    _ bytes: RawSpan, _ policy: RedactionPolicy, _ collector: UserNameCollector
  ) -> RedactionPlan {
    var redactor = DumpRedactor(bytes, policy, collector)
    redactor.emitRoot(bytes)
    var plan = redactor.plan
    plan.countWords(bytes, &redactor.removals)
    plan.report.removals = redactor.removals.sorted
    plan.report.outputByteCount = plan.byteCount
    return plan
  }

  private init(_ bytes: RawSpan, _ policy: RedactionPolicy, _ collector: UserNameCollector) {
    self.policy = policy
    text = TextRedactor(policy: policy, collector: collector)
    tree = DumpTree(parsing: bytes)
    facts = DumpFacts(tree, bytes)
    var rule = PointerRule(
      facts.architecture, code: facts.modules + facts.listed.executable, stacks: facts.stacks,
      addressMask: facts.addressMask,
      keepsSmallNumbers: policy.keepsSmallNumbers)
    rule.keepFaults(ofRecordsAt: facts.signalRecords, facts.listed)
    plan = RedactionPlan(RedactionReport(.intermediateDump, inputByteCount: bytes.byteCount), rule)
  }

  // MARK: Structure

  private mutating func emitRoot(_ bytes: RawSpan) {
    plan.append(.copy(ByteRange(offset: 0, count: 1)))
    emitRecords(of: tree.root, bytes)
    // If the dump is truncated, so is its copy. Bytes after the end also make a dump incomplete,
    // so the copy gets one such byte.
    if tree.stopOffset == tree.root.contentEnd + 1 {
      plan.append(.copy(ByteRange(offset: tree.root.contentEnd, count: 1)))
      if tree.incomplete != nil { plan.append(.zeros(1)) }
    }
    let rest = bytes.byteCount - tree.stopOffset
    let isMarked = rest == 1 && tree.incomplete != nil && bytes.uint8(at: tree.stopOffset) == 0
    removals.add(.unread, count: rest > 0 && !isMarked ? 1 : 0, byteCount: rest)
  }

  private mutating func emitRecords(of node: DumpNode, _ bytes: RawSpan) {
    let siblings = node.isArray ? nil : Siblings(node, tree, bytes)
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      if node.isArray {
        if goes(elementOf: node, record, bytes) { continue }
        emit(container: record, in: node, bytes)
        continue
      }
      guard let row = KeyTable[record.key], row.containers.contains(node.key) else {
        removals.add(.key, KeyTable.name(of: record.key), byteCount: record.value.count)
        continue
      }
      switch record.kind {
      case .property: emit(property: record, row, siblings, bytes)
      case .map, .array:
        let isExpected = record.kind == .array ? row.shape == .array : row.shape == .map
        if !isExpected {
          // An empty record still hides an earlier record with the same key.
          removals.add(.key, row.name, byteCount: record.value.count)
          emit(container: record, in: node, isEmptied: true, bytes)
        } else if !goes(row, record, bytes) {
          emit(container: record, in: node, bytes)
        }
      }
    }
  }

  private mutating func emit(
    container record: DumpRecord, in parent: DumpNode, isEmptied: Bool = false, _ bytes: RawSpan
  ) {
    plan.append(.copy(ByteRange(offset: record.offset, count: record.value.offset - record.offset)))
    if !isEmptied { emitRecords(of: record.node, bytes) }
    // A record that was open when reading stopped has no end.
    if record.value.end < parent.contentEnd { plan.append(.copy(ByteRange(offset: record.value.end, count: 1))) }
  }

  // MARK: What goes as a whole

  private mutating func goes(_ row: KeyDescriptor, _ record: DumpRecord, _ bytes: RawSpan) -> Bool {
    switch row.privacy {
    case .memoryRegions:
      if policy.memory != .stacks { return false }
      var count = 0
      var records = tree.records(of: record.node)
      while let region = records.next(of: tree, in: bytes) {
        if facts.stackRegions.contains(region.offset) { return false }
        count += 1
      }
      removals.add(.memory, count: count, byteCount: record.value.count)
      return true
    case .drop:
      removals.add(.key, row.name, byteCount: record.value.count)
      return true
    default: return false
    }
  }

  /// An annotation is removed if any of its names is not allowed: if it has two, readers may use either.
  private mutating func goes(elementOf array: DumpNode, _ record: DumpRecord, _ bytes: RawSpan) -> Bool {
    if array.key == .threadContextMemoryRegions, policy.memory == .stacks {
      if facts.stackRegions.contains(record.offset) { return false }
      removals.add(.memory, byteCount: record.value.count)
      return true
    }
    guard KeyTable[array.key]?.privacy == .annotations else { return false }
    var names: [[UInt8]] = []
    var size = 0
    var records = tree.records(of: record.node)
    while let member = records.next(of: tree, in: bytes) {
      if member.key == .annotationName, member.kind == .property {
        names.append(member.value.count <= 4096 ? bytes.array(in: member.value) : [])
      }
      if member.key == .annotationValue { size += member.value.count }
    }
    if names.isEmpty { names = [[]] }
    guard let refused = names.first(where: { !policy.keeps(annotation: $0) }) else { return false }
    removals.add(.annotation, name: refused, byteCount: size)
    return true
  }
}

/// The members of a map that determine how other members are redacted.
struct Siblings {
  var address: UInt64?
  var annotationKind = AnnotationKind.simple
  var annotationName: [UInt8] = []
  var flavor: UInt32?

  init(_ node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) {
    switch node.key {
    case .threads, .machException, .annotationObjects, .annotationsSimpleMap, .moduleExtraMemoryRegions,
      .moduleIntermediateDumpExtraMemoryRegions,
      .threadContextMemoryRegions:
      break
    default: return
    }
    var address = DumpField()
    var type = DumpField()
    var flavor = DumpField()
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      switch record.key {
      case .stackRegionAddress, .moduleExtraMemoryRegionAddress, .moduleIntermediateDumpExtraMemoryRegionAddress,
        .threadContextMemoryRegionAddress:
        address.record = record
      case .annotationType: type.record = record
      case .flavor: flavor.record = record
      case .annotationName where record.kind == .property && record.value.count <= 4096:
        // If it has two names, readers may use either: one that tells personal data counts.
        let name = bytes.array(in: record.value)
        if KeyedValues.kind(named: annotationName) == nil { annotationName = name }
      default: break
      }
    }
    self.address = address.uint64(in: bytes)
    if node.key == .annotationObjects { annotationKind = AnnotationKind(objectType: type.uint16(in: bytes)) }
    self.flavor = flavor.uint32(in: bytes)
  }
}
