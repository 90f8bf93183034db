// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSnapshot
import Testing

@testable import CrashpadMinidump

struct GoroutineMemoryTests {
  private static let (signals, system, machine, goroutine): (UInt64, UInt64, UInt64, UInt64) = (
    0x1_0000, 0x1_1000, 0x1_2000, 0x1_3000
  )

  /// A thread that handles a signal of Go's runtime for a goroutine with a stack of 4 KiB.
  ///
  /// - Parameter isStack: whether the goroutine's record lies in the memory that is taken for the thread's stack.
  private static func kept(owner: UInt64 = machine, isStack: Bool = false) -> [ClosedRange<UInt64>] {
    var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux))
    var bytes: [UInt8] = []
    func memory(at address: UInt64, _ words: [UInt64], count: Int) {
      let start = bytes.count
      for word in words { bytes += (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } }
      bytes += [UInt8](repeating: 0, count: count - 8 * words.count)
      snapshot.extraMemory.append(
        MemoryRegion(address: address, content: SnapshotBytes(inputOffset: start, count: count)))
    }
    memory(at: signals, [0x8000, 0x9000, 0, 0, 0, 0, machine, 0, 0, signals], count: 0x400)
    memory(at: system, [0x5000, 0x6000, 0, 0, 0, 0, machine, 0, 0, system], count: 0x400)
    memory(at: machine, [system, 0, 0, signals, goroutine], count: 0x800)
    memory(
      at: goroutine, [0x2_0000, 0x2_1000, 0, 0, 0, 0, owner, 0x2_0800, 0x40_0000, goroutine],
      count: isStack ? 80 : 0x400)
    memory(at: 0x2_0000, [], count: 0x4000)
    var context = X86_64Context()
    context.r[14 - 8] = signals
    var thread = ThreadSnapshot()
    thread.context = .x86_64(context)
    if isStack, let index = snapshot.extraMemory.firstIndex(where: { $0.address == goroutine }) {
      thread.stack = ThreadSnapshot.Stack(region: snapshot.extraMemory.remove(at: index))
    }
    snapshot.threads = [thread]
    unsafe snapshot.reduceMemory(to: .stacks, in: bytes.span.bytes)
    return snapshot.extraMemory.map { $0.address...($0.address + UInt64($0.content.count) - 1) }
  }

  @Test func `A minidump has what leads to a thread's goroutine, and its stack from the saved pointer on`() {
    #expect(
      Self.kept() == [
        0x1_0000...0x1_004f, 0x1_1000...0x1_104f, 0x1_2000...0x1_21ff, 0x1_3000...0x1_304f, 0x2_0800...0x2_0fff,
      ])
  }

  @Test func `A goroutine whose record is behind a thread's stack is found`() {
    #expect(
      Self.kept(isStack: true) == [
        0x1_0000...0x1_004f, 0x1_1000...0x1_104f, 0x1_2000...0x1_21ff, 0x2_0800...0x2_0fff,
      ])
  }

  @Test func `A goroutine of another thread is left out`() {
    #expect(Self.kept(owner: 0x9_9000) == [0x1_0000...0x1_004f, 0x1_1000...0x1_104f, 0x1_2000...0x1_21ff])
  }
}
