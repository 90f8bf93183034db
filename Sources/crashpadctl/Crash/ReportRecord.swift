// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot

/// The facts in a crash report other than threads and modules, in JSON documents.
enum ReportRecord {
  typealias Report = ReportSnapshot

  static let record = Record<Report>(
    .word("kind", of: Report.Kind.allCases.map(\.rawValue), "The kind of the report.", .always) { $0.kind.rawValue },
    .text("bug_type", "Apple's number of the kind.") { $0.bugType },
    .text("incident", "The report's own id.") { $0.incident },
    .text("reporter_key", "The installation's anonymous id.", .omittable) { $0.reporterKey },
    .object("process", process, "The process, in the report's words.", .always) { $0 },
    .text("os", "The system and its version.") { $0.osText },
    .text("captured", "The time of the capture, as in the report.") { $0.captureTime },
    .text("launched", "The time of the start of the process, as in the report.") { $0.launchTime },
    .timestamp("period_start", "The start of the period that the report is about.", .omittable) { $0.periodStart },
    .object("exception", exception, "The exception, in the report's words.", .always) { $0 },
    .object("termination", termination, "The cause of the end of the process; null if the report does not say it.") {
      $0.termination
    },
    .number("faulting_thread", "The thread that crashed, an index of `threads`.") { $0.faultingThread },
    .list("messages", message, "The messages that programs left at their end.") { $0.messages },
    .texts("kernel_triage", "The kernel's notes on the fault.") { $0.kernelTriage },
    .text("vm_region_info", "The regions of memory around the address of the fault.") { $0.vmRegionInfo },
    .texts("notes", "The report's notes on itself.") { $0.notes },
    .map("fields", "Further lines of the header, by name.") { $0.fields.map { ($0.name, $0.value) } },
    .object("jetsam", jetsam, "The processes of a JetsamEvent.", .omittable) { $0.jetsam })

  private static let process = Record<Report>(
    .text("name", "Its name.") { $0.processName },
    .text("path", "The path of its executable.") { $0.processPath },
    .text("bundle_id", "Its bundle id.") { $0.bundleID },
    .text("version", "Its version.") { $0.version },
    .text("build", "Its build.") { $0.build },
    .text("role", "Its role, such as Foreground.") { $0.role },
    .text("parent", "The name of its parent.") { $0.parentName },
    .text("code_type", "The machine that its code is for.") { $0.codeType },
    .flag("translated", "Whether the code was translated for the processor.") { $0.isTranslated },
    .text("responsible", "The process that is responsible for it.", .omittable) { $0.responsibleName },
    .text("coalition", "Its coalition.", .omittable) { $0.coalition })

  private static let exception = Record<Report>(
    .text("type", "Its type, such as EXC_BAD_ACCESS.") { $0.exceptionType },
    .text("signal", "The signal that it became.") { $0.exceptionSignal },
    .text("subtype", "Its subtype.") { $0.exceptionSubtype },
    .text("codes", "Its codes.") { $0.exceptionCodes },
    .text("message", "Its message.") { $0.exceptionMessage },
    .texts("notes", "Its notes.") { $0.exceptionNotes },
    .flag("non_fatal", "Whether the process went on.") { $0.isNonFatal },
    .flag("simulated", "Whether a test or a tool asked for it.") { $0.isSimulated },
    .address("fault_address", "The processor's address of the fault.") { $0.faultAddress },
    .address("syndrome", "The processor's syndrome.") { $0.syndrome },
    .text("syndrome_text", "The syndrome in words.") { $0.syndromeText },
    .digits("code_before", "The bytes of code before the instruction.", .omittable) {
      $0.codeBefore.isEmpty ? nil : $0.codeBefore
    },
    .digits("code_at", "The bytes of code from the instruction on.", .omittable) { $0.codeAt.isEmpty ? nil : $0.codeAt }
  )

  private static let termination = Record<Report.Termination>(
    .text("namespace", "The namespace of the code.") { $0.namespace },
    .address("code", "The code.") { $0.code },
    .address("flags", "The flags.") { $0.flags },
    .text("indicator", "The code in words.") { $0.indicator },
    .texts("reasons", "The reasons.") { $0.reasons },
    .texts("details", "Details of the reasons.") { $0.details },
    .text("by_process", "The process that ended it.") { $0.byProcess },
    .number("by_pid", "The id of that process.") { $0.byProcessID })

  private static let message = Record<Report.Message>(
    .text("image", "The module that left it.") { $0.image },
    .text("text", "The message.", .always) { $0.text })

  private static let jetsam = Record<Report.Jetsam>(
    .number("page_size", "The size of a page in bytes.") { $0.pageSize },
    .number("free_pages", "The number of free pages.") { $0.freePages },
    .text("largest_process", "The name of the largest process.") { $0.largestProcess },
    .list("processes", jetsamProcess, "All processes.") { $0.processes })

  private static let jetsamProcess = Record<Report.JetsamProcess>(
    .text("name", "Its name.", .always) { $0.name },
    .number("pid", "Its id.") { $0.processID },
    .uuid("uuid", "The UUID of its executable.") { $0.uuid },
    .texts("states", "Its states.") { $0.states },
    .number("priority", "Its priority.") { $0.priority },
    .number("resident_pages", "The number of its pages in memory.") { $0.residentPages },
    .number("lifetime_maximum_pages", "The largest number that it ever had.") { $0.lifetimeMaximumPages },
    .text("reason", "Why the system ended it; null of a process that went on.") { $0.reason })
}
