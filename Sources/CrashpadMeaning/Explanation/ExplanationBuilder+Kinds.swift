// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The explanation of reports that are not about a crash.
extension ExplanationBuilder {
  /// Returns whether the report is not about a crash; if so, the explanation is complete.
  mutating func describesNoCrash() -> Bool {
    if crash.exception?.isSimulated == true { return explainSimulated() }
    guard let report else { return explainNoException() }
    if report.isSimulated {
      return explainNoCrash("The report is simulated: a test or a tool asked for it, and nothing crashed.")
    }
    switch report.kind {
    case .jetsam:
      explainJetsam(report)
      return true
    case .stackshot:
      if let row = MeaningTable.terminationCode(0xbaaa_aaad) { add(row) }
      return explainNoCrash("The report is a stackshot of all processes, and not a crash.")
    case .hang: return explainHang()
    case .osFault:
      explainException()
      return explainNoCrash("A system service reported a fault and went on: \(result.summary)")
    case .resource:
      guard report.termination == nil else { return false }
      explainException()
      let action = report.fields.first { $0.name == "Action taken" }?.value.lowercased() ?? ""
      if action.contains("killed") || result.rows.contains(where: { $0.name == "MONITOR_FATAL" }), !report.isNonFatal {
        result.endedBy = ["The kernel's monitor of resources."]
        return true
      }
      return explainNoCrash("\(result.summary) The report is a warning.")
    case .crash:
      guard report.isNonFatal else { return false }
      explainException()
      return explainNoCrash("The process went on (NON-FATAL CONDITION): \(result.summary)")
    }
  }

  private mutating func explainNoException() -> Bool {
    guard crash.exception == nil else { return false }
    result.isCrash = false
    result.summary = "The dump has no exception: it was made of a process without a crash."
    result.endedBy = ["Nothing in the dump says that the process was ended."]
    return true
  }

  private mutating func explainSimulated() -> Bool {
    if let thread = crash.crashedThread { noteSuspect(thread, "The dump was asked for in") }
    result.isCrash = false
    result.summary = "Simulated exception: a dump without a crash (DumpWithoutCrash). Nothing crashed."
    result.endedBy = ["Nothing in the dump says that the process was ended."]
    return true
  }

  private mutating func explainNoCrash(_ summary: String) -> Bool {
    result.isCrash = false
    result.summary = summary
    result.endedBy = ["The report does not say that the process was ended."]
    return true
  }

  private mutating func explainHang() -> Bool {
    if let main = crash.mainThread { explainMainThread(main) }
    if result.advice.isEmpty {
      result.advice = ["Read the main thread's stack: it shows where the app did not respond."]
    }
    return explainNoCrash("The process did not respond for a while.")
  }

  // MARK: Jetsam

  private mutating func explainJetsam(_ report: ReportSnapshot) {
    let jetsam = report.jetsam ?? ReportSnapshot.Jetsam()
    let killed = jetsam.processes.filter { $0.reason != nil }
    if let row = MeaningTable.namespace("JETSAM") { add(row) }
    result.endedBy = ["The kernel's memory manager (jetsam)."]
    if killed.isEmpty {
      result.isCrash = false
      result.summary = "The system was short of memory; the report names no process that was killed."
      result.endedBy = ["The report does not say that a process was ended."]
    } else {
      let names = killed.map { "\($0.name) (\($0.reason ?? ""))" }.joined(separator: ", ")
      result.summary = "The system was short of memory and killed \(names)."
    }
    for process in killed {
      note(Self.memory(process, jetsam))
      let row = CodeMeaning.namespaceCodes.first { $0.context == "JETSAM" && $0.name == process.reason }
      if let row {
        add(row)
        result.advice += row.advice
      } else if let reason = process.reason {
        result.notKnown.append("What \"\(reason)\" means: the table does not have it.")
      }
    }
    if let largest = jetsam.largestProcess, !killed.contains(where: { $0.name == largest }) {
      result.cautions.append("\(largest) is the largest process, and was not killed.")
    }
    result.notKnown.append("The stacks: a jetsam leaves none.")
  }

  private static func memory(_ process: ReportSnapshot.JetsamProcess, _ jetsam: ReportSnapshot.Jetsam) -> String {
    var text = "\(process.name)" + (process.processID.map { " [\($0)]" } ?? "")
    if let pages = process.residentPages, let size = jetsam.pageSize {
      text += " used \(pages.multipliedReportingOverflow(by: size).partialValue >> 20) MiB"
    }
    if !process.states.isEmpty { text += ", was \(process.states.joined(separator: ", "))" }
    if let priority = process.priority { text += ", band \(priority)" }
    return text + "."
  }
}
