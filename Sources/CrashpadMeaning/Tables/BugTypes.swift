// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static func bugType(
    _ numbers: [UInt64], _ name: String, _ event: String, by endedBy: String, advice: [String]
  ) -> CodeMeaning {
    CodeMeaning(
      .bugType, name, numbers.map { Number(value: $0, platform: .darwin) }, event, endedBy: endedBy, advice: advice,
      .reports("bug_type in the first line of a report"))
  }
  private static let nothing = "nothing: the processes went on"
  private static let explain = "Explain the report: crashpadctl explain FILE."

  /// Types of Apple's reports, by the number in their first lines.
  static let bugTypes: [CodeMeaning] = [
    bugType(
      [309, 109], "crash report", "The report is about a crash: 309 as JSON, 109 as text",
      by: "what its exception and its termination say", advice: [explain]),
    bugType(
      [308], "fault of a service", "A service of the system reported a fault of its own", by: nothing,
      advice: ["Read the message: it is mostly of interest to Apple."]),
    bugType(
      [298, 198, 98], "jetsam event", "The report is about memory: the system was short of it",
      by: "the kernel's memory manager, which killed the processes that have a reason",
      advice: ["Look for the process with a reason, and not for the largest one.", explain]),
    bugType(
      [288, 188, 186], "stackshot", "The report has the stacks of all processes, and is not about a crash", by: nothing,
      advice: ["Look at the state of the process in question; see crashpadctl explain 0xbaaaaaad."]),
    bugType(
      [385, 185, 22], "resource report", "A process used more of a resource than its limit, or broke a guard",
      by: "nothing where it says NON-FATAL CONDITION; else the kernel", advice: [explain]),
    bugType(
      [202, 142, 145, 144], "resource warning",
      "A process used much CPU time (202), woke up often (142), or wrote much",
      by: nothing, advice: ["Read the heaviest stack, and the limit in the head."]),
    bugType(
      [206], "fatal use of CPU time", "A process was ended because of its CPU time", by: "the kernel's monitor",
      advice: ["Read the heaviest stack, and the limit in the head."]),
    bugType(
      [210, 110, 10], "panic", "The kernel stopped, and the device restarted", by: "the kernel: all processes ended",
      advice: ["Read the first line of panicString; look for a process named in it.", "Report it to Apple."]),
    bugType(
      [151], "forced reset", "A person or the watchdog reset the device", by: "the reset: all processes ended",
      advice: ["Read the panic string, if it has one, and the state of the processes before."]),
    bugType(
      [222, 223, 228, 328, 310], "hang report", "An app did not respond for a while", by: nothing,
      advice: ["Read the main thread's stack."]),
  ]
}
