// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// Checks the records of a dump against the key table. Framing is checked when the tree is read.
package struct DumpValidator {
  private let tree: DumpTree
  private var findings: FindingList
  /// The path from the root to the current map. It is converted to text only for a finding.
  private var path: [Step] = []
  /// Whether the dump is from a Linux process, in which some keys are absent.
  private let isLinux: Bool

  private enum Step {
    case key(DumpKey)
    case index(Int)
  }

  /// Returns all findings about `tree`, which was read from `bytes`: the fault that ended the reading, and those in its
  /// records.
  package static func validate(_ tree: DumpTree, in bytes: RawSpan, limits: Limits = Limits()) -> FindingList {
    var validator = DumpValidator(
      tree: tree, findings: FindingList(limit: limits.maximumFindings), isLinux: tree.isOfLinux(in: bytes))
    if let incomplete = tree.incomplete { validator.findings.append(incomplete) }
    if !tree.isEmpty { validator.check(tree.root, bytes) }
    return validator.findings
  }

  private mutating func check(_ map: DumpNode, _ bytes: RawSpan) {
    var seen = KeySet()
    var capture = DumpField()
    var records = tree.records(of: map)
    while let record = records.next(of: tree, in: bytes) {
      if !seen.insert(record.key) { add(DumpRules.duplicateKey, record) }
      if record.key == .threadCapture { capture.record = record }
      guard let descriptor = KeyTable[record.key] else {
        add(DumpRules.unknownKey, record)
        continue
      }
      if !descriptor.containers.contains(map.key) { add(DumpRules.misplacedKey, record) }
      guard checkKind(record, descriptor) else { continue }
      if record.kind == .property {
        checkValue(record, descriptor, bytes)
        continue
      }
      path.append(.key(record.key))
      if record.kind == .map { check(record.node, bytes) } else { checkElements(of: record.node, bytes) }
      path.removeLast()
    }
    checkPresence(map, seen, hasStates: capture.uint32(in: bytes).map { $0 < Self.withoutStates } ?? true)
  }

  private mutating func checkElements(of array: DumpNode, _ bytes: RawSpan) {
    var elements = tree.records(of: array)
    var index = 0
    while let element = elements.next(of: tree, in: bytes) {
      path.append(.index(index))
      check(element.node, bytes)
      path.removeLast()
      index += 1
    }
  }

  private mutating func checkKind(_ record: DumpRecord, _ descriptor: KeyDescriptor) -> Bool {
    let expected: DumpRecord.Kind
    switch descriptor.shape {
    case .map: expected = .map
    case .array: expected = .array
    default: expected = .property
    }
    if record.kind == expected { return true }
    add(
      DumpRules.wrongKind, record, expected: .text(Self.name(of: expected)),
      found: .text(Self.name(of: record.kind)))
    return false
  }

  private static func name(of kind: DumpRecord.Kind) -> String {
    switch kind {
    case .property: "a property"
    case .map: "a map"
    case .array: "an array"
    }
  }

  private mutating func checkValue(_ record: DumpRecord, _ descriptor: KeyDescriptor, _ bytes: RawSpan) {
    let count = record.value.count
    if let sizes = descriptor.sizes, !sizes.contains(count) {
      let expected: Finding.Value =
        sizes.count == 1
        ? .byteCount(UInt64(sizes[0])) : .text(sizes.map { String($0) }.joined(separator: " or ") + " bytes")
      add(DumpRules.wrongSize, record, expected: expected, found: .byteCount(UInt64(count)))
      return
    }
    if descriptor.shape == .words, count % 8 != 0 {
      add(DumpRules.wrongSize, record, expected: .text("a multiple of 8 bytes"), found: .byteCount(UInt64(count)))
    }
    if descriptor.shape == .boolean, bytes.uint8(at: record.value.offset) > 1 {
      add(DumpRules.badBoolean, record, found: .number(UInt64(bytes.uint8(at: record.value.offset))))
    }
    if record.key == .version, bytes.uint8(at: record.value.offset) != 1 {
      add(
        DumpRules.badVersion, record, expected: .number(1),
        found: .number(UInt64(bytes.uint8(at: record.value.offset))))
    }
  }

  private mutating func checkPresence(_ map: DumpNode, _ seen: KeySet, hasStates: Bool) {
    // In maps that were open when reading stopped, missing keys are not reported.
    if tree.incomplete != nil, map.contentEnd == tree.root.contentEnd, tree.incomplete?.rule != DumpRules.trailingBytes
    {
      return
    }
    let hasStates = hasStates && !seen.contains(.threadUncaughtNSExceptionFrames)
    for descriptor in Self.neededKeys[map.key] ?? [] where !seen.contains(descriptor.key) {
      if !hasStates, case .state = descriptor.shape { continue }
      if isLinux, Self.absentOnLinux.contains(descriptor.key) { continue }
      let isRequired = descriptor.presence == .required && map.key != .threads
      let rule = isRequired ? DumpRules.missingRequired : DumpRules.missingExpected
      findings.append(
        findings.hasRoom(for: rule) ? Finding(rule, at: map.start, path: pathText(descriptor.key)) : Finding(rule))
    }
  }

  /// The lowest value of kThreadCapture for which a thread may have no states.
  private static let withoutStates: UInt32 = 4

  /// Keys that are expected from Crashpad's handler but may be absent on Linux: a module without a build id has no
  /// kUUID; only arm64 has an address mask; debug registers can't be read from within the process; CPU times are known
  /// only as the sum over live and finished threads.
  private static let absentOnLinux: Set<DumpKey> = [.uuid, .addressMask, .debugState, .taskBasicInfo, .taskThreadTimes]

  private static let neededKeys: [DumpKey: [KeyDescriptor]] = {
    var keys: [DumpKey: [KeyDescriptor]] = [:]
    for descriptor in KeyTable.all where descriptor.presence != .optional {
      for container in descriptor.containers { keys[container, default: []].append(descriptor) }
    }
    return keys
  }()

  private mutating func add(
    _ rule: Rule, _ record: DumpRecord, expected: Finding.Value? = nil, found: Finding.Value? = nil
  ) {
    findings.append(
      findings.hasRoom(for: rule)
        ? Finding(rule, at: record.offset, path: pathText(record.key), expected: expected, found: found) : Finding(rule)
    )
  }

  private func pathText(_ key: DumpKey) -> String {
    var text = DumpPath()
    for step in path {
      switch step {
      case .key(let key): text.append(key)
      case .index(let index): text.append(index: index)
      }
    }
    text.append(key)
    return text.text
  }
}

/// The set of keys of one map. Most maps have few.
private struct KeySet {
  private var few: [UInt16] = []
  private var many: Set<UInt16> = []

  func contains(_ key: DumpKey) -> Bool {
    many.isEmpty ? few.contains(key.rawValue) : many.contains(key.rawValue)
  }

  /// Returns false if the key was present.
  mutating func insert(_ key: DumpKey) -> Bool {
    if !many.isEmpty { return many.insert(key.rawValue).inserted }
    if few.contains(key.rawValue) { return false }
    few.append(key.rawValue)
    if few.count == 48 { many = Set(few) }
    return true
  }
}
