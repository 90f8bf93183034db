// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

extension SnapshotBytes {
  /// These bytes of the input.
  init(_ range: ByteRange) { self.init(inputOffset: range.offset, count: range.count) }
}

extension DumpField {
  func content() -> SnapshotBytes? { value.map { SnapshotBytes($0) } }

  /// The value as Darwin's `timeval`.
  func time(in bytes: RawSpan) -> Timestamp? {
    value(ofSize: 16).map {
      Timestamp(
        seconds: Int64(bitPattern: bytes.uint64(at: $0.offset)), microseconds: bytes.int32(at: $0.offset + 8))
    }
  }

  /// The value as Mach's `time_value_t`.
  func duration(in bytes: RawSpan) -> Timestamp? {
    value(ofSize: 8).map {
      Timestamp(seconds: Int64(bytes.int32(at: $0.offset)), microseconds: bytes.int32(at: $0.offset + 4))
    }
  }
}

extension DumpInterpreter {
  mutating func readSystem(_ node: DumpNode, _ bytes: RawSpan) {
    var hasDaylightSaving = DumpField()
    var isDaylightSaving = DumpField()
    var vmStat = DumpField()
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      let field = DumpField(record)
      switch record.key {
      case .osVersionMajor: snapshot.system.osMajor = field.int32(in: bytes)
      case .osVersionMinor: snapshot.system.osMinor = field.int32(in: bytes)
      case .osVersionBugfix: snapshot.system.osBugfix = field.int32(in: bytes)
      case .osVersionBuild: snapshot.system.osBuild = field.content()
      case .machineDescription: snapshot.system.machine = field.content()
      case .cpuVendor: snapshot.system.cpuVendor = field.content()
      case .cpuCount: snapshot.system.cpuCount = field.int32(in: bytes)
      case .pageSize: snapshot.system.pageSize = field.uint64(in: bytes)
      case .addressMask: snapshot.system.addressMask = field.uint64(in: bytes)
      case .crashpadUptime: snapshot.system.crashpadUptime = field.uint64(in: bytes)
      case .standardOffsetSeconds: snapshot.system.timeZone.standardOffset = field.int32(in: bytes)
      case .daylightOffsetSeconds: snapshot.system.timeZone.daylightOffset = field.int32(in: bytes)
      case .standardName: snapshot.system.timeZone.standardName = field.content()
      case .daylightName: snapshot.system.timeZone.daylightName = field.content()
      case .hasDaylightSavingTime: hasDaylightSaving = field
      case .isDaylightSavingTime: isDaylightSaving = field
      case .vmStat: vmStat = field
      default: break
      }
    }
    snapshot.system.timeZone.daylightSaving = daylightSaving(
      has: hasDaylightSaving.bool(in: bytes), observes: isDaylightSaving.bool(in: bytes))
    if let node = vmStat.map { snapshot.system.memory = readMemoryUse(node, bytes) }
  }

  private func daylightSaving(has: Bool?, observes: Bool?) -> TimeZoneSnapshot.DaylightSaving? {
    guard let has else { return nil }
    if !has { return .doesNotObserve }
    // If only this field is missing, Crashpad uses an uninitialized variable; a zero means standard time.
    return observes == true ? .daylightTime : .standardTime
  }

  private func readMemoryUse(_ node: DumpNode, _ bytes: RawSpan) -> SystemMemory {
    var memory = SystemMemory()
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      let field = DumpField(record)
      switch record.key {
      case .active: memory.active = field.uint32(in: bytes)
      case .inactive: memory.inactive = field.uint32(in: bytes)
      case .wired: memory.wired = field.uint32(in: bytes)
      case .free: memory.free = field.uint32(in: bytes)
      default: break
      }
    }
    return memory
  }

  /// Reads the process. `capture` has annotations about the capture of a Linux process.
  mutating func readProcess(_ node: DumpNode, _ capture: [String: String], _ bytes: RawSpan) {
    var basicInfo = DumpField()
    var threadTimes = DumpField()
    var simpleMap = DumpField()
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      let field = DumpField(record)
      switch record.key {
      case .pid: snapshot.processID = field.int32(in: bytes)
      case .parentPID: snapshot.parentProcessID = field.int32(in: bytes)
      case .startTime: snapshot.startTime = field.time(in: bytes)
      case .snapshotTime: snapshot.snapshotTime = field.time(in: bytes)
      case .taskBasicInfo: basicInfo = field
      case .taskThreadTimes: threadTimes = field
      case .annotationsSimpleMap: simpleMap = field
      default: break
      }
    }
    let ended = readTimes(basicInfo.map, bytes)
    let living = readTimes(threadTimes.map, bytes)
    snapshot.userTime = Self.sum(ended.user, living.user)
    snapshot.systemTime = Self.sum(ended.system, living.system)
    snapshot.annotations = processAnnotations(simpleMap.array, capture, bytes)
  }

  private func readTimes(_ node: DumpNode?, _ bytes: RawSpan) -> (user: Timestamp?, system: Timestamp?) {
    guard let node else { return (nil, nil) }
    let (user, system) = tree.fields(.userTime, .systemTime, of: node, in: bytes)
    return (user.duration(in: bytes), system.duration(in: bytes))
  }

  /// Adds like the BSD macro `timeradd`: carries at most one second. Nil if both are nil.
  private static func sum(_ a: Timestamp?, _ b: Timestamp?) -> Timestamp? {
    if a == nil, b == nil { return nil }
    let a = a ?? Timestamp(seconds: 0)
    let b = b ?? Timestamp(seconds: 0)
    var total = Timestamp(seconds: a.seconds &+ b.seconds, microseconds: a.microseconds &+ b.microseconds)
    if total.microseconds >= 1_000_000 {
      total.seconds &+= 1
      total.microseconds &-= 1_000_000
    }
    return total
  }

  /// Merges process annotations. For equal names, the first in this order wins: those of the capture, the handler's
  /// uptime, the mark of an incomplete dump, those of the caller, those of the dump. Except for the capture, this is
  /// Crashpad's order.
  private mutating func processAnnotations(_ array: DumpNode?, _ capture: [String: String], _ bytes: RawSpan)
    -> [Annotation]
  {
    var annotations: [Annotation] = []
    func add(_ name: String, _ value: String) {
      annotations.append(Annotation(name: snapshot.store(name), value: snapshot.store(value)))
    }
    for (name, value) in capture { add(name, value) }
    add("crashpad_uptime_ns", String(snapshot.system.crashpadUptime ?? 0))
    if !snapshot.isComplete { add("crashpad_intermediate_dump_incomplete", "yes") }
    // Among the caller's annotations, the last of equal names wins.
    for annotation in options.annotations.reversed() { add(annotation.name, annotation.value) }
    if let array { tree.appendSimpleAnnotations(of: array, to: &annotations, bytes) }
    sortAnnotations(&annotations, bytes)
    return annotations
  }

  /// Sorts annotations by the bytes of their names; keeps only the first of equal names.
  func sortAnnotations(_ annotations: inout [Annotation], _ bytes: RawSpan) {
    guard annotations.count > 1 else { return }
    let arena = unsafe snapshot.arena.span.bytes
    func compare(_ a: Annotation, _ b: Annotation) -> Int {
      let left = ByteRange(offset: a.name.offset, count: a.name.count)
      let right = ByteRange(offset: b.name.offset, count: b.name.count)
      return (a.name.isInArena ? arena : bytes).compare(left, right, in: b.name.isInArena ? arena : bytes)
    }
    // The sort is stable, so the first of equal names stays first.
    annotations.sort { compare($0, $1) < 0 }
    var count = 1
    for index in 1..<annotations.count where compare(annotations[count - 1], annotations[index]) != 0 {
      annotations[count] = annotations[index]
      count += 1
    }
    annotations.removeLast(annotations.count - count)
  }
}
