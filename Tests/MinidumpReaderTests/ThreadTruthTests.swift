// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot
import Testing

@Suite("MinidumpReader: threads and exception")
struct ThreadTruthTests {
  @Test("A legal layout has no findings; odd offsets are noted", arguments: Layout.allCases)
  func findings(_ layout: Layout) {
    for example in layout.examples {
      #expect(Set(example.reading.codes) == (layout == .odd ? ["misaligned"] : []), "\(example)")
      #expect(example.reading.list.count(of: .error) == 0, "\(example)")
    }
  }

  @Test("The streams are those of the directory, in its order", arguments: Layout.allCases)
  func streams(_ layout: Layout) {
    for example in layout.examples {
      let expected = example.dump.streams.map { "\($0.stream.rawValue) \($0.range.lowerBound) \($0.range.count)" }
      let found = example.reading.streams.map { "\($0.type.rawValue) \($0.range.offset) \($0.range.count)" }
      #expect(found == expected, "\(example)")
    }
  }

  @Test("Threads have their ids, names, priorities and stacks", arguments: Layout.allCases)
  func threads(_ layout: Layout) throws {
    for example in layout.examples {
      let reading = example.reading
      let threads = try #require(reading.snapshot).threads
      let truth = example.dump.threads
      #expect(threads.map(\.id) == truth.map { UInt64($0.id) }, "\(example)")
      #expect(threads.map(\.priority) == truth.indices.map { Int32(8 + $0) })
      #expect(threads.allSatisfy { $0.suspendCount == 0 })
      #expect(threads.map(\.dataAddress) == truth.map { $0.stackAddress &- 0x1000 })
      #expect(
        threads.map { reading.text($0.name) } == truth.map { layout == .unnamed ? nil : $0.name }, "\(example)")
      #expect(threads.allSatisfy { $0.stack?.isSynthetic != true })
      if layout == .memory64 {
        #expect(threads.allSatisfy { $0.stack == nil }, "\(example)")
      } else {
        let stacks = threads.map { $0.stack.map { reading.region($0.region) } }
        #expect(stacks == truth.map { region($0.stackAddress, $0.stackBytes, example) }, "\(example)")
      }
    }
  }

  @Test("Registers are those of the processor's own record", arguments: Layout.allCases)
  func registers(_ layout: Layout) throws {
    for example in layout.examples {
      let processor = example.dump.parameters.processor
      let threads = try #require(example.reading.snapshot).threads
      for (thread, truth) in zip(threads, example.dump.threads) {
        let context = try #require(thread.context, "\(example)")
        #expect(Dictionary(context) == TrueRegisters.of(truth, processor), "\(example)")
        let mask: UInt64 = [.x86, .arm].contains(processor) ? 0xffff_ffff : .max
        #expect(context.instructionPointer == truth.pc & mask)
        #expect(context.stackPointer == truth.sp & mask)
        checkVectors(context, truth, example.reading)
      }
    }
  }

  private func checkVectors(_ context: CPUContext, _ truth: MinidumpThreadTruth, _ reading: Reading) {
    switch context {
    case .arm64(let context):
      #expect(reading.data(context.vectors) == truth.vectors)
      #expect(context.fpsr == 0x10)
      #expect(context.fpcr == 0)
    case .x86_64(let context):
      let image = reading.data(context.fxsave) ?? []
      #expect(image.count == 512)
      #expect(Array(image.prefix(2)) == [0x7f, 0x03])
      #expect(image.count == 512 && Array(image[160..<416]) == Array(truth.vectors.prefix(256)))
      #expect((0..<8).map { context.dr[$0] } == [0, 0, 0, 0, 0, 0, 0xffff_0ff0, 0x400])
    case .named: break
    }
  }

  @Test("The exception has kind, code, address, parameters and registers", arguments: Layout.allCases)
  func exception(_ layout: Layout) throws {
    for example in layout.examples {
      let snapshot = try #require(example.reading.snapshot)
      if layout == .unnamed {
        #expect(snapshot.exception == nil)
        continue
      }
      let exception = try #require(snapshot.exception, "\(example)")
      let truth = try #require(example.dump.threads.first)
      let kind: ExceptionSnapshot.Kind =
        switch example.dump.parameters.system {
        case .windows: .windows
        case .macos, .ios: .mach
        case .linux, .android: .linuxSignal
        }
      #expect(exception.kind == kind, "\(example)")
      #expect(exception.threadID == UInt64(truth.id))
      #expect(exception.code == example.dump.exceptionCode)
      #expect(exception.address == example.dump.exceptionAddress)
      #expect(exception.info == (kind == .windows ? 0 : 1))
      #expect(exception.codes == (kind == .windows ? [0, 0x10] : []))
      let context = try #require(exception.context)
      #expect(Dictionary(context) == TrueRegisters.of(truth, example.dump.parameters.processor), "\(example)")
    }
  }

  @Test("A record with extended state behind it is read")
  func extendedState() throws {
    let dump = Example.small(.x86_64, .windows)
    let reading = Reading(dump.setting("threadList[0].context.size", to: 1232 + 64))
    #expect(reading.codes == [])
    #expect(reading.snapshot?.threads.first?.context?.instructionPointer == dump.threads.first?.pc)
  }

  @Test("Without registers a thread has none, and nothing is found")
  func noContext() {
    let reading = Reading(Example.small(.arm64, .ios).setting("threadList[1].context.size", to: 0))
    #expect(reading.codes == [])
    #expect(reading.snapshot?.threads.map { $0.context == nil } == [false, true])
  }

  private func region(_ address: UInt64, _ count: Int, _ example: Example) -> Region {
    Region(address: address, bytes: example.dump.memory.bytes(at: address, count: count))
  }
}

extension [String: UInt64] {
  init(_ context: CPUContext) {
    self.init(uniqueKeysWithValues: context.generalRegisters.map { ($0.name, $0.value) })
  }
}

/// Registers of a synthetic thread by their names.
enum TrueRegisters {
  static func of(_ thread: MinidumpThreadTruth, _ processor: MinidumpProcessor) -> [String: UInt64] {
    let g = thread.general
    var registers: [String: UInt64] = [:]
    switch processor {
    case .arm64, .arm64Old:
      for index in 0..<29 { registers["x\(index)"] = g[index] }
      registers.merge(["fp": thread.fp, "lr": thread.lr, "sp": thread.sp, "pc": thread.pc, "cpsr": 0x6000_1000]) { $1 }
    case .x86_64:
      for (index, name) in ["rax", "rbx", "rcx", "rdx", "rsi", "rdi"].enumerated() { registers[name] = g[index] }
      for index in 8..<16 { registers["r\(index)"] = g[index - 2] }
      registers.merge(["rbp": thread.fp, "rsp": thread.sp, "rip": thread.pc, "rflags": 0x246]) { $1 }
      registers.merge(["cs": 0x33, "fs": 0, "gs": 0]) { $1 }
    case .x86:
      for (index, name) in ["eax", "ebx", "ecx", "edx", "esi", "edi"].enumerated() { registers[name] = g[index] }
      registers.merge(["ebp": thread.fp, "esp": thread.sp, "eip": thread.pc, "eflags": 0x246]) { $1 }
      registers.merge(["gs": 0x33, "fs": 0, "es": 0x2b, "ds": 0x2b, "cs": 0x23, "ss": 0x2b]) { $1 }
      for name in registers.keys { registers[name]! &= 0xffff_ffff }
    case .arm:
      for index in 0..<13 { registers["r\(index)"] = [7, 11].contains(index) ? thread.fp : g[index] }
      registers.merge(["sp": thread.sp, "lr": thread.lr, "pc": thread.pc, "cpsr": 0x6000_0010]) { $1 }
      for name in registers.keys { registers[name]! &= 0xffff_ffff }
    }
    return registers
  }
}
