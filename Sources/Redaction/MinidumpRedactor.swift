internal import BinaryFormat
internal import Minidump
internal import Snapshot

/// Claims what is known and allowed of a minidump. All places stay, so that offsets in the file stay true; lists become
/// shorter where entries go.
struct MinidumpRedactor {
  let policy: RedactionPolicy
  let text: TextRedactor
  let snapshot: ProcessSnapshot
  /// Of the whole file.
  let size: Int
  var claims: Claims
  var removals = RemovalCounter()
  var rule: PointerRule
  /// The memory that is treated as a stack.
  let stacks: StackRanges
  /// Strings that were claimed already, by their offsets.
  var knownStrings: Set<Int> = []
  var knownWideStrings: Set<Int> = []
  /// Other places that several entries may share.
  var knownPlaces: Set<Int> = []
  var knownMemory: Set<Int> = []
  /// Bytes of strings that may still be looked at.
  var textBudget: Int
  /// Entries of lists that may still be looked at. In a file that is whole each has four bytes of its own at least; lists of a
  /// damaged one may all run on to its end, and then nobody could wait for the last of them.
  private var entryBudget: Int
  /// The entries of the directory that should stay, by the types of their streams.
  private var directory: [MinidumpStreamType: Int] = [:]
  /// New sizes of streams, by their types.
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

  /// Whether at least one entry of the directory stays, if there are some that should. A damaged directory may have a stream
  /// that goes on top of everything; a header without streams would pass for a dump, and tell nobody anything.
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
    // Names of annotations are looked at twice.
    textBudget = 2 * size + 8 << 20
    entryBudget = size / 2
    stacks = StackRanges(snapshot, bytes)
    rule = PointerRule(
      snapshot.system.architecture,
      modules: snapshot.modules.compactMap { module in
        module.address.flatMap { address in module.size.map { (address, $0) } }
      },
      stacks: stacks.addresses, addressMask: snapshot.system.addressMask, keepsSmallNumbers: policy.keepsSmallNumbers)
  }

  /// Takes entries off the budget. Returns false if there are too many; then there are none for others either.
  mutating func look(at count: Int) -> Bool {
    entryBudget -= count
    return entryBudget >= 0
  }

  // MARK: Streams

  private mutating func claimStreams(_ streams: [MinidumpReader.Stream], _ bytes: RawSpan) {
    var first: [MinidumpStreamType: ByteRange] = [:]
    for stream in streams where first[stream.type] == nil { first[stream.type] = stream.range }
    // First, so that the budget is there for it.
    claimHeader(first, bytes)
    for (type, range) in first.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { claim(type, range, bytes) }
    for region in stacks.ranges where policy.memory != .all { claims.words(region.range, at: region.address) }
    for (type, size) in newSizes {
      if let entry = directory[type] { claims.make(littleEndian(UInt32(size)), at: entry + 4) }
    }
  }

  /// Header and directory. Of streams that go, the entry becomes unused.
  private mutating func claimHeader(_ first: [MinidumpStreamType: ByteRange], _ bytes: RawSpan) {
    // Not the checksum, which nobody makes.
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
      if first[type] == place, isKnown(type), self.directory[type] == nil {
        claims.copy(entry, 12)
        self.directory[type] = entry
        continue
      }
      claims.claim(ByteRange(offset: entry, count: MinidumpFormat.directoryEntrySize), .blank)
      if type == .unused { continue }
      removals.add(.stream, type.name, byteCount: place.end <= size ? place.count : 0)
      // What is known stays where a damaged directory has another stream on top of it.
      if place.end <= size, first[type] == place, type != .unused { claims.claim(place, .removed) }
    }
  }

  func isKnown(_ type: MinidumpStreamType) -> Bool { Self.kind(of: type) != nil }

  private enum Kind {
    case systemInfo, miscInfo, threadList, threadNames, exception, moduleList, unloadedModuleList, crashpadInfo
    case memoryList, memory64List, memoryInfoList, breakpadInfo, auxiliaryVector
    case text(SystemText)
  }

  private static func kind(of type: MinidumpStreamType) -> Kind? {
    switch type {
    case .systemInfo: .systemInfo
    case .miscInfo: .miscInfo
    case .threadList: .threadList
    case .threadNames: .threadNames
    case .exception: .exception
    case .moduleList: .moduleList
    case .unloadedModuleList: .unloadedModuleList
    case .crashpadInfo: .crashpadInfo
    case .memoryList: .memoryList
    case .memory64List: .memory64List
    case .memoryInfoList: .memoryInfoList
    case .breakpadInfo: .breakpadInfo
    case .linuxAuxiliaryVector: .auxiliaryVector
    case .linuxCPUInfo: .text(.processors)
    case .linuxProcessStatus: .text(.status)
    case .linuxRelease: .text(.release)
    case .linuxCommandLine: .text(.commandLine)
    case .linuxEnvironment: .text(.environment)
    case .linuxMaps: .text(.maps)
    default: nil
    }
  }

  private mutating func claim(_ type: MinidumpStreamType, _ range: ByteRange, _ bytes: RawSpan) {
    guard let kind = Self.kind(of: type) else { return }
    // What of it is not claimed below stays in the file as zeros.
    claims.hold(range)
    switch kind {
    case .systemInfo: claimSystemInfo(range, bytes)
    case .miscInfo: claimMiscInfo(range, bytes)
    case .threadList: claimThreads(range, bytes)
    case .threadNames: claimThreadNames(range, bytes)
    case .exception: claimException(range, bytes)
    case .moduleList: claimModules(range, bytes)
    case .unloadedModuleList: claimUnloadedModules(range, bytes)
    case .crashpadInfo: claimCrashpadInfo(range, bytes)
    case .memoryList: claimMemoryList(range, bytes)
    case .memory64List: claimMemory64List(range, bytes)
    case .memoryInfoList: claimMemoryInfo(range, bytes)
    case .breakpadInfo: claims.copy(range.offset, min(12, range.count))
    case .auxiliaryVector: claimAuxiliaryVector(range, bytes)
    case .text(let kind): claimSystemText(range, kind, bytes)
    }
  }
}

func littleEndian(_ value: UInt32) -> [UInt8] {
  [
    UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value >> 16),
    UInt8(truncatingIfNeeded: value >> 24),
  ]
}

func littleEndian(_ value: UInt64) -> [UInt8] {
  littleEndian(UInt32(truncatingIfNeeded: value)) + littleEndian(UInt32(truncatingIfNeeded: value >> 32))
}

extension RawSpan {
  /// How many bytes of `range` are not zero.
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
