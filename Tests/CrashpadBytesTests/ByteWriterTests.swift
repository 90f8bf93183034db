// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import Testing

/// Hands an array's bytes to `body`.
func withBytes<Result>(_ array: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try unsafe body(array.span.bytes)
}

/// An output that notes the sizes of what it is given, and fails when it is told to.
private final class CountingOutput: ByteOutput {
  struct Full: Error, Equatable { let call: Int }

  var bytes: [UInt8] = []
  var sizes: [Int] = []
  var failsAt = Int.max

  func write(_ span: RawSpan) throws {
    sizes.append(span.byteCount)
    if sizes.count >= failsAt { throw Full(call: sizes.count) }
    bytes += span.array()
  }
}

@Suite("ByteWriter")
struct ByteWriterTests {
  private static let capacity = 128 * 1024
  private static let bypass = 32 * 1024

  private func written(_ body: (inout ByteWriter) -> Void) throws -> [UInt8] {
    let output = MemoryOutput()
    var writer = ByteWriter(to: output)
    body(&writer)
    #expect(writer.position == ByteWriter.measure(body))
    let position = writer.position
    try writer.finish()
    #expect(output.bytes.count == position)
    return output.bytes
  }

  @Test("Integers are little endian")
  func integers() throws {
    let bytes = try written {
      $0.uint8(0x01)
      $0.uint16(0x0203)
      $0.uint32(0x0405_0607)
      $0.uint64(0x0809_0a0b_0c0d_0e0f)
      $0.int32(-2)
    }
    #expect(bytes == [1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8, 254, 255, 255, 255])
  }

  @Test("Zeros and padding are zeros, padding only up to the alignment")
  func padding() throws {
    #expect(try written { $0.align(to: 16) } == [])
    for used in 1...16 {
      let bytes = try written {
        $0.bytes([UInt8](repeating: 7, count: used))
        $0.align(to: 8)
        $0.zeros(0)
        $0.zeros(3)
      }
      #expect(bytes == [UInt8](repeating: 7, count: used) + [UInt8](repeating: 0, count: (8 - used % 8) % 8 + 3))
    }
  }

  @Test("Nothing is lost or doubled at the borders of the buffer", arguments: -9...9)
  func borders(_ distance: Int) throws {
    let lead = Self.capacity + distance
    var random = SplitMix64(seed: 3)
    let some = random.bytes(21)
    let bytes = try written {
      $0.zeros(lead)
      $0.uint64(0x1122_3344_5566_7788)
      $0.bytes(some)
      $0.uint16(0xabcd)
    }
    #expect(
      bytes == [UInt8](repeating: 0, count: lead) + Bytes.of(UInt64(0x1122_3344_5566_7788)) + some + [0xcd, 0xab])
  }

  @Test("Runs of every length around the bypass come through in their order", arguments: [-9, -8, -7, -1, 0, 1, 8])
  func bypass(_ distance: Int) throws {
    var random = SplitMix64(seed: 4)
    let run = random.bytes(Self.bypass + distance)
    let output = CountingOutput()
    var writer = ByteWriter(to: output)
    for _ in 0..<6 {
      writer.uint8(1)
      writer.bytes(run)
      writer.uint16(0x0302)
    }
    try writer.finish()
    let once: [UInt8] = [1] + run + [2, 3]
    #expect(output.bytes == (0..<6).flatMap { _ in once })
    #expect(output.sizes.contains(run.count) == (distance >= 0), "long runs go straight from where they lie")
  }

  /// A region of 64 KiB costs a system call of its own in a small output alone.
  @Test("A large output is written in large pieces", arguments: [(1 << 16, 7), (1 << 19, 1), (1 << 30, 1)])
  func largeOutput(_ expected: Int, _ writes: Int) throws {
    var random = SplitMix64(seed: 5)
    let run = random.bytes(1 << 16)
    let output = CountingOutput()
    var writer = ByteWriter(to: output, expecting: expected)
    for _ in 0..<7 { writer.bytes(run) }
    writer.zeros(9)
    try writer.finish()
    #expect(output.sizes.dropLast(expected == 1 << 16 ? 1 : 0).count == writes, "\(output.sizes)")
    #expect(output.bytes == (0..<7).flatMap { _ in run } + [UInt8](repeating: 0, count: 9))
  }

  @Test("Zeros longer than the buffer are written whole")
  func longZeros() throws {
    let bytes = try written {
      $0.uint8(1)
      $0.zeros(3 * Self.capacity + 5)
      $0.uint8(2)
    }
    #expect(bytes.count == 3 * Self.capacity + 7)
    #expect(bytes.first == 1 && bytes.last == 2)
    #expect(bytes.dropFirst().dropLast().allSatisfy { $0 == 0 })
  }

  @Test("Zeros overwrite what the buffer held before")
  func zerosAfterFlush() throws {
    let noise = [UInt8](repeating: 0xee, count: 30_000)
    let bytes = try written { writer in
      for _ in 0..<5 { writer.bytes(noise) }
      writer.zeros(Self.capacity)
    }
    #expect(bytes.suffix(Self.capacity).allSatisfy { $0 == 0 })
  }

  @Test("A random sequence writes what it is told, and as much as it measures", arguments: [UInt64](0..<8))
  func random(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var expected: [UInt8] = []
    var steps: [(inout ByteWriter) -> Void] = []
    for _ in 0..<300 {
      let number = random.next()
      let run = random.bytes(
        [random.below(40), random.below(3000), 32_767, 32_768, 40_000][random.below(random.oneIn(20) ? 5 : 2)])
      switch random.below(6) {
      case 0:
        expected.append(UInt8(truncatingIfNeeded: number))
        steps.append { $0.uint8(UInt8(truncatingIfNeeded: number)) }
      case 1:
        expected += Bytes.of(UInt32(truncatingIfNeeded: number))
        steps.append { $0.uint32(UInt32(truncatingIfNeeded: number)) }
      case 2:
        expected += Bytes.of(number)
        steps.append { $0.uint64(number) }
      case 3:
        expected.appendZeros(-expected.count & 15)
        steps.append { $0.align(to: 16) }
      case 4:
        expected.appendZeros(Int(number % 500))
        steps.append { $0.zeros(Int(number % 500)) }
      default:
        expected += run
        steps.append { $0.bytes(run) }
      }
    }
    #expect(try written { writer in for step in steps { step(&writer) } } == expected)
  }

  @Test("Eight ASCII characters become eight units")
  func ascii() throws {
    let eight = Array("az09 ~\u{1}\u{7f}".utf8).little(at: 0, width: 8)
    let bytes = try written { $0.utf16(ascii: eight ?? 0) }
    #expect(bytes == Array("az09 ~\u{1}\u{7f}".utf8).flatMap { [$0, 0] })
  }

  @Test("A writer that measures may be told sizes")
  func skip() {
    #expect(
      ByteWriter.measure {
        $0.uint8(1)
        if $0.isMeasuring { $0.skip(1 << 40) }
        $0.align(to: 4)
      } == 1 << 40 + 4)
    let writer = ByteWriter(to: MemoryOutput())
    let isMeasuring = writer.isMeasuring
    #expect(!isMeasuring)
  }

  @Test("Nothing is handed over before it must be, and finish hands over the rest")
  func buffering() throws {
    let output = CountingOutput()
    var writer = ByteWriter(to: output)
    writer.uint64(5)
    #expect(output.sizes == [])
    try writer.finish()
    #expect(output.sizes == [8])
    try writer.finish()
    #expect(output.sizes == [8], "an empty buffer is not handed over")
  }

  @Test("The first failure sticks: nothing more is written, positions go on, and finish throws it", arguments: 1...3)
  func failure(_ call: Int) {
    let output = CountingOutput()
    output.failsAt = call
    var writer = ByteWriter(to: output)
    for _ in 0..<10 {
      writer.bytes([UInt8](repeating: 1, count: 40_000))
      writer.uint32(2)
    }
    #expect(writer.position == 400_040)
    var thrown: [CountingOutput.Full?] = []
    for _ in 0..<2 {
      do { try writer.finish() } catch { thrown.append(error as? CountingOutput.Full) }
    }
    #expect(thrown == [CountingOutput.Full(call: call), CountingOutput.Full(call: call)])
    #expect(output.sizes.count == call)
  }
}
