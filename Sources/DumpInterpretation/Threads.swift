// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import IntermediateDump
internal import CrashpadSnapshot

extension DumpInterpreter {
  mutating func readThreads(_ array: DumpNode, _ bytes: RawSpan) {
    snapshot.threads.reserveCapacity(min(tree.countIfMany(of: array, in: bytes), maximumEntries))
    readEntries(of: array, bytes) { $0.readThread($1, bytes) }
  }

  /// Calls `read` with each element of an array, up to the limit.
  mutating func readEntries(of array: DumpNode, _ bytes: RawSpan, _ read: (inout DumpInterpreter, DumpNode) -> Void) {
    var count = 0
    var records = tree.records(of: array)
    while let record = records.next(of: tree, in: bytes) {
      if count == maximumEntries {
        findings.append(
          Finding(
            InterpretationRules.tooManyEntries, at: record.offset, path: KeyTable.name(of: array.key),
            expected: .number(UInt64(maximumEntries))))
        return
      }
      read(&self, record.node)
      count += 1
    }
  }

  private mutating func readThread(_ node: DumpNode, _ bytes: RawSpan) {
    var thread = ThreadSnapshot()
    let fields = ThreadFields(node, tree, bytes) { record in
      let field = DumpField(record)
      switch record.key {
      case .suspendCount: thread.suspendCount = field.int32(in: bytes)
      case .priority: thread.priority = field.int32(in: bytes)
      case .threadDataAddress: thread.dataAddress = field.uint64(in: bytes)
      case .threadName: thread.name = field.content()
      case .threadCapture where isLinux:
        thread.capture = field.uint32(in: bytes).flatMap(ThreadSnapshot.Capture.init)
      default: break
      }
    }
    thread.id = fields.id.uint64(in: bytes)
    thread.stack = stack(of: fields, at: node.start, bytes)
    if isLinux {
      readRegisters(of: &thread, fields, at: node.start, bytes)
    } else if let state = fields.state(architecture) {
      thread.context = CPUContext(architecture, state, bytes)
    } else if fields.exceptionFrames.value == nil {
      addThreadFinding(InterpretationRules.noRegisters, at: node.start)
    }
    readContextMemory(fields, bytes)
    snapshot.threads.append(thread)
  }

  /// Reads the memory around the pointers in a thread's registers.
  mutating func readContextMemory(_ fields: ThreadFields, _ bytes: RawSpan) {
    guard let regions = fields.contextMemory.array else { return }
    tree.appendMemory(
      of: regions, .threadContextMemoryRegionAddress, .threadContextMemoryRegionData, to: &snapshot.extraMemory, bytes)
  }

  /// Adds a finding about the current thread.
  mutating func addThreadFinding(_ rule: Rule, at offset: Int) {
    findings.append(findings.hasRoom(for: rule) ? Finding(rule, at: offset, path: nextThreadPath.text) : Finding(rule))
  }

  private var nextThreadPath: DumpPath { DumpPath().appending(.threads).appending(index: snapshot.threads.count) }

  private mutating func stack(of fields: ThreadFields, at offset: Int, _ bytes: RawSpan) -> ThreadSnapshot.Stack? {
    if let data = fields.stackData.content() {
      if fields.exceptionFrames.value != nil {
        findings.append(Finding(InterpretationRules.stackAndFrames, at: offset, path: nextThreadPath.text))
      }
      let address = fields.stackAddress.uint64(in: bytes)
      if address == nil, !data.isEmpty {
        findings.append(
          Finding(
            InterpretationRules.stackWithoutAddress, at: fields.stackData.record?.offset,
            path: nextThreadPath.appending(.stackRegionData).text))
      }
      return ThreadSnapshot.Stack(region: MemoryRegion(address: address ?? 0, content: data))
    }
    guard let frames = fields.exceptionFrames.value, frames.count >= 16 else { return nil }
    let stack = snapshot.store(syntheticStack(frames: frames, bytes))
    return ThreadSnapshot.Stack(region: MemoryRegion(address: 0, content: stack), isSynthetic: true)
  }

  /// Makes a stack of frame records from return addresses, so that a frame pointer walk finds them again.
  ///
  /// When an uncaught NSException is caught, its stack is gone; only its return addresses remain. Frame 0 becomes the
  /// program counter and frame 1 the link register; the rest is on this stack, at the fictitious address 0.
  private func syntheticStack(frames: ByteRange, _ bytes: RawSpan) -> [UInt8] {
    let count = frames.count / 8
    var words = [UInt64](repeating: 0, count: 2 * (count - 1) + 1)
    // Words 2j-1 and 2j are the frame record of frame j: the caller's frame pointer and its return address.
    for frame in 1..<max(1, count - 1) {
      words[2 * frame - 1] = UInt64(8 * (2 * frame + 1))
      words[2 * frame] = bytes.uint64(at: frames.offset + 8 * (frame + 1))
    }
    var stack: [UInt8] = []
    stack.reserveCapacity(words.count * 8)
    for word in words {
      for shift in 0..<UInt64(8) { stack.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) }
    }
    return stack
  }
}
