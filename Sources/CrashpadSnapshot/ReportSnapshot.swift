// SPDX-License-Identifier: Apache-2.0
/// The facts in a crash report other than threads, modules and registers: the identity of the process, the reason for
/// its end, and notes of the system. Memory dumps have none of these.
///
/// It is filled from Apple's `.ips` and `.crash` reports, MetricKit's diagnostics, and the reports of KSCrash and
/// swift-backtrace. Text is decoded already: every ill-formed sequence in the input became one U+FFFD.
public struct ReportSnapshot: Sendable {
  /// The kind of event in the report.
  public enum Kind: String, Sendable, CaseIterable {
    case crash
    /// A fault in a system service that kept running (bug type 308).
    case osFault = "os-fault"
    /// More CPU, memory, wakeups, writes or threads than the system allows; often the process kept running.
    case resource
    case hang
    /// The system ran out of memory; the report lists the processes.
    case jetsam
    /// The stacks of all processes, without a crash.
    case stackshot
    /// The kernel stopped the whole system.
    case panic
    /// The user, or a watchdog of the hardware, reset the device.
    case forceReset = "force-reset"
  }

  /// The termination of the process, as in the kernel's `os_reason`.
  public struct Termination: Sendable, Hashable {
    /// Such as "SPRINGBOARD", spelled as in the report.
    public var namespace: String?
    /// The number, which has a meaning of its own in each namespace.
    public var code: UInt64?
    /// The OS_REASON_FLAG_* bits in XNU's bsd/sys/reason.h.
    public var flags: UInt64?
    /// Such as "Segmentation fault: 11".
    public var indicator: String?
    /// Lines in the report's order, such as dyld's "Library not loaded: …" or the description of a watchdog.
    public var reasons: [String] = []
    /// Further lines, such as the state of the process at the time.
    public var details: [String] = []
    /// The process that ended this one.
    public var byProcess: String?
    /// The id of that process.
    public var byProcessID: Int64?

    package init() {}
  }

  /// One process in a JetsamEvent.
  public struct JetsamProcess: Sendable {
    /// The name of the process.
    public var name: String
    /// The id of the process.
    public var processID: Int64?
    /// The UUID of the executable.
    public var uuid: UUIDBytes?
    /// Such as "frontmost" or "suspended".
    public var states: [String] = []
    /// The jetsam priority band.
    public var priority: Int64?
    /// The number of resident pages, each of `Jetsam.pageSize` bytes.
    public var residentPages: UInt64?
    /// The largest number of resident pages that the process ever had.
    public var lifetimeMaximumPages: UInt64?
    /// Such as "per-process-limit"; only for a process that was killed.
    public var reason: String?

    package init(name: String) { self.name = name }
  }

  /// The content of a JetsamEvent.
  public struct Jetsam: Sendable {
    /// The size of a page in bytes.
    public var pageSize: UInt64?
    /// The number of free pages.
    public var freePages: UInt64?
    /// The name of the process with the most memory.
    public var largestProcess: String?
    /// The processes that ran.
    public var processes: [JetsamProcess] = []

    package init() {}
  }

  /// Messages that the code in one image left for the report (`asi`).
  public struct Message: Sendable, Hashable {
    /// Such as "libswiftCore.dylib"; nil for `.crash` texts, which do not state it.
    public var image: String?
    /// The message; of an exception that the report names apart, its name and its reason.
    public var text: String
    /// The name of an uncaught exception, if the report has it in a member or a line of its own; nil for a message.
    public var exception: String?

    package init(image: String?, text: String, exception: String? = nil) {
      self.image = image
      self.text = text
      self.exception = exception
    }

    /// The text in the form in which Foundation names an exception, by which exceptions are known: it may not be in the report.
    package var statement: String {
      guard let exception else { return text }
      let words = "*** Terminating app due to uncaught exception '\(exception)'"
      guard text != exception else { return words }
      let start = exception + ": "
      return words + ", reason: '\(text.hasPrefix(start) ? String(text.dropFirst(start.count)) : text)'"
    }
  }

  /// A line in the report's header without a member here, in the report's wording and order.
  public struct Field: Sendable, Hashable {
    /// The label.
    public var name: String
    /// The text after the label.
    public var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The kind of event.
  public var kind: Kind
  /// Apple's number for the type of the report, such as "309"; nil if the input has none.
  public var bugType: String?

  /// The name of the process.
  public var processName: String?
  /// The path of its executable.
  public var processPath: String?
  /// CFBundleIdentifier of the program.
  public var bundleID: String?
  /// CFBundleShortVersionString of the program.
  public var version: String?
  /// CFBundleVersion of the program.
  public var build: String?
  /// Whether it was concluded from their forms which of the two is the version and which the build.
  public var isVersionInferred = false
  /// The id of the report.
  public var incident: String?
  /// The id of the device or the installation.
  public var reporterKey: String?
  /// Such as "Foreground".
  public var role: String?
  /// Such as "ARM-64" or "X86-64 (Translated)", spelled as in the report.
  public var codeType: String?
  /// Whether the process ran under Rosetta.
  public var isTranslated = false
  /// The name of the parent process.
  public var parentName: String?
  /// The name of the process on whose behalf this one ran.
  public var responsibleName: String?
  /// The coalition: the jobs of one program.
  public var coalition: String?
  /// Whether the architecture was concluded from the images.
  public var isArchitectureInferred = false
  /// Such as "iPhone OS 15.4 (19E5241a)".
  public var osText: String?
  /// The time of the event as spelled in the report, with the time zone.
  public var captureTime: String?
  /// The start of the process, in the same form.
  public var launchTime: String?
  /// Since when the process may have ended, if the report names a period, which the snapshot's time is the end of.
  public var periodStart: Timestamp?

  /// Such as "EXC_CRASH" or "SIGBUS", spelled as in the report.
  public var exceptionType: String?
  /// Such as "SIGABRT".
  public var exceptionSignal: String?
  /// Such as "KERN_INVALID_ADDRESS at 0x0000000000000010", or "GUARD_TYPE_FD …" for a guard.
  public var exceptionSubtype: String?
  /// The text of the exception.
  public var exceptionMessage: String?
  /// Such as "0x0000000000000001, 0x0000000000000010", or the single code in older reports.
  public var exceptionCodes: String?
  /// Such as "EXC_CORPSE_NOTIFY" or "NON-FATAL CONDITION (this is NOT a crash)".
  public var exceptionNotes: [String] = []
  /// Whether the process kept running.
  public var isNonFatal = false
  /// Whether the report was made for a test.
  public var isSimulated = false
  /// The termination; nil if the report states none.
  public var termination: Termination?

  /// The index of the thread that the report names, in the snapshot's threads. It is not always the
  /// cause: see ``Termination/flags``.
  public var faultingThread: Int?
  /// The number of that thread in the report, if it has another index, or is not listed.
  package var faultingNumber: Int?
  /// Whether the report marks a thread with the word "Crashed".
  public var statesCrash = false
  /// Messages that code left for the report.
  public var messages: [Message] = []
  /// The stack of the uncaught Objective-C exception or Swift error that led to the crash.
  public var lastException: [RecordedFrame] = []
  /// The lines of `ktriageinfo`.
  public var kernelTriage: [String] = []
  /// The memory regions around the address of the fault.
  public var vmRegionInfo: String?
  /// Notes about the report itself, such as "Sampled after exit".
  public var notes: [String] = []
  /// The register far of arm64, or cr2 of x86_64.
  public var faultAddress: UInt64?
  /// The register esr of arm64, or err of x86_64.
  public var syndrome: UInt64?
  /// Such as "(Data Abort) byte read Translation fault".
  public var syndromeText: String?
  /// The bytes of code before the faulting instruction.
  public var codeBefore: [UInt8] = []
  /// The bytes of code from the faulting instruction on.
  public var codeAt: [UInt8] = []
  /// The address that the process meant before bits of it were changed, as the report states it behind "->".
  public var intendedAddress: UInt64?
  /// The conclusion of the program's own crash reporter, such as "Possible zombie in call: -[Cart total]".
  public var diagnosis: String?
  /// The classes of objects that were deallocated and whose addresses were still in registers.
  public var deallocatedObjects: [String] = []
  /// The memory of the process; nil if the report does not state it.
  public var memory: ReportMemory?
  /// Whether the process was ended because it used too much memory.
  public var endedForMemory = false
  /// Whether the process was ended because its main thread was deadlocked.
  public var isDeadlock = false
  /// Whether the crash reporter found that the stack of the thread overflowed.
  public var hasStackOverflow = false
  /// Threads that wait for others, as the report states it.
  public var blockers: [ReportBlocker] = []
  /// The panic of the kernel, or the reset; nil for other reports.
  public var panic: ReportPanic?
  /// The content of a JetsamEvent; nil for other reports.
  public var jetsam: Jetsam?
  /// Lines of the header that have no member here.
  public var fields: [Field] = []

  package init(kind: Kind) { self.kind = kind }
}

/// A stack frame listed in the input, with the names that the input gives.
public struct RecordedFrame: Sendable, Hashable {
  /// The next instruction in the first frame; the return address in its callers.
  public var address: UInt64
  /// The index in the snapshot's modules.
  public var module: Int?
  /// The offset in that module.
  public var moduleOffset: UInt64?
  /// The name as in the input, demangled or not.
  public var function: String?
  /// The offset of `address` in the function, in bytes.
  public var functionOffset: UInt64?
  /// The path of the source file.
  public var file: String?
  /// The line in the source file, from 1 on.
  public var line: UInt32?
  /// Whether this is an inlined call. The next frame is then the function that contains it,
  /// or the next outer inlined call.
  public var isInlined = false

  package init(address: UInt64) { self.address = address }
}
