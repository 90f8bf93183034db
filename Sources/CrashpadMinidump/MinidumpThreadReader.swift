// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads threads, their names and the exception.
extension MinidumpReader {
  mutating func readThreadList(_ range: ByteRange, _ bytes: RawSpan) {
    let entries = entries(
      of: range, size: MinidumpFormat.threadSize, price: Price.thread, mayBePadded: true, "ThreadList", bytes)
    snapshot.threads.reserveCapacity(entries.count)
    for (index, offset) in entries.enumerated() {
      var thread = ThreadSnapshot()
      thread.id = UInt64(bytes.uint32(at: offset))
      thread.suspendCount = bytes.int32(at: offset + 4)
      thread.priority = bytes.int32(at: offset + 12)
      thread.dataAddress = bytes.uint64(at: offset + 16)
      if location(at: offset + 32, bytes).isNowhere {
        unplacedStacks.append(
          UnplacedStack(
            thread: index, field: offset + 24, address: bytes.uint64(at: offset + 24),
            size: location(at: offset + 32, bytes).size))
      } else if let region = memoryRegion(at: offset + 24, { "ThreadList[\(index)].Stack" }, bytes),
        !region.content.isEmpty
      {
        thread.stack = ThreadSnapshot.Stack(region: region)
      }
      thread.context = context(at: offset + 40, { "ThreadList[\(index)].ThreadContext" }, bytes)
      snapshot.threads.append(thread)
    }
  }

  /// Takes stacks from the lists of memory.
  mutating func placeStacks() {
    guard !unplacedStacks.isEmpty else { return }
    let memory = snapshot.extraMemory.sorted { $0.address < $1.address }
    for stack in unplacedStacks {
      let behind = memory.indices.partitioningIndex { memory[$0].address > stack.address }
      let distance = behind > 0 ? stack.address - memory[behind - 1].address : .max
      guard behind > 0, case let region = memory[behind - 1], distance < UInt64(region.content.count) else {
        findings.append(
          Finding(MinidumpRules.missingMemory, at: stack.field, path: "ThreadList[\(stack.thread)].Stack"))
        continue
      }
      let count = min(stack.size, region.content.count - Int(distance))
      let content = region.content.part(at: Int(distance), count: count)
      snapshot.threads[stack.thread].stack = ThreadSnapshot.Stack(
        region: MemoryRegion(address: stack.address, content: content))
    }
  }

  /// Reads a MINIDUMP_MEMORY_DESCRIPTOR.
  mutating func memoryRegion(at offset: Int, _ path: () -> String, _ bytes: RawSpan) -> MemoryRegion? {
    if location(at: offset + 8, bytes).isNowhere {
      findings.append(Finding(MinidumpRules.missingMemory, at: offset, path: path()))
      return nil
    }
    guard let range = range(ofLocationAt: offset + 8, of: offset, MinidumpRules.memoryOutside, path, bytes) else {
      return nil
    }
    return MemoryRegion(
      address: bytes.uint64(at: offset), content: SnapshotBytes(inputOffset: range.offset, count: range.count))
  }

  mutating func readThreadNames(_ range: ByteRange, _ bytes: RawSpan) {
    var names: [UInt64: SnapshotBytes] = [:]
    for (index, offset) in entries(
      of: range, size: MinidumpFormat.threadNameSize, price: Price.threadName, "ThreadNames", bytes
    ).enumerated() {
      let rva = Int(clamping: bytes.uint64(at: offset + 4))
      guard rva <= bytes.byteCount else {
        findings.append(Finding(MinidumpRules.stringOutside, at: offset, path: "ThreadNames[\(index)]"))
        continue
      }
      names[UInt64(bytes.uint32(at: offset))] = string(at: rva, field: offset + 4, "ThreadNames[\(index)]", bytes)
    }
    for index in snapshot.threads.indices {
      if let id = snapshot.threads[index].id { snapshot.threads[index].name = names[id] }
    }
  }

  mutating func readException(_ range: ByteRange, _ bytes: RawSpan) {
    guard check(range, has: MinidumpFormat.exceptionStreamSize, "Exception") else { return }
    let offset = range.offset
    let number = bytes.uint32(at: offset + 8)
    let count = Int(bytes.uint32(at: offset + 32))
    if count > 15 {
      findings.append(
        Finding(
          MinidumpRules.countTooLarge, at: offset + 32, path: "Exception.NumberParameters", expected: .number(15),
          found: .number(UInt64(count))))
    }
    let words = (0..<min(count, 15)).map { bytes.uint64(at: offset + 40 + 8 * $0) }
    let kind = exceptionKind(number, words)
    // Crashpad's handler for EXC_CRASH writes the exception that the crash came of, or 0 if it came of a signal alone.
    let isCrash = kind == .mach && number == 0 && words.first == MinidumpFormat.machCrash
    let code =
      kind == .linuxSignal
      ? snapshot.system.architecture.commonSignal(number) : isCrash ? UInt32(MinidumpFormat.machCrash) : number
    // A Mach exception has codes of 64 bits on all processors.
    let codes = kind == .windows ? words.map(narrowed) : words
    var exception = ExceptionSnapshot(kind: kind, threadID: UInt64(bytes.uint32(at: offset)), code: code)
    exception.info = bytes.uint32(at: offset + 12)
    // Breakpad's writer has long left si_code out: 0 then does not mean that a process sent the signal of a fault, of abort()
    // or of a system call.
    let isOfThread = kind == .linuxSignal && [4, 5, 6, 7, 8, 11, 31].contains(code)
    if isOfThread, exception.info == 0, codes.isEmpty, !streams.contains(where: { $0.type == .crashpadInfo }) {
      exception.isInfoKnown = false
    }
    // LLDB writes 0 for a thread that stopped without a signal.
    if kind == .linuxSignal, code == 0 { exception.isInfoKnown = false }
    // Windows has the instruction in the record, and the address that was accessed as a parameter.
    let isAccess = kind == .windows && [0xc000_0005, 0xc000_0006].contains(code) && codes.count > 1
    exception.address = isAccess ? codes[1] : narrowed(bytes.uint64(at: offset + 24))
    exception.codes = codes
    exception.context = context(at: offset + 160, { "Exception.ThreadContext" }, bytes)
    snapshot.exception = exception
  }

  /// The address as the process has it: writers extend those of 32-bit processes with their sign.
  private func narrowed(_ address: UInt64) -> UInt64 {
    snapshot.system.architecture.hasNarrowAddresses ? address & 0xffff_ffff : address
  }

  /// The kind of an exception code depends on the system; for Apple's systems, on the code too.
  private func exceptionKind(_ code: UInt32, _ codes: [UInt64]) -> ExceptionSnapshot.Kind {
    switch snapshot.system.operatingSystem {
    case .ios, .macos:
      if code == 0x4350_6e78 { return .nsException }
      return code == 0x10003 && codes.count == 3 ? .softSignal : .mach
    case .linux, .android: return .linuxSignal
    case .windows, .fuchsia, .unknown: return .windows
    }
  }

  // MARK: Registers

  mutating func context(at field: Int, _ path: () -> String, _ bytes: RawSpan) -> CPUContext? {
    let place = location(at: field, bytes)
    if place.size == 0 { return nil }
    if place.isNowhere {
      findings.append(Finding(MinidumpRules.missingContext, at: field, path: path()))
      return nil
    }
    guard let range = range(ofLocationAt: field, of: field, MinidumpRules.contextOutside, path, bytes) else {
      return nil
    }
    if !hasSystemInfo, snapshot.system.architecture == .unknown {
      snapshot.system.architecture = MinidumpContext.architecture(of: range, bytes)
    }
    let context = MinidumpContext.read(snapshot.system.architecture, range, bytes)
    if context == nil {
      findings.append(
        Finding(
          MinidumpRules.unknownContext, at: range.offset, path: path(), found: .byteCount(UInt64(range.count))))
    }
    return context
  }
}
