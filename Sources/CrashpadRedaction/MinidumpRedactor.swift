// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMinidump
internal import CrashpadSnapshot

/// Claims the known and allowed parts of a minidump. All structures keep their positions, so that file offsets stay
/// valid; lists shrink if entries are removed.
struct MinidumpRedactor {
  let policy: RedactionPolicy
  let text: TextRedactor
  let snapshot: ProcessSnapshot
  /// The size of the whole file.
  let size: Int
  var claims: Claims
  var removals = RemovalCounter()
  var rule: PointerRule
  /// The memory that is treated as a stack.
  let stacks: StackRanges
  /// The code of modules, of which walks need the bytes: it is as in their files.
  let code: ModuleCode
  /// The offsets of strings that are claimed already.
  var knownStrings: Set<Int> = []
  var knownWideStrings: Set<Int> = []
  /// The offsets of other structures that several entries may share.
  var knownPlaces: Set<Int> = []
  var knownMemory: Set<Int> = []
  /// The number of string bytes that may still be read.
  var textBudget: Int
  /// The number of list entries that may still be read. In an intact file each entry has at least four bytes of its
  /// own. In a damaged file all lists may extend to the end of the file, and reading them all would take forever.
  private var entryBudget: Int
  /// The directory entries that should stay, by stream type.
  private var directory: [MinidumpStreamType: Int] = [:]
  /// The new sizes of streams, by stream type.
  var newSizes: [MinidumpStreamType: Int] = [:]

  static func plan(
    _ bytes: RawSpan, _ policy: RedactionPolicy, _ collector: UserNameCollector
  ) -> RedactionPlan? {
    let result = MinidumpReader.read(bytes)
    guard let snapshot = result.snapshot else { return nil }
    var redactor = MinidumpRedactor(snapshot, policy, collector, size: bytes.byteCount, bytes)
    redactor.claimStreams(result.streams, bytes)
    var plan = RedactionPlan(RedactionReport(.minidump, inputByteCount: bytes.byteCount), redactor.rule)
    var removals = redactor.removals
    redactor.claims.resolve(into: &plan, size: bytes.byteCount) { gap in
      let count = bytes.nonzeroCount(in: gap)
      removals.add(.unread, count: count == 0 ? 0 : 1, byteCount: count)
    }
    guard redactor.isMinidump(plan) else { return nil }
    plan.countWords(bytes, &removals)
    plan.report.removals = removals.sorted
    plan.report.outputByteCount = plan.byteCount
    return plan
  }

  /// Whether at least one directory entry stays, if any should. In a damaged file, a removed stream may overlap the
  /// whole directory. A header without streams would pass for a dump but be useless.
  private func isMinidump(_ plan: RedactionPlan) -> Bool {
    plan.byteCount >= MinidumpFormat.headerSize
      && (directory.isEmpty || directory.values.contains { plan.keeps(ByteRange(offset: $0, count: 12)) })
  }

  private init(
    _ snapshot: ProcessSnapshot, _ policy: RedactionPolicy, _ collector: UserNameCollector, size: Int, _ bytes: RawSpan
  ) {
    self.policy = policy
    self.snapshot = snapshot
    self.size = size
    text = TextRedactor(policy: policy, collector: collector)
    claims = Claims(size: size)
    // The names of annotations are read twice.
    textBudget = 2 * size + 8 << 20
    entryBudget = size / 2
    stacks = StackRanges(snapshot, bytes)
    let listed = ListedRange.all(snapshot, in: bytes)
    code = ModuleCode(snapshot, listed)
    rule = PointerRule(
      snapshot, mapped: listed?.executable ?? [], stacks: stacks.addresses,
      keepsSmallNumbers: policy.keepsSmallNumbers)
    if snapshot.system.architecture == .x86_64 {
      rule.keepFaults(ofRecordsAt: stacks.signalRecords(bytes), listed ?? [])
    }
  }

  /// Takes entries off the budget. Returns false if it is spent; then all later calls fail too.
  mutating func look(at count: Int) -> Bool {
    entryBudget -= count
    return entryBudget >= 0
  }

  // MARK: Streams

  private mutating func claimStreams(_ streams: [MinidumpReader.Stream], _ bytes: RawSpan) {
    var first: [MinidumpStreamType: ByteRange] = [:]
    for stream in streams where first[stream.type] == nil { first[stream.type] = stream.range }
    // The header comes first, while there is budget for it.
    claimHeader(first, bytes)
    for (type, range) in first.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { claim(type, range, bytes) }
    for region in stacks.ranges where policy.memory != .all { claims.words(region.range, at: region.address) }
    for (type, size) in newSizes {
      if let entry = directory[type] { claims.make(littleEndian(UInt32(size)), at: entry + 4) }
    }
  }

  /// Claims header and directory. The entries of removed streams become unused.
  private mutating func claimHeader(_ first: [MinidumpStreamType: ByteRange], _ bytes: RawSpan) {
    // The checksum is not copied, because no writer sets it.
    claims.claim(ByteRange(offset: 0, count: 16), .header)
    claims.claim(ByteRange(offset: 20, count: 12), .header)
    claims.claim(ByteRange(offset: 16, count: 4), .blank)
    let directory = Int(bytes.uint32(at: 12))
    let count = min(
      Int(bytes.uint32(at: 8)), max(0, size - directory) / MinidumpFormat.directoryEntrySize)
    for index in 0..<count {
      let entry = directory + MinidumpFormat.directoryEntrySize * index
      let type = MinidumpStreamType(rawValue: bytes.uint32(at: entry))
      let place = ByteRange(offset: Int(bytes.uint32(at: entry + 8)), count: Int(bytes.uint32(at: entry + 4)))
      guard !claims.isExhausted else { return }
      if first[type] == place, Self.privacy(of: type) != .drop, self.directory[type] == nil {
        claims.copy(entry, 12)
        self.directory[type] = entry
        continue
      }
      claims.claim(ByteRange(offset: entry, count: MinidumpFormat.directoryEntrySize), .blank)
      if type == .unused { continue }
      removals.add(.stream, type.name, byteCount: place.end <= size ? place.count : 0)
      // If a damaged directory puts two streams in one place, the known stream stays.
      if place.end <= size, first[type] == place, type != .unused { claims.claim(place, .removed) }
    }
  }

  /// A stream that has no row is dropped.
  private static func privacy(of type: MinidumpStreamType) -> MinidumpStreamRow.Privacy {
    MinidumpStreamRow[type]?.privacy ?? .drop
  }

  private mutating func claim(_ type: MinidumpStreamType, _ range: ByteRange, _ bytes: RawSpan) {
    let privacy = Self.privacy(of: type)
    // The bytes that are not claimed below stay in the file as zeros.
    if privacy != .drop { claims.hold(range) }
    switch privacy {
    case .drop: break
    case .systemInfo: claimSystemInfo(range, bytes)
    case .miscInfo: claimMiscInfo(range, bytes)
    case .threads: claimThreads(range, bytes)
    case .threadNames: claimThreadNames(range, bytes)
    case .exception: claimException(range, bytes)
    case .modules: claimModules(range, bytes)
    case .unloadedModules: claimUnloadedModules(range, bytes)
    case .crashpadInfo: claimCrashpadInfo(range, bytes)
    case .memory: claimMemoryList(range, bytes)
    case .memory64: claimMemory64List(range, bytes)
    case .memoryInfo: claimMemoryInfo(range, bytes)
    case .breakpadInfo: claims.copy(range.offset, min(12, range.count))
    case .auxiliaryVector: claimAuxiliaryVector(range, bytes)
    case .processors: claimSystemText(range, .processors, bytes)
    case .processStatus: claimSystemText(range, .status, bytes)
    case .release: claimSystemText(range, .release, bytes)
    case .commandLine: claimSystemText(range, .commandLine, bytes)
    case .environment: claimSystemText(range, .environment, bytes)
    case .maps: claimSystemText(range, .maps, bytes)
    }
  }
}

extension RawSpan {
  /// The number of bytes in `range` that are not zero.
  func nonzeroCount(in range: ByteRange) -> Int {
    var offset = range.offset
    var count = 0
    while offset < range.end {
      if offset + 8 <= range.end, uint64(at: offset) == 0 {
        offset += 8
        continue
      }
      if uint8(at: offset) != 0 { count += 1 }
      offset += 1
    }
    return count
  }
}
