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
    .number(
      "faulting_number", "The number of that thread in the report, if it has another index, or is not listed.",
      .omittable
    ) { $0.faultingNumber },
    .list("messages", message, "The messages that programs left at their end.") { $0.messages },
    .texts("kernel_triage", "The kernel's notes on the fault.") { $0.kernelTriage },
    .text("vm_region_info", "The regions of memory around the address of the fault.") { $0.vmRegionInfo },
    .texts("notes", "The report's notes on itself.") { $0.notes },
    .map("fields", "Further lines of the header, by name.") { $0.fields.map { ($0.name, $0.value) } },
    .flag("states_crash", "True if the report marks a thread as crashed.", .omittable) { $0.statesCrash ? true : nil },
    .text("diagnosis", "The conclusion of the program's crash reporter.", .omittable) { $0.diagnosis },
    .texts("deallocated_objects", "The classes of objects that were deallocated, and still in registers.", .omittable) {
      $0.deallocatedObjects.isEmpty ? nil : $0.deallocatedObjects
    },
    .object("memory", memory, "The memory of the process.", .omittable) { $0.memory },
    .flag("ended_for_memory", "True if the process was ended because it used too much memory.", .omittable) {
      $0.endedForMemory ? true : nil
    },
    .flag("deadlock", "True if the process was ended because its main thread was deadlocked.", .omittable) {
      $0.isDeadlock ? true : nil
    },
    .flag("stack_overflow", "True if the crash reporter found that the stack overflowed.", .omittable) {
      $0.hasStackOverflow ? true : nil
    },
    .list("blockers", blocker, "Threads that wait for others, according to the report.", .omittable) {
      $0.blockers.isEmpty ? nil : $0.blockers
    },
    .object("panic", panic, "The panic of the kernel, or the reset.", .omittable) { $0.panic },
    .object("jetsam", jetsam, "The processes of a JetsamEvent.", .omittable) { $0.jetsam })

  private static let memory = Record<ReportMemory>(
    .number("footprint", "The bytes that the process used.") { $0.footprint },
    .number("limit", "The bytes that it may use.") { $0.limit },
    .number("remaining", "The bytes that were left to it.") { $0.remaining },
    .text("level", "How near it was to its limit.") { $0.level },
    .text("pressure", "The pressure on the memory of the system.") { $0.pressure })

  private static let blocker = Record<ReportBlocker>(
    .number("thread", "The thread that waits, an index of `threads`.", .always) { $0.thread },
    .text("text", "The report's words.", .always) { $0.text },
    .number("holder", "The thread that it waits for, an index of `threads`; null if it is not among them.") {
      $0.holder
    },
    .text("process", "The process that it waits for.") { $0.process })

  private static let panic = Record<ReportPanic>(
    .text("headline", "The first line, without processor and caller.") { $0.headline },
    .text("task", "The task that panicked.") { $0.task },
    .number("task_id", "The id of that task.") { $0.taskID },
    .number("trap", "The number of the processor's trap in the kernel.", .omittable) {
      $0.trap.map { Int64(clamping: $0) }
    },
    .text("trap_name", "The name of that trap.", .omittable) { $0.trapName },
    .texts("extensions", "The kernel extensions in the backtrace.", .omittable) {
      $0.extensions.isEmpty ? nil : $0.extensions
    },
    .flag("cut", "True if the report ends within the kernel's text.", .omittable) { $0.isCut ? true : nil },
    .text("text", "All of the kernel's text.", .always) { $0.text })

  private static let process = Record<Report>(
    .text("name", "Its name.") { $0.processName },
    .text("path", "The path of its executable.") { $0.processPath },
    .text("bundle_id", "Its bundle id.") { $0.bundleID },
    .text("version", "Its version.") { $0.version },
    .text("build", "Its build.") { $0.build },
    .flag("version_inferred", "True if it was concluded from their forms which is the version.", .omittable) {
      $0.isVersionInferred ? true : nil
    },
    .text("role", "Its role, such as Foreground.") { $0.role },
    .text("parent", "The name of its parent.") { $0.parentName },
    .text("code_type", "The machine that its code is for.") { $0.codeType },
    .flag("architecture_inferred", "True if the architecture was concluded from the images.", .omittable) {
      $0.isArchitectureInferred ? true : nil
    },
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
    .address("intended_address", "The address before bits of it were changed, according to the report.", .omittable) {
      $0.intendedAddress
    },
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
    .text("text", "The message.", .always) { $0.text },
    .text(
      "exception", "The name of an exception that the report has apart; `text` is its name and reason then.", .omittable
    ) {
      $0.exception
    })

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
