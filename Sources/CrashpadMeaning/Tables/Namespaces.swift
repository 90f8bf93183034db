// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static func namespace(
    _ number: UInt64?, _ name: String, aliases: [String] = [], _ owner: String, _ event: String,
    causes: [String] = [], advice: [String] = [], myth: String? = nil, _ source: Source = .xnu("bsd/sys/reason.h")
  ) -> CodeMeaning {
    CodeMeaning(
      .namespace, name, number.map { [Number(value: $0, platform: .any)] } ?? [], aliases: aliases, event,
      endedBy: owner, causes: causes, advice: advice, myth: myth, source)
  }

  /// A namespace without a public list of codes.
  private static func unlisted(_ number: UInt64, _ name: String, _ owner: String, _ source: Source) -> CodeMeaning {
    namespace(
      number, name, owner, "The process was ended through \(owner); its codes are not public",
      advice: ["Read the reasons and the indicator of the termination: they are the only explanation."], source)
  }

  /// The subsystems that end processes, with the kernel's numbers.
  static let namespaces: [CodeMeaning] = mainNamespaces + appNamespaces + otherNamespaces + unlistedNamespaces

  private static let mainNamespaces = [
    namespace(
      1, "JETSAM", "the kernel's memory manager (jetsam)", "The kernel ended the process to free memory or a resource",
      causes: ["The process used more memory than its limit.", "The system had too little memory."],
      advice: [
        "Read the JetsamEvent report of that time: a process with a \"reason\" was killed.",
        "Memory is the row's rpages times the report's pageSize.",
      ],
      myth: "A jetsam leaves no crash report but a JetsamEvent report (bug type 298), and \"largestProcess\" is the"
        + " largest process, which need not be the one that was killed."),
    namespace(
      2, "SIGNAL", "the kernel, for a hardware fault or a signal that was sent", "A signal ended the process",
      causes: [
        "A fault of the process: terminating process \"exc handler\".",
        "abort() or raise(): the terminating process is the process itself.",
        "kill() from another process, which the report names.",
      ],
      advice: ["Look at the signal, at the terminating process, and at the exception."]),
    namespace(
      3, "CODESIGNING", "the kernel's code-signing enforcement", "Code whose signature is not valid was to run",
      causes: ["The binary was changed after it was signed.", "Code was made at run time without the entitlement."],
      advice: ["Check with codesign --verify --deep --strict, and install anew."]),
    namespace(
      6, "DYLD", "dyld, the dynamic loader", "The dynamic loader could not start the program, or load a library",
      causes: ["A library or symbol is missing on this system, or has another architecture or version."],
      advice: [
        "Read the reasons: \"Library not loaded\", \"Referenced from\", \"Reason: tried\".",
        "Check the deployment target, weak linking, rpaths, and that frameworks are embedded and signed.",
      ],
      myth: "With \"(terminated at launch; ignore backtrace)\" no stack is to be blamed: it is the loader's own."),
    namespace(
      8, "OBJC", "the Objective-C runtime", "The Objective-C runtime refused to go on",
      advice: ["Read the termination's text.", "Read libobjc's message in the application specific information."]),
    namespace(
      9, "EXEC", "the kernel, while it started the program", "The kernel could not start the program",
      advice: ["Check the binary's architecture, signature and load commands."]),
    namespace(
      23, "GUARD", "the kernel, for a guarded resource", "A guarded resource was misused",
      advice: [
        "A large number in place of a code is the code of EXC_GUARD: crashpadctl explain GUARD NUMBER decodes it."
      ],
      myth: "The large decimal number is no reason of its own: its bits are type, flavor and target of EXC_GUARD."),
    namespace(
      28, "PAC_EXCEPTION", "the kernel, for a pointer that failed its authentication",
      "A signed pointer was changed, and the process is one that must not go on after that",
      causes: ["Memory was overwritten, or a function pointer was called through another type."],
      advice: ["Look at the exception's codes and at the registers; build with Address Sanitizer."],
      .xnu("osfmk/kern/exception.c, pac_exception_triage")),
    namespace(
      nil, "MTE_FAIL", "the kernel, for a memory tag that did not match",
      "The hardware's memory tagging found an access through a pointer with another tag than the memory",
      causes: ["Use of memory after it was freed.", "An access beyond the bounds of an allocation."],
      advice: ["Look at the crashed thread's stack; build with Address Sanitizer to find who freed it."],
      .reports("the kernel sources that are public do not have it")),
  ]

  private static let appNamespaces = [
    namespace(
      10, "SPRINGBOARD", aliases: ["FRONTBOARD"], "SpringBoard or FrontBoard, the system's shell",
      "The system's shell ended the application",
      causes: ["A watchdog: 0x8badf00d.", "A requirement of background work was not met."],
      advice: ["Read the code and the text of the termination."],
      myth: "FRONTBOARD in reports of iOS 15 and later has the same number, 10, as the kernel's SPRINGBOARD."),
    namespace(
      nil, "CAROUSEL", "Carousel, the shell of watchOS", "The shell of watchOS ended the application",
      causes: ["A watchdog, or a background task that took too long."],
      advice: ["Read the code and the text of the termination."], .reports("the kernel's list does not have it")),
    namespace(
      15, "RUNNINGBOARD", aliases: ["ASSERTIOND"], "RunningBoard, which manages the life of processes",
      "RunningBoard ended the process",
      causes: ["A rule of background work: 0xdead10cc, 0x8badf00d, 0x2182bad2.", "Another process asked for it."],
      advice: ["Read the code and the text of the termination."],
      myth: "ASSERTIOND is the old name of the same namespace."),
    namespace(
      4, "HANGTRACER", "hangtracerd, which measures hangs", "The process was ended because it did not respond",
      advice: ["Read the main thread's stack."]),
    namespace(
      11, "TCC", "tccd, which guards private data", "The process used private data without being allowed to",
      causes: ["Info.plist has no usage description for what was used (camera, contacts, location, …)."],
      advice: ["Add the key that the termination's text names, with a sentence that says what the data is for."],
      .xnu("bsd/sys/reason.h; causes seen in reports")),
    namespace(
      20, "WATCHDOG", "watchdogd, which watches system daemons", "A system daemon did not check in with watchdogd",
      causes: ["The daemon, or one that it waits for, hung.", "The whole system stalled."],
      advice: ["Read the stacks of the daemon; look for a stackshot of that time."]),
  ]

  private static let otherNamespaces = [
    namespace(
      0, "INVALID", "not known", "No namespace was given",
      advice: ["Collect the whole report: this is not a value that a termination should have."]),
    namespace(
      5, "TEST", "a test of the kernel", "A test ended the process",
      advice: ["Nothing: this is not seen outside tests."]),
    namespace(
      7, "LIBXPC", "libxpc", "libxpc ended the process; its codes are not public",
      causes: ["The API of XPC was misused, or a service's configuration is wrong."],
      advice: ["Read the reasons.", "Read the application specific information of libxpc."]),
    namespace(
      12, "REPORTCRASH", "ReportCrash", "The crash reporter ended the process; its codes are not public",
      advice: ["Read the reasons and the indicator of the termination."]),
    namespace(
      18, "LIBSYSTEM", "libSystem", "The system's C library ended the process",
      causes: ["The API was misused: a corrupted lock, a fork in a program with threads, a bad file descriptor."],
      advice: ["Read the termination's text, and the stack of the crashed thread."]),
    namespace(
      25, "SANDBOX", "the sandbox", "The sandbox ended the process for what it tried to do",
      advice: ["Look for the violation in the system's log at that time: it names the operation and the path."]),
    namespace(
      26, "SECURITY", "a security framework", "A security framework ended the process; its codes are not public",
      advice: ["Read the reasons, and the system's log of that time."]),
    namespace(
      30, "PORT_SPACE", "the kernel, for Mach ports", "The process used up its space of Mach ports",
      causes: ["Ports or XPC connections leak."],
      advice: ["Count ports with lsmp; look for connections that are made and not cancelled."]),
    namespace(
      31, "WEBKIT", "WebKit", "WebKit ended one of its processes; its codes are not public",
      advice: ["Read the reasons; the page's process may have used too much memory."]),
    namespace(
      42, "SELF_RESTRICT", "the process itself", "The process ended itself by a restriction that it had set",
      advice: ["Read the reasons and the indicator of the termination."]),
  ]

  private static let unlistedNamespaces: [CodeMeaning] = {
    let kernel: [(UInt64, String, String)] = [
      (13, "COREANIMATION", "Core Animation"), (14, "AGGREGATED", "aggregated, a statistics daemon"),
      (16, "SKYWALK", "Skywalk, the kernel's networking"), (17, "SETTINGS", "Settings"),
      (19, "FOUNDATION", "Foundation"),
      (21, "METAL", "Metal"), (22, "WATCHKIT", "WatchKit"), (24, "ANALYTICS", "the analytics system"),
      (27, "ENDPOINTSECURITY", "Endpoint Security"), (29, "BLUETOOTH_CHIP", "the Bluetooth firmware"),
      (32, "BACKLIGHTSERVICES", "the backlight service"), (33, "MEDIA", "a media framework"),
      (34, "ROSETTA", "Rosetta"),
      (35, "LIBIGNITION", "libignition, which starts the system"), (36, "BOOTMOUNT", "the mounting at start-up"),
      (38, "REALITYKIT", "RealityKit"), (39, "AUDIO", "the audio system"), (40, "WAKEBOARD", "WakeBoard"),
      (41, "CORERC", "CoreRC, remote controls"), (43, "ARKIT", "ARKit"),
    ]
    let sdk: [(UInt64, String, String)] = [
      (44, "CAMERA", "the camera system"), (45, "BACKBOARD", "BackBoard"), (46, "POWEREXCEPTIONS", "power management"),
      (47, "SECINIT", "secinitd, which sets up sandboxes"),
    ]
    return kernel.map { unlisted($0.0, $0.1, $0.2, .xnu("bsd/sys/reason.h")) }
      + sdk.map { unlisted($0.0, $0.1, $0.2, .file("Apple", "headers of an SDK")) }
  }()
}
