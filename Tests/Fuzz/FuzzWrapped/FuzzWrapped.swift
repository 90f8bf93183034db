// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import FuzzSupport

/// Texts with reports in them: each row that removes a wrapping, and the readers of what is left.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  switch unsafe Unwrapper.unwrap(bytes.span.bytes) {
  case .plain, .refused: break
  case .unwrapped(let report): check(report, bytes.count)
  case .several(let reports): for report in reports.prefix(4) { check(report, bytes.count) }
  }
  return 0
}

private func check(_ report: Unwrapping, _ size: Int) {
  for offset in stride(from: 0, to: report.bytes.count, by: 31) {
    if let source = report.source(of: offset) { precondition(source <= size) }
  }
  precondition(report.steps.allSatisfy { ($0.offset ?? 0) <= size })
  // Escapes and encodings do not make a text much longer.
  precondition(report.bytes.count <= size * 4 + 64)
  let text = report.bytes
  guard let form = unsafe ReportFormat.of(text.span.bytes) else { return }
  checkReport(ReportReader.read(unsafe text.span.bytes, form: form), text.count)
}
