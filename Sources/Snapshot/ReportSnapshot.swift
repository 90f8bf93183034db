/// What a crash report says beside threads, modules and registers: who the process was, what ended it, and what the system
/// noted. Dumps of memory have none of it.
///
/// Apple's `.ips` and `.crash` reports, MetricKit's diagnostics and the reports of KSCrash and swift-backtrace fill it. Text
/// is decoded already: every ill-formed part of the input became one U+FFFD.
package struct ReportSnapshot: Sendable {
  /// What kind of event the report is of.
  package enum Kind: String, Sendable, CaseIterable {
    case crash
    /// A fault of a system service that went on running (bug type 308).
    case osFault = "os-fault"
    /// More CPU, memory, wakeups, writes or threads than the system allows; often the process went on.
    case resource
    case hang
    /// The system ran short of memory; a list of processes.
    case jetsam
    /// The stacks of every process; no crash.
    case stackshot
  }

  /// Who ended the process, as the kernel's `os_reason` has it.
  package struct Termination: Sendable, Hashable {
    /// "SPRINGBOARD"; as the report spells it.
    package var namespace: String?
    package var code: UInt64?
    /// OS_REASON_FLAG_* of XNU's bsd/sys/reason.h.
    package var flags: UInt64?
    /// "Segmentation fault: 11"
    package var indicator: String?
    /// Lines, in the report's order: dyld's "Library not loaded: …", the description of a watchdog.
    package var reasons: [String] = []
    package var details: [String] = []
    package var byProcess: String?
    package var byProcessID: Int64?

    package init() {}
  }

  /// One process of a JetsamEvent.
  package struct JetsamProcess: Sendable {
    package var name: String
    package var processID: Int64?
    package var uuid: UUIDBytes?
    /// "frontmost", "suspended" …
    package var states: [String] = []
    package var priority: Int64?
    /// Resident pages, of `Jetsam.pageSize` bytes each.
    package var residentPages: UInt64?
    package var lifetimeMaximumPages: UInt64?
    /// "per-process-limit"; only of a process that was killed.
    package var reason: String?

    package init(name: String) { self.name = name }
  }

  package struct Jetsam: Sendable {
    /// Bytes.
    package var pageSize: UInt64?
    package var freePages: UInt64?
    package var largestProcess: String?
    package var processes: [JetsamProcess] = []

    package init() {}
  }

  /// Messages that the code of one image left for the report (`asi`).
  package struct Message: Sendable, Hashable {
    /// "libswiftCore.dylib"; nil in `.crash` texts, which do not say it.
    package var image: String?
    package var text: String

    package init(image: String?, text: String) {
      self.image = image
      self.text = text
    }
  }

  /// A line of the report's head that has no member here, in the report's own words and order.
  package struct Field: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package var kind: Kind
  /// Apple's number of the report's type, "309"; nil where the input has none.
  package var bugType: String?

  package var processName: String?
  package var processPath: String?
  package var bundleID: String?
  /// CFBundleShortVersionString and CFBundleVersion.
  package var version: String?
  package var build: String?
  package var incident: String?
  package var reporterKey: String?
  /// "Foreground"
  package var role: String?
  /// "ARM-64", "X86-64 (Translated)"; as the report spells it.
  package var codeType: String?
  /// Whether Rosetta ran it.
  package var isTranslated = false
  package var parentName: String?
  package var responsibleName: String?
  package var coalition: String?
  /// "iPhone OS 15.4 (19E5241a)"
  package var osText: String?
  /// As the report spells them, with the time zone.
  package var captureTime: String?
  package var launchTime: String?

  /// "EXC_CRASH", "SIGBUS"; as the report spells it.
  package var exceptionType: String?
  /// "SIGABRT"
  package var exceptionSignal: String?
  /// "KERN_INVALID_ADDRESS at 0x0000000000000010", a guard's "GUARD_TYPE_FD …"
  package var exceptionSubtype: String?
  package var exceptionMessage: String?
  /// "0x0000000000000001, 0x0000000000000010", or the older reports' single code.
  package var exceptionCodes: String?
  /// "EXC_CORPSE_NOTIFY", "NON-FATAL CONDITION (this is NOT a crash)"
  package var exceptionNotes: [String] = []
  /// The process went on.
  package var isNonFatal = false
  package var isSimulated = false
  package var termination: Termination?

  /// Index of the thread that the report names, in the snapshot's threads. Not always a culprit: see `termination.flags`.
  package var faultingThread: Int?
  package var messages: [Message] = []
  /// The stack of the uncaught Objective-C exception or Swift error that led to the crash.
  package var lastException: [RecordedFrame] = []
  /// Lines of `ktriageinfo`.
  package var kernelTriage: [String] = []
  package var vmRegionInfo: String?
  /// What the reporter says of the report itself, "Sampled after exit".
  package var notes: [String] = []
  /// The far and esr registers of arm64, cr2, err and trap of x86_64.
  package var faultAddress: UInt64?
  package var syndrome: UInt64?
  /// "(Data Abort) byte read Translation fault"
  package var syndromeText: String?
  /// Code before the instruction that faulted and from it on.
  package var codeBefore: [UInt8] = []
  package var codeAt: [UInt8] = []
  package var jetsam: Jetsam?
  package var fields: [Field] = []

  package init(kind: Kind) { self.kind = kind }
}

/// A frame of a stack that the input lists, with what the input names there.
package struct RecordedFrame: Sendable, Hashable {
  /// Of the first frame the next instruction, of a caller the one behind its call.
  package var address: UInt64
  /// Index in the snapshot's modules, and the offset in that module.
  package var module: Int?
  package var moduleOffset: UInt64?
  /// As the input has it, demangled or not.
  package var function: String?
  /// Bytes from the function's start to `address`.
  package var functionOffset: UInt64?
  package var file: String?
  package var line: UInt32?
  /// An inlined call: the next frame is the function that it was compiled into, or the next outer inlined call.
  package var isInlined = false

  package init(address: UInt64) { self.address = address }
}

extension ModuleSnapshot {
  /// Apple's reports list addresses in no image as those of an image at 0, without a size or a UUID.
  package var isAbsolute: Bool { address == 0 && size == 0 && identity == nil }
}

extension ProcessSnapshot {
  /// Index of the thread that crashed in `threads`; nil if none did or the list lacks it.
  package var crashedThread: Int? {
    if let index = report?.faultingThread { return threads.indices.contains(index) ? index : nil }
    return exception.flatMap { exception in threads.firstIndex { $0.id == exception.threadID } }
  }
}
