// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import CrashpadSnapshot
import Testing

@Suite("DumpInterpreter: NSExceptions")
struct NSExceptionTests {
  /// Three threads, of which the second has `frames` in the place of registers and a stack.
  private func interpreted(
    _ frames: [UInt8], with more: @escaping SmallDump.Part = { _ in }, architecture: CPUArchitecture = .arm64
  ) -> Interpreted {
    var builder = DumpBuilder()
    builder.root { dump in
      dump.property(.version, [1])
      dump.map(.processInfo) { _ in }
      dump.map(.systemInfo) { _ in }
      dump.map(.nsException) { $0.property(.threadID, uint64: 2) }
      dump.array(.threads) { threads in
        for id: UInt64 in 1...3 {
          threads.mapInArray {
            $0.property(.threadID, uint64: id)
            if id == 2 {
              $0.property(.threadUncaughtNSExceptionFrames, frames)
              more(&$0)
            } else {
              States.write(.arm64, to: &$0)
            }
          }
        }
      }
    }
    return Interpreted(builder.bytes, architecture: architecture)
  }

  /// Walks as debuggers do: the program counter, the link register, then the frame records from the frame pointer on.
  private func walk(_ context: ARM64Context, _ stack: [UInt8]) -> [UInt64] {
    var frames = [context.pc, context.lr]
    var frame = context.fp
    while let next = stack.little(at: Int(frame), width: 8), let address = stack.little(at: Int(frame) + 8, width: 8),
      address != 0
    {
      frames.append(address)
      guard next > frame else { break }
      frame = next
    }
    return frames
  }

  @Test("A walk along the frame pointers of the synthetic stack gives the frames back", arguments: [2, 3, 4, 12, 500])
  func frames(_ count: Int) throws {
    var parameters = SynthParameters(seed: UInt64(count))
    parameters.exception = .nsException(frames: count)
    parameters.crashedThread = 3
    let dump = SynthDump(parameters)
    let result = Interpreted(dump.bytes)
    let snapshot = try #require(result.snapshot)
    let context = try #require(snapshot.exception?.context?.arm64)
    let stack = try #require(snapshot.threads[3].stack)
    #expect(stack.isSynthetic)
    #expect(stack.region.address == 0)
    #expect(stack.region.content.count == 16 * (count - 1) + 8)
    let bytes = try #require(result.bytes(of: stack.region.content))
    #expect(walk(context, bytes) == dump.threads[3].uncaughtFrames)
    #expect(context.fp == 8)
    #expect(context.sp == 0)
    #expect(snapshot.exception?.address == dump.threads[3].uncaughtFrames[0])
    #expect(snapshot.threads[3].context == nil)
  }

  @Test("The words of the stack are Crashpad's")
  func words() throws {
    let result = interpreted(Bytes.of([0xa0, 0xa1, 0xa2, 0xa3]))
    let stack = try #require(result.snapshot?.threads[1].stack)
    #expect(result.bytes(of: stack.region.content) == Bytes.of([0, 24, 0xa2, 40, 0xa3, 0, 0]))
    #expect(result.codes == [])
  }

  @Test("Bytes behind the last whole frame are ignored")
  func remainder() throws {
    let result = interpreted(Bytes.of([0xa0, 0xa1, 0xa2]) + [1, 2, 3])
    let stack = try #require(result.snapshot?.threads[1].stack)
    #expect(result.bytes(of: stack.region.content) == Bytes.of([0, 24, 0xa2, 0, 0]))
  }

  @Test("Fewer than two frames give no stack and no registers", arguments: [0, 7, 8, 15])
  func tooFew(_ count: Int) throws {
    let result = interpreted([UInt8](repeating: 7, count: count))
    let snapshot = try #require(result.snapshot)
    #expect(snapshot.threads[1].stack == nil)
    #expect(snapshot.exception?.kind == .nsException)
    #expect(snapshot.exception?.context == nil)
    #expect(snapshot.exception?.address == 0)
  }

  @Test("A thread with a stack keeps it, but the exception still goes by the frames")
  func stackAndFrames() throws {
    let result = interpreted(
      Bytes.of([0xa0, 0xa1]),
      with: {
        $0.property(.stackRegionAddress, uint64: 0x5000)
        $0.property(.stackRegionData, [1, 2, 3])
        States.write(.arm64, to: &$0)
      })
    let snapshot = try #require(result.snapshot)
    #expect(result.codes == ["stack-and-frames"])
    #expect(
      result.regions(snapshot.threads.compactMap { $0.stack?.region }) == [.init(address: 0x5000, bytes: [1, 2, 3])])
    #expect(snapshot.threads[1].stack?.isSynthetic == false)
    #expect(Interpreted.values(snapshot.threads[1].context)?.first == 0x1000)
    #expect(snapshot.exception?.context?.arm64?.pc == 0xa0)
    #expect(snapshot.exception?.context?.arm64?.lr == 0xa1)
  }

  @Test("On x86_64 the two frames become instruction and stack pointer")
  func x86() throws {
    let result = interpreted(Bytes.of([0xa0, 0xa1, 0xa2]), architecture: .x86_64)
    let context = try #require(result.snapshot?.exception?.context?.x86_64)
    #expect(context.rip == 0xa0)
    #expect(context.rsp == 0xa1)
    #expect(result.snapshot?.exception?.address == 0xa0)
  }

  @Test("Without frames there are neither registers nor an address")
  func noFrames() throws {
    var dump = SmallDump()
    dump.root = { $0.map(.nsException) { $0.property(.threadID, uint64: 1) } }
    let result = Interpreted(dump.bytes, architecture: .arm64)
    #expect(result.snapshot?.exception?.context == nil)
    #expect(result.snapshot?.exception?.address == 0)
    #expect(result.snapshot?.exception?.code == 0x4350_6e78)
  }
}
