// SPDX-License-Identifier: Apache-2.0
/// Writes the streams that all systems share; the fixed part first, then what it points to.
struct MinidumpStreams {
  let parameters: SynthMinidumpParameters
  let process: MinidumpProcess
  var writer: MinidumpWriter
  /// The places in which stacks have to be entered once their bytes stand at the end of the file: memory descriptors by thread.
  private var stackFields: [(thread: Int, offset: Int, path: String)] = []

  init(_ parameters: SynthMinidumpParameters, _ process: MinidumpProcess) {
    self.parameters = parameters
    self.process = process
    writer = MinidumpWriter(isOdd: parameters.damage.contains(.odd))
  }

  mutating func write(_ stream: MinidumpStream) -> Range<Int> {
    switch stream {
    case .threadList: threadList()
    case .moduleList: moduleList()
    case .memoryList: memoryList()
    case .memory64List: memory64List()
    case .exception: exception()
    case .systemInfo: systemInfo()
    case .miscInfo: miscInfo()
    case .threadNames: threadNames()
    case .crashpadInfo: crashpadInfo()
    case .handleData: handleData()
    case .unloadedModuleList: unloadedModules()
    case .memoryInfoList: memoryInfo()
    case .linuxDSODebug: dsoDebug()
    default: plain(LinuxText(parameters, process).bytes(stream))
    }
  }

  mutating func plain(_ data: [UInt8]) -> Range<Int> {
    let start = writer.append(data)
    return start..<start + data.count
  }

  /// A list with its count in front: reserves it and gives where the entries begin.
  mutating func list(_ count: Int, entry: Int, _ path: String) -> (range: Range<Int>, entries: Int) {
    let head = parameters.paddedLists ? 8 : 4
    let start = writer.reserve(head + count * entry)
    writer.putCount(count, at: start, path)
    return (start..<start + head + count * entry, start + head)
  }

  // MARK: Threads

  /// 48 bytes each: id, suspend count, priority class, priority, TEB, stack (start, size, RVA), context.
  private mutating func threadList() -> Range<Int> {
    let (range, entries) = list(process.threads.count, entry: 48, "threadList")
    for (index, thread) in process.threads.enumerated() {
      let at = entries + index * 48
      writer.put(UInt64(thread.id), 4, at: at)
      writer.put32(8 + index, at: at + 12)
      writer.put(thread.stackAddress &- 0x1000, 8, at: at + 16)
      writer.put(thread.stackAddress, 8, at: at + 24)
      stackFields.append((index, at + 32, "threadList[\(index)].stack"))
      let context = context(thread)
      writer.putLocation(
        size: context.count, rva: context.lowerBound, at: at + 40, "threadList[\(index)].context")
    }
    return range
  }

  private mutating func context(_ thread: MinidumpThreadTruth) -> Range<Int> {
    let data = MinidumpContext.bytes(thread, parameters.processor)
    let start = writer.append(data, alignment: 16)
    return start..<start + data.count
  }

  /// 12 bytes each: id, then an RVA of 64 bits.
  private mutating func threadNames() -> Range<Int> {
    let start = writer.reserve(4 + process.threads.count * 12)
    writer.putCount(process.threads.count, at: start, "threadNames")
    for (index, thread) in process.threads.enumerated() {
      let at = start + 4 + index * 12
      writer.put(UInt64(thread.id), 4, at: at)
      let name = writer.utf16(thread.name, "threadNames[\(index)]")
      writer.putRVA(name, width: 8, at: at + 4, "threadNames[\(index)]")
    }
    return start..<start + 4 + process.threads.count * 12
  }

  /// 168 bytes: thread, padding, the exception record with 15 parameters, context.
  private mutating func exception() -> Range<Int> {
    let start = writer.reserve(168)
    guard let thread = process.threads.first else { return start..<start + 168 }
    writer.put(UInt64(thread.id), 4, at: start)
    let isWindows = parameters.system == .windows
    writer.put(UInt64(Self.exceptionCode(parameters.system)), 4, at: start + 8)
    writer.put(isWindows ? 0 : 1, 4, at: start + 12)
    writer.put(Self.exceptionAddress(parameters.system, process), 8, at: start + 24)
    if isWindows {
      // A read (0) of address 0x10.
      writer.putCount(2, at: start + 32, "exception.parameters")
      writer.put(0x10, 8, at: start + 48)
    } else {
      writer.putCount(0, at: start + 32, "exception.parameters")
    }
    let context = context(thread)
    writer.putLocation(size: context.count, rva: context.lowerBound, at: start + 160, "exception.context")
    return start..<start + 168
  }

  /// SIGSEGV, STATUS_ACCESS_VIOLATION or EXC_BAD_ACCESS.
  static func exceptionCode(_ system: MinidumpSystem) -> UInt32 {
    switch system {
    case .linux, .android: 11
    case .windows: 0xc000_0005
    case .macos, .ios: 1
    }
  }

  /// Windows has the address of the instruction here, the others what it wanted to reach.
  static func exceptionAddress(_ system: MinidumpSystem, _ process: MinidumpProcess) -> UInt64 {
    system == .windows ? process.threads.first?.pc ?? 0 : 0x10
  }

  // MARK: Memory

  /// 16 bytes each: start, size, RVA. Stacks first, as Breakpad does.
  private mutating func memoryList() -> Range<Int> {
    let threads = process.threads
    let count = threads.count + process.regions.count
    let (range, entries) = list(count, entry: 16, "memoryList")
    for (index, thread) in threads.enumerated() {
      let at = entries + index * 16
      writer.put(thread.stackAddress, 8, at: at)
      stackFields.append((index, at + 8, "memoryList[\(index)]"))
    }
    for (index, region) in process.regions.enumerated() {
      let at = entries + (threads.count + index) * 16
      writer.put(region.address, 8, at: at)
      let data = process.memory.bytes(at: region.address, count: region.count)
      let rva = writer.append(data)
      writer.putLocation(size: region.count, rva: rva, at: at + 8, "memoryList[\(threads.count + index)]")
    }
    return range
  }

  /// Count and base RVA of 64 bits, then start and size of each; the bytes follow each other from the base on.
  private mutating func memory64List() -> Range<Int> {
    let all =
      process.threads.map { ($0.stackAddress, $0.stackBytes) } + process.regions.map { ($0.address, $0.count) }
    let start = writer.reserve(16 + all.count * 16)
    writer.putCount(all.count, width: 8, at: start, "memory64List")
    for (index, range) in all.enumerated() {
      writer.put(range.0, 8, at: start + 16 + index * 16)
      writer.put(UInt64(range.1), 8, at: start + 24 + index * 16)
    }
    let base = writer.align()
    for range in all { writer.continueWith(process.memory.bytes(at: range.0, count: range.1)) }
    writer.putRVA(base, width: 8, at: start + 8, "memory64List.base")
    return start..<start + 16 + all.count * 16
  }

  /// The bytes of the stacks, last in the file, and every descriptor that waits for them.
  mutating func writeStacks() {
    for (index, thread) in process.threads.enumerated() {
      let fields = stackFields.filter { $0.thread == index }
      guard thread.stackBytes > 0, !fields.isEmpty else { continue }
      // In a full dump the list of 64-bit ranges has the bytes; Windows then leaves these descriptors empty.
      if parameters.usesMemory64 && parameters.streams == nil { continue }
      let data = process.memory.bytes(at: thread.stackAddress, count: thread.stackBytes)
      let rva = writer.append(data, alignment: 16)
      for field in fields { writer.putLocation(size: data.count, rva: rva, at: field.offset, field.path) }
    }
  }

  // MARK: Modules

  /// 108 bytes each, packed: base, size, checksum, time, name, VS_FIXEDFILEINFO, CodeView, misc, two reserved.
  private mutating func moduleList() -> Range<Int> {
    let (range, entries) = list(process.modules.count, entry: 108, "moduleList")
    for (index, module) in process.modules.enumerated() {
      let at = entries + index * 108
      let path = "moduleList[\(index)]"
      writer.put(module.base, 8, at: at)
      writer.put(UInt64(module.size), 4, at: at + 8)
      writer.put(UInt64(module.timestamp), 4, at: at + 16)
      writer.putRVA(writer.utf16(module.path, path + ".name"), at: at + 20, path + ".name")
      writer.put(0xfeef_04bd, 4, at: at + 24)
      writer.put(0x0001_0000, 4, at: at + 28)
      writer.put(0x0001_0002, 4, at: at + 32)
      writer.put(0x0003_0004, 4, at: at + 36)
      guard let record = Self.codeView(module.identity) else { continue }
      writer.putLocation(size: record.count, rva: writer.append(record), at: at + 76, path + ".codeView")
    }
    return range
  }

  static func codeView(_ identity: MinidumpModuleTruth.Identity) -> [UInt8]? {
    switch identity {
    case .none: nil
    case .elf(let buildID): Bytes.of(UInt32(0x4270_454c)) + buildID
    case .pdb70(let guid, let age, let name): Array("RSDS".utf8) + guid + Bytes.of(age) + Array(name.utf8) + [0]
    }
  }
}
