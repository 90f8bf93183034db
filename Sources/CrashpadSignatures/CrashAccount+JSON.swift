// SPDX-License-Identifier: Apache-2.0
package import CrashpadJSON

/// Accounts in partial results.
extension CrashAccount {
  var sortKey: (Int64, Int64, String, String, String) { (end, processID, process ?? "", device ?? "", version ?? "") }

  /// Writes the account of a report that a process captured.
  func write(to json: inout JSONWriter) {
    json.member("time", end)
    json.member("pid", processID)
    json.member("process", process)
    json.member("device", device)
    json.member("version", version)
  }

  init?(_ value: JSONValue) {
    guard let time = value["time"]?.int64, let processID = value["pid"]?.int64 else { return nil }
    self.init(
      role: .captured, processID: processID, process: value["process"]?.string, device: value["device"]?.string,
      version: value["version"]?.string, start: time, end: time)
  }
}

/// Reports in partial results that may be of a crash in another part.
extension CrashFacts {
  var sortKey: (String, String, Int64, Int64) { (id, input, time ?? 0, processID ?? 0) }

  package func write(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("input", input)
    json.member("report", report)
    json.member("role", role?.rawValue)
    json.member("time", time)
    json.member("since", periodStart)
    json.member("pid", processID)
    json.member("process", process)
    json.member("program", program)
    json.member("version", version)
    json.member("device", device)
    json.member("system", system)
    json.member("client", client)
    json.member("quick", isQuick)
  }

  package init?(_ value: JSONValue) {
    guard let id = value["id"]?.string, let input = value["input"]?.string else { return nil }
    self.init(id: id, input: input)
    report = value["report"]?.string
    role = value["role"]?.string.flatMap { CrashAccount.Role(rawValue: $0) }
    time = value["time"]?.int64
    periodStart = value["since"]?.int64
    processID = value["pid"]?.int64
    process = value["process"]?.string
    program = value["program"]?.string
    version = value["version"]?.string
    device = value["device"]?.string
    system = value["system"]?.string
    client = value["client"]?.string
    isQuick = value["quick"]?.bool == true
  }
}
