// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import FuzzSupport

/// Apple's `.crash` texts and the texts of resource reports, whatever they begin like.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  checkReport(ReportReader.read(unsafe bytes.span.bytes, form: .crash), bytes.count)
  return 0
}
