// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadMeaning
internal import CrashpadSnapshot

extension ReportBuilder {
  /// Sets the exception of Linux or Android for a signal, by its name, and the name or the number of its code.
  mutating func setLinuxSignal(_ name: String, code: String?, address: UInt64?) {
    guard let row = MeaningTable.signal(named: name), row.kind == .signal,
      let number = row.numbers.first(where: { $0.platform != .darwin })?.value
    else { return }
    var exception = ExceptionSnapshot(
      kind: .linuxSignal, threadID: faultingThreadID, code: UInt32(truncatingIfNeeded: number))
    exception.address = address ?? 0
    exception.isAddressKnown = address != nil
    let value = code.flatMap { MeaningTable.signalCode(named: $0, of: name) ?? Array($0.utf8)[...].number }
    exception.info = UInt32(truncatingIfNeeded: value ?? 0)
    exception.isInfoKnown = value != nil
    snapshot.exception = exception
  }

  /// Sets the exception of Windows for its name, as tools that read minidumps write it.
  ///
  /// - Parameter detail: the words behind it: "FAST_FAIL_FATAL_APP_EXIT".
  mutating func setWindowsException(_ name: String, _ detail: String?, address: UInt64?) {
    let accesses: [(suffix: String, number: UInt64)] = [("_READ", 0), ("_WRITE", 1), ("_EXEC", 8)]
    let access = accesses.first { name.hasPrefix("EXCEPTION_") && name.hasSuffix($0.suffix) }
    let base = access.map { String(name.dropLast($0.suffix.utf8.count)) } ?? name
    let status = base.hasPrefix("EXCEPTION_") ? "STATUS_" + base.dropFirst("EXCEPTION_".count) : base
    let number =
      MeaningTable.windowsCode(named: base) ?? MeaningTable.windowsCode(named: status) ?? Array(base.utf8)[...].number
    guard let code = number.flatMap({ UInt32(exactly: $0) }) else { return }
    var exception = ExceptionSnapshot(kind: .windows, threadID: faultingThreadID, code: code)
    exception.address = address ?? 0
    exception.isAddressKnown = address != nil
    if let access { exception.codes = [access.number, address ?? 0] }
    if let reason = detail.flatMap({ MeaningTable.fastFail(named: $0) }) { exception.codes = [reason] }
    snapshot.exception = exception
  }
}
