/// A `ByteOutput` that passes all bytes to another, and reports how many were written.
package final class CountedOutput: ByteOutput {
  private let output: any ByteOutput
  private let total: Int
  private let report: (_ done: Int, _ total: Int) -> Void
  private var done = 0

  /// A payload may be gigabytes, which would be one step.
  private static let step = 16 << 20

  package init(_ output: any ByteOutput, total: Int, _ report: @escaping (Int, Int) -> Void) {
    self.output = output
    self.total = total
    self.report = report
  }

  package func write(_ bytes: RawSpan) throws {
    for start in stride(from: 0, to: bytes.byteCount, by: Self.step) {
      let end = min(start + Self.step, bytes.byteCount)
      try output.write(bytes.extracting(start..<end))
      done += end - start
      report(done, total)
    }
  }
}
