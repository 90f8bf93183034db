// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static func code(
    _ namespace: String, _ number: UInt64, _ name: String, _ event: String, causes: [String] = [],
    advice: [String] = [], myth: String? = nil, _ source: Source
  ) -> CodeMeaning {
    CodeMeaning(
      .namespaceCode, of: namespace, name, [Number(value: number, platform: .any)], event, causes: causes,
      advice: advice, myth: myth, source)
  }

  /// Codes that have a meaning only in one namespace.
  static let namespaceCodes: [CodeMeaning] =
    jetsamCodes + dyldCodes + codeSigningCodes + execCodes + smallNamespaceCodes

  private static let jetsamCodes: [CodeMeaning] = {
    let source = Source.xnu("bsd/sys/kern_memorystatus.h")
    func code(_ number: UInt64, _ name: String, _ event: String, causes: [String] = [], advice: [String] = [])
      -> CodeMeaning
    { Self.code("JETSAM", number, name, event, causes: causes, advice: advice, source) }
    let own = ["The process is not to blame for this by itself; less memory in the background makes it less likely."]
    return [
      code(1, "jettisoned", "The process was ended to free memory, without a closer reason", advice: own),
      code(
        2, "highwater", "A process in the background used more memory than its high-water mark",
        causes: ["The process keeps in the background what it needs in the foreground alone."],
        advice: ["Free caches, images and views on entry into the background."]),
      code(3, "vnode-limit", "The system ran out of vnodes: too many files were open in all", advice: own),
      code(4, "vm-pageshortage", "The system had too few free pages", advice: own),
      code(5, "proc-thrashing", "The system was thrashing, and ended processes to stop it", advice: own),
      code(6, "fc-thrashing", "The cache of files was thrashing", advice: own),
      code(
        7, "per-process-limit", "The process used more memory than the limit for each process",
        causes: ["A leak, or more held at once than fits: images, web views, large files read whole."],
        advice: [
          "Compare rpages times pageSize in the JetsamEvent report with the device's limit.",
          "Find the growth with Instruments (Allocations, VM Tracker) or a memory graph.",
        ]),
      code(8, "disk-space-shortage", "The disk had too little space left", advice: own),
      code(
        9, "idle-exit", "A process that was idle, and had declared that it may be ended, was ended",
        advice: ["Nothing: this is ordinary."]),
      code(
        10, "zone-map-exhaustion", "The kernel's own memory, its zones, was nearly used up",
        causes: ["A leak of kernel objects."],
        advice: [
          "Look in the JetsamEvent report at largestZone, and at the process with most ports, files and mappings."
        ]),
      code(11, "vm-compressor-thrashing", "The memory compressor was thrashing", advice: own),
      code(12, "vm-compressor-space-shortage", "The memory compressor had no space left", advice: own),
      code(13, "low-swap", "Swap space was running out", advice: own),
      code(14, "sustained-memory-pressure", "Memory pressure went on for too long", advice: own),
      code(15, "vm-pageout-starvation", "The kernel could not write pages out fast enough", advice: own),
      code(
        17, "long-idle-exit", "A process that had been idle for long was ended", advice: ["Nothing: this is ordinary."]),
      code(
        100, "cpu-limit", "The process used more CPU than its limit",
        causes: ["Computing in the background for too long."],
        advice: ["Look for a report of the kind cpu_resource of that time."]),
    ]
  }()

  private static let dyldCodes: [CodeMeaning] = {
    let source = Source.file("Apple", "dyld, include/mach-o/dyld_priv.h")
    func code(_ number: UInt64, _ name: String, _ event: String, causes: [String] = [], advice: [String] = [])
      -> CodeMeaning
    { Self.code("DYLD", number, name, event, causes: causes, advice: advice, source) }
    return [
      code(
        1, "library missing", "A library that the program needs was not found",
        causes: [
          "A framework is linked and not embedded in the app.", "The rpath does not lead to it.",
          "It is not on this version of the system, and is not linked weakly.",
        ],
        advice: ["Read \"Library not loaded\" and \"tried\" in the reasons: each path with why it failed."]),
      code(
        2, "wrong architecture", "A library was found, but not for this architecture",
        advice: ["Compare lipo -archs of the library and of the program."]),
      code(
        3, "wrong version", "A library was found, but is older than the program needs",
        advice: ["Compare the compatibility versions with otool -L."]),
      code(
        4, "symbol missing", "A symbol that the program needs is not in the library that was loaded",
        causes: ["The library on this system is older than the one that the program was linked with."],
        advice: ["Read \"Symbol not found\" in the reasons; raise the deployment target, or check availability."]),
      code(
        5, "code signature", "A library has no valid signature, or one of another team",
        advice: ["Sign embedded frameworks with the app's identity; see library validation."]),
      code(
        6, "file-system sandbox", "The sandbox forbids to load the library",
        advice: ["Move the library into the app's bundle."]),
      code(7, "malformed Mach-O", "A library is damaged or not well formed", advice: ["Install or build it anew."]),
      code(
        9, "other", "The loader failed for another reason",
        advice: [
          "Read the reasons. \"DYLD_ROOT_PATH not set for simulator program\": the program was built for a simulator, and"
            + " started outside of one."
        ]),
    ]
  }()

  private static let codeSigningCodes: [CodeMeaning] = {
    let source = Source.xnu("bsd/sys/reason.h")
    return [
      code("CODESIGNING", 1, "TASKGATED_INVALID_SIG", "The program's signature was refused at its start", source),
      code(
        "CODESIGNING", 2, "INVALID_PAGE", "A page of code did not match its signature when it was used",
        causes: [
          "The file was changed or replaced while it ran.", "The page was written to, or made executable by itself.",
          "The disk or memory is damaged.",
        ],
        advice: [
          "Replace binaries by a new file (a rename), never in place.", "Look at ktriageinfo and the VM region.",
        ],
        source),
      code(
        "CODESIGNING", 3, "TASK_ACCESS_PORT", "The check of the right to access the task failed", source),
      code(
        "CODESIGNING", 4, "LAUNCH_CONSTRAINT_VIOLATION",
        "The program was started in a way that its launch constraint forbids",
        causes: ["A part of an app or of the system was copied, and started from elsewhere or by another process."],
        advice: ["Start the program from where it is installed."], source),
    ]
  }()

  private static let execCodes: [CodeMeaning] = {
    let rows: [(UInt64, String, String)] = [
      (1, "BAD_MACHO", "The program's file is not a well-formed Mach-O file"),
      (2, "SUGID_FAILURE", "The set-user-id or set-group-id of the program could not be applied"),
      (3, "ACTV_THREADSTATE", "The first thread's state could not be set"),
      (4, "STACK_ALLOC", "The stack could not be allocated"),
      (5, "APPLE_STRING_INIT", "The kernel's strings for the program could not be made"),
      (6, "COPYOUT_STRINGS", "Arguments and environment could not be copied to the program"),
      (7, "COPYOUT_DYNLINKER", "The loader's argument could not be copied to the program"),
      (8, "SECURITY_POLICY", "A security policy forbids the program"),
      (9, "TASKGATED_OTHER", "taskgated, which checks rights, failed"),
      (10, "FAIRPLAY_DECRYPT", "The program is encrypted for another account or device, or could not be decrypted"),
      (11, "DECRYPT", "The program could not be decrypted"),
      (12, "UPX", "The program is packed with UPX, which is refused"),
      (13, "NO32EXEC", "The program is a 32-bit one, which this system does not run"),
      (14, "WRONG_PLATFORM", "The program is for another platform"),
      (15, "MAIN_FD_ALLOC", "The descriptor of the program's file could not be allocated"),
      (16, "COPYOUT_ROSETTA", "Rosetta's data could not be copied to the program"),
      (17, "SET_DYLD_INFO", "The loader's information could not be set"),
      (18, "MACHINE_THREAD", "The first thread could not be made for this processor"),
      (19, "BAD_PSATTR", "The attributes of posix_spawn are wrong"),
      (21, "MAP_EXEC_FAILURE", "The program could not be mapped as executable"),
    ]
    return rows.map { code("EXEC", $0.0, $0.1, $0.2, .xnu("bsd/sys/reason.h")) }
  }()

  private static let smallNamespaceCodes: [CodeMeaning] = [
    code(
      "OBJC", 1, "unspecified", "The Objective-C runtime ended the process", .file("Apple", "objc4, objc-internal.h")),
    code(
      "OBJC", 2, "GC not supported", "The program needs Objective-C's garbage collector, which no longer exists",
      advice: ["Build the program with ARC."], .file("Apple", "objc4, objc-internal.h")),
    code(
      "OBJC", 3, "class_ro signing required", "A class has data that is not signed, where the process demands it",
      causes: ["The code was built with tools that are too old for this system."],
      advice: ["Build it with current tools."],
      .file("Apple", "objc4, objc-internal.h")),
    code(
      "LIBXPC", 4, "XPC_EXIT_REASON_SIGTERM_TIMEOUT",
      "The process was asked to end by SIGTERM, and had not ended in time",
      causes: ["A handler of SIGTERM that waits, or work that is not stopped.", "A service that was busy or blocked."],
      advice: ["Look at what the main thread waited for; end on SIGTERM, or be idle when asked."],
      .apple("XPC_EXIT_REASON_SIGTERM_TIMEOUT, the indicator in reports")),
    code("GUARD", 1, "VNODE", "A guarded file was changed in a way that is forbidden", .xnu("bsd/sys/reason.h")),
    code("GUARD", 2, "VIRT_MEMORY", "Virtual memory was used against its guard", .xnu("bsd/sys/reason.h")),
    code("GUARD", 3, "MACH_PORT", "A Mach port was misused", .xnu("bsd/sys/reason.h")),
    code("GUARD", 4, "EXCLAVES", "A rule of exclaves was violated", .xnu("bsd/sys/reason.h")),
    code("GUARD", 5, "JIT", "A rule of just-in-time compilers was violated", .xnu("bsd/sys/reason.h")),
    code(
      "TCC", 0, "usage description missing",
      "The process used private data, and its Info.plist has no usage description",
      advice: [
        "Add the key that the termination's text names.",
        "Each kind of private data needs its key in Info.plist, such as NSCameraUsageDescription.",
      ],
      .reports("the text of the termination names the key")),
    code(
      "MTE_FAIL", 0x106, "tag check failed", "The tag of a pointer and that of the memory differ",
      .reports("as EXC_ARM_MTE_TAGCHECK_FAIL")),
    code(
      "MTE_FAIL", 57, "invalid guard object slot", "An access hit a guard object between allocations",
      causes: ["An access beyond the bounds of an allocation."], .reports("as KERN_INVALID_GUARD_OBJECT_SLOT")),
  ]
}
