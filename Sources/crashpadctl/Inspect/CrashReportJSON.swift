import CrashpadJSON
import CrashpadSnapshot

/// The facts in a crash report other than threads and modules, as members of `inspect`'s documents.
enum CrashReportJSON {
  static func write(_ report: ReportSnapshot, to json: inout JSONWriter) {
    json.object { json in
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
  }

  private static func writeException(_ report: ReportSnapshot, to json: inout JSONWriter) {
    json.object("exception") { json in
      json.member("type", report.exceptionType)
      json.member("signal", report.exceptionSignal)
      json.member("subtype", report.exceptionSubtype)
      json.member("codes", report.exceptionCodes)
      json.member("message", report.exceptionMessage)
      writeStrings("notes", report.exceptionNotes, to: &json)
      json.member("non_fatal", report.isNonFatal)
      json.member("simulated", report.isSimulated)
      json.member("fault_address", report.faultAddress.map(Wording.hex))
      json.member("syndrome", report.syndrome.map(Wording.hex))
      json.member("syndrome_text", report.syndromeText)
    }
  }

  private static func writeTermination(_ termination: ReportSnapshot.Termination?, to json: inout JSONWriter) {
    json.key("termination")
    guard let termination else { return json.null() }
    json.object { json in
      json.member("namespace", termination.namespace)
      json.member("code", termination.code.map(Wording.hex))
      json.member("flags", termination.flags.map(Wording.hex))
      json.member("indicator", termination.indicator)
      writeStrings("reasons", termination.reasons, to: &json)
      writeStrings("details", termination.details, to: &json)
      json.member("by_process", termination.byProcess)
      json.member("by_pid", termination.byProcessID)
    }
  }

  private static func writeMessages(_ report: ReportSnapshot, to json: inout JSONWriter) {
    json.array("messages") { json in
      for message in report.messages {
        json.object {
          $0.member("image", message.image)
          $0.member("text", message.text)
        }
      }
    }
    writeStrings("kernel_triage", report.kernelTriage, to: &json)
    json.member("vm_region_info", report.vmRegionInfo)
    writeStrings("notes", report.notes, to: &json)
  }

  private static func writeStrings(_ key: String, _ strings: [String], to json: inout JSONWriter) {
    json.array(key) { json in for string in strings { json.string(string) } }
  }

  private static func write(_ jetsam: ReportSnapshot.Jetsam, to json: inout JSONWriter) {
    json.member("page_size", jetsam.pageSize)
    json.member("free_pages", jetsam.freePages)
    json.member("largest_process", jetsam.largestProcess)
    json.array("processes") { json in
      for process in jetsam.processes {
        json.object { json in
          json.member("name", process.name)
          json.member("pid", process.processID)
          json.member("uuid", process.uuid?.text)
          writeStrings("states", process.states, to: &json)
          json.member("priority", process.priority)
          json.member("resident_pages", process.residentPages)
          json.member("lifetime_maximum_pages", process.lifetimeMaximumPages)
          json.member("reason", process.reason)
        }
      }
    }
  }

  /// Writes the frames that the input lists, for a thread or for the exception that led to a crash.
  static func write(_ frames: [RecordedFrame], _ view: InspectionView, to json: inout JSONWriter) {
    json.array { json in
      for frame in frames {
        json.object { json in
          json.member("address", Wording.hex(frame.address))
          json.member("module", frame.module.map(view.moduleName))
          json.member("module_index", frame.module)
          json.member("module_offset", frame.moduleOffset.map(Wording.hex))
          json.member("function", frame.function)
          json.member("function_offset", frame.functionOffset)
          json.member("file", frame.file)
          json.member("line", frame.line)
          json.member("inlined", frame.isInlined)
        }
      }
    }
  }
}
