import CrashpadJSON
import CrashpadSnapshot
import CrashpadText

/// The facts in a crash report other than threads and modules, as members of `inspect`'s documents.
enum CrashReportJSON {
  static func write(_ report: ReportSnapshot, to json: inout JSONWriter) {
    json.member("kind", report.kind.rawValue)
    json.member("bug_type", report.bugType)
    json.member("incident", report.incident)
    json.object("process") { json in
      json.member("name", report.processName)
      json.member("path", report.processPath)
      json.member("bundle_id", report.bundleID)
      json.member("version", report.version)
      json.member("build", report.build)
      json.member("role", report.role)
      json.member("parent", report.parentName)
      json.member("code_type", report.codeType)
      json.member("translated", report.isTranslated)
    }
    json.member("os", report.osText)
    json.member("captured", report.captureTime)
    json.member("launched", report.launchTime)
    writeException(report, to: &json)
    writeTermination(report.termination, to: &json)
    json.member("faulting_thread", report.faultingThread)
    writeMessages(report, to: &json)
    json.object("fields") { json in
      for field in report.fields { json.member(field.name, field.value) }
    }
    if let jetsam = report.jetsam { json.object("jetsam") { write(jetsam, to: &$0) } }
  }

  private static func writeException(_ report: ReportSnapshot, to json: inout JSONWriter) {
    json.object("exception") { json in
      json.member("type", report.exceptionType)
      json.member("signal", report.exceptionSignal)
      json.member("subtype", report.exceptionSubtype)
      json.member("codes", report.exceptionCodes)
      json.member("message", report.exceptionMessage)
      json.member("notes", report.exceptionNotes)
      json.member("non_fatal", report.isNonFatal)
      json.member("simulated", report.isSimulated)
      json.member("fault_address", report.faultAddress.map(Wording.hex))
      json.member("syndrome", report.syndrome.map(Wording.hex))
      json.member("syndrome_text", report.syndromeText)
    }
  }

  private static func writeTermination(_ termination: ReportSnapshot.Termination?, to json: inout JSONWriter) {
    json.object("termination", of: termination) { termination, json in
      json.member("namespace", termination.namespace)
      json.member("code", termination.code.map(Wording.hex))
      json.member("flags", termination.flags.map(Wording.hex))
      json.member("indicator", termination.indicator)
      json.member("reasons", termination.reasons)
      json.member("details", termination.details)
      json.member("by_process", termination.byProcess)
      json.member("by_pid", termination.byProcessID)
    }
  }

  private static func writeMessages(_ report: ReportSnapshot, to json: inout JSONWriter) {
    json.objects("messages", report.messages) { message, json in
      json.member("image", message.image)
      json.member("text", message.text)
    }
    json.member("kernel_triage", report.kernelTriage)
    json.member("vm_region_info", report.vmRegionInfo)
    json.member("notes", report.notes)
  }

  private static func write(_ jetsam: ReportSnapshot.Jetsam, to json: inout JSONWriter) {
    json.member("page_size", jetsam.pageSize)
    json.member("free_pages", jetsam.freePages)
    json.member("largest_process", jetsam.largestProcess)
    json.objects("processes", jetsam.processes) { process, json in
      json.member("name", process.name)
      json.member("pid", process.processID)
      json.member("uuid", process.uuid?.text)
      json.member("states", process.states)
      json.member("priority", process.priority)
      json.member("resident_pages", process.residentPages)
      json.member("lifetime_maximum_pages", process.lifetimeMaximumPages)
      json.member("reason", process.reason)
    }
  }
}
