// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSnapshot
import Testing

@testable import CrashpadMinidump

@Suite("Interrupted stacks")
struct InterruptedStackTests {
  /// A Linux process with threads that have these stacks in the input.
  private static func ranges(_ stacks: [MemoryRegion], _ bytes: [UInt8]) -> Int {
    var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux))
    snapshot.threads = stacks.map { region in
      var thread = ThreadSnapshot()
      thread.stack = ThreadSnapshot.Stack(region: region)
      return thread
    }
    return unsafe snapshot.interruptedStacks(in: bytes.span.bytes).count
  }

  @Test("A stack behind the end of the address space is not searched")
  func endOfSpace() {
    let bytes = [UInt8](repeating: 0xff, count: 8192)
    let region = MemoryRegion(
      address: 0xffff_ffff_ffff_f000, content: SnapshotBytes(inputOffset: 0, count: bytes.count))
    #expect(Self.ranges([region], bytes) == 0)
  }

  @Test("Threads that share a stack do not take its size for each of them")
  func shared() {
    let bytes = [UInt8](repeating: 1, count: 2 << 20)
    let region = MemoryRegion(address: 0x1000, content: SnapshotBytes(inputOffset: 0, count: bytes.count))
    let start = ContinuousClock.now
    #expect(Self.ranges([MemoryRegion](repeating: region, count: 40_000), bytes) == 0)
    #expect(ContinuousClock.now - start < .seconds(30))
  }
}
