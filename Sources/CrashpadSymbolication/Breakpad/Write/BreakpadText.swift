// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Collects the lines of a symbol file, and writes them in blocks.
struct BreakpadText {
  private let output: (any ByteOutput)?
  private(set) var bytes: [UInt8] = []
  private var failure: (any Error)?

  private static let blockSize = 64 * 1024

  /// - Parameter output: receives the text; without it, all of it is kept in memory.
  init(to output: (any ByteOutput)?) {
    self.output = output
    if output != nil { bytes.reserveCapacity(Self.blockSize + 8192) }
  }

  /// Flushes the buffer. Throws the first failure of the output.
  mutating func finish() throws {
    drain()
    if let failure { throw failure }
  }

  /// Discards the collected text.
  mutating func clear() { bytes.removeAll(keepingCapacity: true) }

  private mutating func drain() {
    guard let output else { return }
    if failure == nil {
      do { try unsafe output.write(bytes.span.bytes) } catch { failure = error }
    }
    bytes.removeAll(keepingCapacity: true)
  }

  mutating func lineFeed() {
    bytes.append(0x0a)
    if bytes.count >= Self.blockSize, output != nil { drain() }
  }

  mutating func blank() { bytes.append(0x20) }

  mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

  mutating func append(_ text: StaticString) {
    unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Appends a name on one line; control characters become blanks.
  mutating func append(name: String) {
    let start = bytes.count
    bytes.append(contentsOf: name.utf8)
    for index in start..<bytes.count where bytes[index] < 0x20 || bytes[index] == 0x7f { bytes[index] = 0x20 }
  }

  mutating func hexadecimal(_ value: UInt64) {
    var shift = value == 0 ? 0 : (63 - value.leadingZeroBitCount) & ~3
    while shift >= 0 {
      let digit = UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 15
      bytes.append(hexadecimalDigit(digit))
      shift -= 4
    }
  }

  mutating func decimal(_ value: UInt64) {
    var value = value
    let start = bytes.count
    repeat {
      let (quotient, digit) = value.quotientAndRemainder(dividingBy: 10)
      bytes.append(0x30 &+ UInt8(digit))
      value = quotient
    } while value > 0
    var (low, high) = (start, bytes.count - 1)
    while low < high {
      bytes.swapAt(low, high)
      low += 1
      high -= 1
    }
  }

  mutating func decimal(_ value: Int64) {
    if value < 0 { bytes.append(0x2d) }
    decimal(value.magnitude)
  }
}
