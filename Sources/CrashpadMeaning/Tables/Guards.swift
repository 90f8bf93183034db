// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private typealias Flavor = (number: UInt64, name: String, event: String)

  private static func guarded(
    _ type: UInt64, _ name: String, _ event: String, causes: [String], advice: [String], myth: String? = nil,
    _ source: Source, flavors: [Flavor] = []
  ) -> [CodeMeaning] {
    [
      CodeMeaning(
        .guardViolation, of: "EXC_GUARD", name, [Number(value: type, platform: .any)], aliases: ["GUARD_TYPE_\(name)"],
        event, causes: causes, advice: advice, myth: myth, .xnu("osfmk/kern/exc_guard.h"))
    ]
      + flavors.map { flavor in
        CodeMeaning(
          .guardViolation, of: "EXC_GUARD \(name)", flavor.name, [Number(value: flavor.number, platform: .any)],
          aliases: ["KGUARD_EXC_\(flavor.name)"], flavor.event, source)
      }
  }

  /// The objects that EXC_GUARD guards, each with its flavors. The flavors of FD and VN
  /// are bits, the others are numbers.
  static let guards: [CodeMeaning] =
    guarded(
      1, "MACH_PORT", "a Mach port was misused",
      causes: [
        "A port's name was used after the port was given back.", "Rights are counted wrongly.",
        "Threads use a port without synchronization.",
      ],
      advice: [
        "Look at the crashed thread: it stands where the port was misused, which may be after the error.",
        "Where a port's name or a count of rights is wrong: set it to MACH_PORT_NULL after giving it back.",
      ],
      myth: "The flavor is a number and not a set of bits. Flavors from INVALID_RIGHT (0x100) on end the process only"
        + " where it is hardened, and those from 0x100000 on never do.",
      .xnu("osfmk/mach/port.h and doc/mach_ipc/guard_exceptions.md"), flavors: portFlavors)
    + guarded(
      2, "FD", "a guarded file descriptor was misused",
      causes: ["A descriptor was closed twice: in between, its number was given to a library that guards it."],
      advice: [
        "Find who closes the descriptor a second time; the crashed thread stands there.",
        "Set variables that hold descriptors to -1 after close; keep one owner for each.",
      ], .xnu("bsd/sys/guarded.h"), flavors: descriptorFlavors)
    + guarded(
      3, "USER", "a library reported a violation of its own rules",
      causes: ["A check of a system library failed, which goes on without ending the process."],
      advice: ["The target is the namespace, and the second code the reason within it."],
      .xnu("osfmk/kern/exc_guard.h"))
    + guarded(
      4, "VN", "a guarded file was changed",
      causes: ["An SQLite database, or another guarded file, was deleted, renamed or rewritten while it is open."],
      advice: ["Close a database before its files are deleted or replaced."], .xnu("bsd/sys/guarded.h"),
      flavors: fileFlavors)
    + guarded(
      5, "VIRT_MEMORY", "an operation on virtual memory violated a guard",
      causes: ["Memory that was never mapped was given back.", "A range that a security policy protects was used."],
      advice: ["Check addresses and sizes that are given to munmap and vm_deallocate."],
      .xnu("osfmk/mach/vm_statistics.h"), flavors: memoryFlavors)
    + guarded(
      6, "REJECTED_SC", "a system call or Mach trap was rejected by the process's filter",
      causes: ["The sandbox of the process does not have the call."],
      advice: ["The target is the Mach trap; if it is 0, the second code is the system call."],
      .xnu("osfmk/kern/exc_guard.h"))

  private static let portFlavors: [Flavor] = [
    (1, "DESTROY", "a guarded receive right was destroyed without its guard"),
    (2, "MOD_REFS", "the last send right of a pinned port was given back (ReportCrash: OVER_DEALLOC)"),
    (3, "INVALID_OPTIONS", "the options of a mach_msg call are not allowed"),
    (4, "SET_CONTEXT", "the context of a strictly guarded port was changed"),
    (5, "THREAD_SET_STATE", "the state of a thread was set where that is not allowed"),
    (6, "EXCEPTION_BEHAVIOR_ENFORCE", "an exception port was set with a behavior that is not allowed"),
    (7, "SERVICE_PORT_VIOLATION_FATAL", "the port of a service was misused"),
    (8, "UNGUARDED", "a port that is not guarded was used as a guarded one"),
    (16, "INCORRECT_GUARD", "a guarded port was used with another guard"),
    (32, "IMMOVABLE", "a right that must not be moved was moved (ReportCrash: ILLEGAL_MOVE)"),
    (64, "STRICT_REPLY", "the rules of reply ports were violated"),
    (128, "MSG_FILTERED", "a message was sent that the sandbox forbids"),
    (256, "INVALID_RIGHT", "a port was used for which the process has another right"),
    (512, "INVALID_NAME", "a port's name was used for which the process has no right"),
    (1 << 10, "INVALID_VALUE", "a count of rights would overflow, or an argument is invalid"),
    (1 << 11, "INVALID_ARGUMENT", "a port that is guarded already was to be guarded"),
    (1 << 12, "RIGHT_EXISTS", "a right exists already; current kernels do not send this"),
    (1 << 13, "KERN_NO_SPACE", "there is no space for a right; current kernels do not send this"),
    (1 << 14, "KERN_FAILURE", "a notification was asked for that is not allowed"),
    (1 << 15, "KERN_RESOURCE", "the kernel had too few resources; current kernels do not send this"),
    (1 << 16, "SEND_INVALID_REPLY", "a message was sent with an invalid reply port"),
    (1 << 17, "SEND_INVALID_VOUCHER", "a message was sent with an invalid voucher"),
    (1 << 18, "SEND_INVALID_RIGHT", "a message was sent with an invalid right in it"),
    (1 << 19, "RCV_INVALID_NAME", "a message was to be received from a name without a receive right"),
    (1 << 20, "RCV_GUARDED_DESC", "a guarded descriptor was received; not fatal"),
    (0x100001, "SERVICE_PORT_VIOLATION_NON_FATAL", "the port of a service was misused; not fatal"),
    (0x100002, "PROVISIONAL_REPLY_PORT", "a provisional reply port was used; not fatal"),
    (1 << 21, "MOD_REFS_NON_FATAL", "the last send right of a pinned port was given back; not fatal"),
    (1 << 22, "IMMOVABLE_NON_FATAL", "a right that must not be moved was moved; not fatal"),
    (1 << 23, "REQUIRE_REPLY_PORT_SEMANTICS", "a reply port of the new kind is required; not fatal"),
  ]

  private static let descriptorFlavors: [Flavor] = [
    (1, "CLOSE", "a guarded descriptor was closed"), (2, "DUP", "a guarded descriptor was duplicated"),
    (4, "NOCLOEXEC", "close-on-exec was taken off a guarded descriptor"),
    (8, "SOCKET_IPC", "a guarded descriptor was sent through a socket"),
    (16, "FILEPORT", "a port was made of a guarded descriptor"),
    (32, "MISMATCH", "a guarded descriptor was used with another guard"),
    (64, "WRITE", "a guarded descriptor was written to"),
  ]

  private static let fileFlavors: [Flavor] = [
    (1, "RENAME_TO", "another file was renamed to the guarded one"), (2, "RENAME_FROM", "the guarded file was renamed"),
    (4, "UNLINK", "the guarded file was deleted"), (8, "WRITE_OTHER", "another process or descriptor wrote to it"),
    (16, "TRUNC_OTHER", "another process or descriptor truncated it"), (32, "LINK", "a hard link to it was made"),
    (64, "EXCHDATA", "its data was exchanged with another file's"),
  ]

  private static let memoryFlavors: [Flavor] = [
    (1, "DEALLOC_GAP", "a range with a gap in it was given back"),
    (2, "RECLAIM_COPYIO_FAILURE", "the buffer of deferred reclamation could not be read"),
    (3, "SEC_LOOKUP_DENIED", "a look-up of memory was denied by policy"),
    (4, "RECLAIM_INDEX_FAILURE", "an index of deferred reclamation is wrong"),
    (6, "SEC_RANGE_DENIED", "a range was denied by policy"), (7, "SEC_ACCESS_FAULT", "an access was denied by policy"),
    (8, "RECLAIM_DEALLOCATE_FAILURE", "deferred reclamation could not give memory back"),
    (16, "SEC_COPY_DENIED", "a copy of memory was denied by policy"),
    (32, "SEC_SHARING_DENIED", "sharing memory was denied by policy"),
    (64, "SEC_ASYNC_ACCESS_FAULT", "an access was denied by policy, noticed later"),
  ]
}
