// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static func triage(
    _ text: String, _ event: String, causes: [String] = [], advice: [String], myth: String? = nil
  ) -> CodeMeaning {
    CodeMeaning(
      .kernelTriage, text, aliases: [text.lowercased()], event,
      endedBy: "the kernel; the line says why an access could not be served", causes: causes, advice: advice,
      myth: myth,
      .xnu("bsd/kern/kdebug_triage.c"))
  }
  private static let disk = ["Look at the file that is mapped at the address, and at its volume."]
  private static let memory = ["Look for a JetsamEvent report of that time, and at the memory of the system."]
  private static let address = ["Look at the VM region of the address."]

  /// Lines of `ktriageinfo` that are relevant to a crash. Each is identified by its text.
  static let kernelTriage: [CodeMeaning] = [
    triage(
      "cluster_pagein past EOF", "A page behind the end of a mapped file was used",
      causes: ["The file became shorter after it was mapped: SIGBUS is explained by it."],
      advice: ["Do not truncate files that are mapped: write a new file and rename it; or read instead of mapping."]),
    triage(
      "Page has error bit set", "A page could not be read from its file or disk",
      causes: ["The disk or network volume has an error."], advice: disk),
    triage("Didn't get back data for this file", "A file's data could not be read", advice: disk),
    triage(
      "Filesystem pagein returned an error in vnode_pagein", "The file system could not read a page", advice: disk),
    triage(
      "Object has no pager because the backing vnode was reclaimed",
      "The file behind the memory is no longer open in the kernel", advice: disk),
    triage(
      "Object has no pager because the backing vnode was unmounted", "The volume of the mapped file was unmounted",
      advice: disk),
    triage(
      "Object has no pager because the backing vnode was force unmounted",
      "The volume of the mapped file was unmounted by force, or unplugged", advice: disk),
    triage(
      "Object has no pager because the backing vnode was ungrafted", "The disk image of the mapped file was taken away",
      advice: disk),
    triage("Object has no pager", "The memory has no source for its pages any more", advice: disk),
    triage(
      "A memory corruption was found in executable text",
      "A page of code differs from its file: memory or disk is damaged",
      advice: ["One device only? Then its hardware is the suspect, not the app."]),
    triage(
      "VM Fault hit memory shortage", "There was no memory for a page",
      causes: ["The system, or the process at its limit, had no memory left."], advice: memory),
    triage("vm_fault_copy hit memory shortage", "There was no memory for the copy of a page", advice: memory),
    triage(
      "shared_region_pager_data_request hit memory shortage", "There was no memory for a page of the shared cache",
      advice: memory),
    triage(
      "dyld_pager_data_request hit memory shortage", "There was no memory for a page that dyld had to fix up",
      advice: memory),
    triage(
      "apple_protect_pager_data_request hit memory shortage", "There was no memory to decrypt a page", advice: memory),
    triage(
      "pmap_enter retried due to resource shortage", "The page tables had too little memory at first, and then enough",
      advice: memory, myth: "Reports of all kinds of crashes have it, where memory was short for a moment."),
    triage(
      "Decompressor hit a failure", "A compressed page could not be restored", causes: ["Memory is damaged."],
      advice: ["One device only? Then its hardware is the suspect, not the app."]),
    triage("Compressor doesn't have this page", "A compressed page is lost", advice: memory),
    triage(
      "Accessed a page that has uncorrected ECC error", "The machine's memory has an error that could not be corrected",
      advice: ["The hardware is the suspect."]),
    triage("Found no valid range containing this address", "No memory is mapped at the address", advice: address),
    triage("Fault hit protection failure", "The memory's protection forbids the access", advice: address),
    triage(
      "Guard page fault", "The access hit a guard page",
      causes: ["A stack overflow, or an overrun of a large allocation."], advice: address),
    triage("Failed an executable mapping of a nx page", "Memory that is not executable was to be run", advice: address),
    triage(
      "Failed a writable mapping of an immutable page", "Memory that must not change was written to", advice: address),
    triage(
      "Fault was interrupted", "The access was broken off, mostly because the process was ending",
      advice: ["Nothing: it is a consequence."]),
    triage(
      "Purgeable object hit an error in fault", "Memory that may be purged was used without being locked",
      advice: address),
    triage(
      "shared_region_pager_data_request hit a page sliding error", "A page of the shared cache could not be relocated",
      advice: ["Start the device anew; the cache or the memory may be damaged."]),
    triage(
      "dyld_pager_data_request hit a page sliding error", "dyld's fix-ups of a page are wrong",
      advice: ["Install or build the program anew."]),
    triage(
      "Process too big for corpse", "The process was too large for its whole state to be kept",
      advice: ["Parts of the report may be missing: that is no cause of the crash."]),
    triage("Jetsams happening in higher bands", "Memory was so short that no corpse was kept", advice: memory),
    triage(
      "Too many corpses in flight", "Several processes crashed at once, and no corpse was kept of this one",
      advice: ["Look for the other crashes."]),
    triage(
      "mach_vm_allocate_kernel failed within call to vm_map_enter", "An address that was asked for was taken already",
      advice: ["Nothing: the line is common in reports of processes that work."],
      myth: "It is no cause of a crash, although it is often quoted as one."),
  ]
}
