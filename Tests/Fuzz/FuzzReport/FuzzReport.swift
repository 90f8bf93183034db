// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import FuzzSupport

/// A report in the form that it begins like, and each of the parts that such reports have.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  let span = unsafe bytes.span.bytes
  guard let form = ReportFormat.of(span), form != .crash else { return 0 }
  checkReport(ReportReader.read(span, form: form), bytes.count)
  for name in ["1", "2", "57"] {
    guard let part = ReportParts.report(of: name, form, in: span) else { continue }
    checkReport(ReportReader.read(unsafe part.span.bytes, form: form), part.count)
  }
  return 0
}
