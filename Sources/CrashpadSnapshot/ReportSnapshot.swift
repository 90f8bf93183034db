/// The facts in a crash report other than threads, modules and registers: the identity of the process, the reason for
/// its end, and notes of the system. Memory dumps have none of these.
///
/// It is filled from Apple's `.ips` and `.crash` reports, MetricKit's diagnostics, and the reports of KSCrash and
/// swift-backtrace. Text is decoded already: every ill-formed sequence in the input became one U+FFFD.
package struct ReportSnapshot: Sendable {
  /// The kind of event in the report.
  package enum Kind: String, Sendable, CaseIterable {
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
  }

  /// The termination of the process, as in the kernel's `os_reason`.
  package struct Termination: Sendable, Hashable {
    /// Such as "SPRINGBOARD", spelled as in the report.
    package var namespace: String?
    package var code: UInt64?
    /// The OS_REASON_FLAG_* bits in XNU's bsd/sys/reason.h.
    package var flags: UInt64?
    /// Such as "Segmentation fault: 11".
    package var indicator: String?
    /// Lines in the report's order, such as dyld's "Library not loaded: …" or the description of a watchdog.
    package var reasons: [String] = []
    package var details: [String] = []
    package var byProcess: String?
    package var byProcessID: Int64?

    package init() {}
  }

  /// One process in a JetsamEvent.
  package struct JetsamProcess: Sendable {
    package var name: String
    package var processID: Int64?
    package var uuid: UUIDBytes?
    /// Such as "frontmost" or "suspended".
    package var states: [String] = []
    package var priority: Int64?
    /// The number of resident pages, each of `Jetsam.pageSize` bytes.
    package var residentPages: UInt64?
    package var lifetimeMaximumPages: UInt64?
    /// Such as "per-process-limit"; only for a process that was killed.
    package var reason: String?

    package init(name: String) { self.name = name }
  }

  package struct Jetsam: Sendable {
    /// The size of a page in bytes.
    package var pageSize: UInt64?
    package var freePages: UInt64?
    package var largestProcess: String?
    package var processes: [JetsamProcess] = []

    package init() {}
  }

  /// Messages that the code in one image left for the report (`asi`).
  package struct Message: Sendable, Hashable {
    /// Such as "libswiftCore.dylib"; nil for `.crash` texts, which do not state it.
    package var image: String?
    package var text: String

    package init(image: String?, text: String) {
      self.image = image
      self.text = text
    }
  }

  /// A line in the report's header without a member here, in the report's wording and order.
  package struct Field: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package var kind: Kind
  /// Apple's number for the type of the report, such as "309"; nil if the input has none.
  package var bugType: String?

  package var processName: String?
  package var processPath: String?
  package var bundleID: String?
  /// CFBundleShortVersionString and CFBundleVersion.
  package var version: String?
  package var build: String?
  package var incident: String?
  package var reporterKey: String?
  /// Such as "Foreground".
  package var role: String?
  /// Such as "ARM-64" or "X86-64 (Translated)", spelled as in the report.
  package var codeType: String?
  /// Whether the process ran under Rosetta.
  package var isTranslated = false
  package var parentName: String?
  package var responsibleName: String?
  package var coalition: String?
  /// Such as "iPhone OS 15.4 (19E5241a)".
  package var osText: String?
  /// The times as spelled in the report, with the time zone.
  package var captureTime: String?
  package var launchTime: String?
  /// Since when the process may have ended, if the report names a period, which the snapshot's time is the end of.
  package var periodStart: Timestamp?

  /// Such as "EXC_CRASH" or "SIGBUS", spelled as in the report.
  package var exceptionType: String?
  /// Such as "SIGABRT".
  package var exceptionSignal: String?
  /// Such as "KERN_INVALID_ADDRESS at 0x0000000000000010", or "GUARD_TYPE_FD …" for a guard.
  package var exceptionSubtype: String?
  package var exceptionMessage: String?
  /// Such as "0x0000000000000001, 0x0000000000000010", or the single code in older reports.
  package var exceptionCodes: String?
  /// Such as "EXC_CORPSE_NOTIFY" or "NON-FATAL CONDITION (this is NOT a crash)".
  package var exceptionNotes: [String] = []
  /// Whether the process kept running.
  package var isNonFatal = false
  package var isSimulated = false
  package var termination: Termination?

  /// The index of the thread that the report names, in the snapshot's threads. It is not always the
  /// cause: see `termination.flags`.
  package var faultingThread: Int?
  package var messages: [Message] = []
  /// The stack of the uncaught Objective-C exception or Swift error that led to the crash.
  package var lastException: [RecordedFrame] = []
  /// The lines of `ktriageinfo`.
  package var kernelTriage: [String] = []
  package var vmRegionInfo: String?
  /// Notes about the report itself, such as "Sampled after exit".
  package var notes: [String] = []
  /// The registers far and esr of arm64, or cr2, err and trap of x86_64.
  package var faultAddress: UInt64?
  package var syndrome: UInt64?
  /// Such as "(Data Abort) byte read Translation fault".
  package var syndromeText: String?
  /// The code before the faulting instruction, and from it on.
  package var codeBefore: [UInt8] = []
  package var codeAt: [UInt8] = []
  package var jetsam: Jetsam?
  package var fields: [Field] = []

  package init(kind: Kind) { self.kind = kind }
}

/// A stack frame listed in the input, with the names that the input gives.
package struct RecordedFrame: Sendable, Hashable {
  /// The next instruction in the first frame; the return address in its callers.
  package var address: UInt64
  /// The index in the snapshot's modules, and the offset in that module.
  package var module: Int?
  package var moduleOffset: UInt64?
  /// The name as in the input, demangled or not.
  package var function: String?
  /// The offset of `address` in the function, in bytes.
  package var functionOffset: UInt64?
  package var file: String?
  package var line: UInt32?
  /// Whether this is an inlined call. The next frame is then the function that contains it,
  /// or the next outer inlined call.
  package var isInlined = false

  package init(address: UInt64) { self.address = address }
}

extension ModuleSnapshot {
  /// Whether this is the pseudo image at 0, without size and UUID, under which Apple's reports
  /// list addresses outside all images.
  package var isAbsolute: Bool { address == 0 && size == 0 && identity == nil }
}

extension ProcessSnapshot {
  /// The index in `threads` of the thread that crashed; nil if none crashed or the list does not contain it.
  package var crashedThread: Int? {
    if let index = report?.faultingThread { return threads.indices.contains(index) ? index : nil }
    return exception.flatMap { exception in threads.firstIndex { $0.id == exception.threadID } }
  }
}
