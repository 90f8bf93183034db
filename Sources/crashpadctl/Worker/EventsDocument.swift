import CrashpadCore
import CrashpadJSON
import CrashpadSnapshot

/// The schema crashpadctl-events/1 of crashpadctl-json(5): what stands beside the lines that `events` writes.
enum EventsDocument {
  private static let schema = "crashpadctl-events/1"

  /// - Parameter lineCount: of the events; 0 of a process that did not crash.
  static func write(
    _ inspection: Inspection, _ id: UUIDBytes, lineCount: Int, input: String, to json: inout JSONWriter
  ) {
    json.object { json in
      json.member("schema", schema)
      json.member("input", argument: input)
      json.member("status", inspection.snapshot == nil ? "ERROR" : "OK")
      json.member("format", inspection.format.rawValue)
      FindingJSON.write(inspection.findings, to: &json)
      json.member("crash_id", id.text)
      json.member("lines", lineCount)
    }
  }

  static func writeFailure(_ input: String, _ text: String, _ status: ExitStatus, to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", schema)
      json.member("input", argument: input)
      json.member("status", "ERROR")
      json.member("format", nil as String?)
      json.member("error", text)
      json.member("exit_status", status.rawValue)
    }
  }
}
