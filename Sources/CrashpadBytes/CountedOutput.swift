// SPDX-License-Identifier: Apache-2.0
/// A `ByteOutput` that passes all bytes to another, and counts them.
package final class CountedOutput: ByteOutput {
  private let output: (any ByteOutput)?
  private let report: (_ done: Int) -> Void
  package private(set) var count = 0

  /// A payload may be gigabytes, which would be one step.
  private static let step = 16 << 20

  /// - Parameter output: nil for bytes that are only counted.
  package init(_ output: (any ByteOutput)?) {
    self.output = output
    report = { _ in }
  }

  package init(_ output: any ByteOutput, total: Int, _ report: @escaping (_ done: Int, _ total: Int) -> Void) {
    self.output = output
    self.report = { report($0, total) }
  }

  package func reserve(_ byteCount: Int) throws { try output?.reserve(byteCount) }

  package func write(_ bytes: RawSpan) throws {
    for start in stride(from: 0, to: bytes.byteCount, by: Self.step) {
      let end = min(start + Self.step, bytes.byteCount)
      try output?.write(bytes.extracting(start..<end))
      count += end - start
      report(count)
    }
  }
}
