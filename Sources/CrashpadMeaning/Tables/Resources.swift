// SPDX-License-Identifier: Apache-2.0
extension CodeMeaning {
  private static let resourceSource = Source.xnu("osfmk/kern/exc_resource.h")

  private static func resource(
    _ type: UInt64, _ name: String, _ event: String, causes: [String], advice: [String], myth: String? = nil,
    flavors: [(UInt64, String, String)]
  ) -> [CodeMeaning] {
    [
      CodeMeaning(
        .resource, of: "EXC_RESOURCE", name, [Number(value: type, platform: .any)], aliases: ["RESOURCE_TYPE_\(name)"],
        event, causes: causes, advice: advice, myth: myth, resourceSource)
    ]
      + flavors.map { number, flavor, event in
        CodeMeaning(
          .resource, of: "EXC_RESOURCE \(name)", flavor, [Number(value: number, platform: .any)], event, resourceSource)
      }
  }

  /// The resources of EXC_RESOURCE, each with its flavors.
  static let resources: [CodeMeaning] =
    resource(
      1, "CPU", "more CPU time than the limit",
      causes: ["A loop that does not end, or work in the background that takes too long."],
      advice: ["Compare limit, interval and what was observed; look at the heaviest stack."],
      flavors: [
        (1, "MONITOR", "more CPU time than the limit; the process went on"),
        (2, "MONITOR_FATAL", "more CPU time than the limit; the process was ended"),
      ])
    + resource(
      2, "WAKEUPS", "more wakeups of the processor than the limit",
      causes: ["Timers that fire often, or threads that signal each other without work."],
      advice: ["Look at the heaviest stack for timers and polling; give timers a tolerance."],
      flavors: [(1, "MONITOR", "more wakeups each second than the limit, over the interval")])
    + resource(
      3, "MEMORY", "more memory than the limit",
      causes: ["A leak, or more held at once than fits."],
      advice: ["Find the growth with Instruments; a memory graph may be attached to the report."],
      myth: "HIGH_WATERMARK is mostly a warning; the end by jetsam comes later, and leaves a JetsamEvent report.",
      flavors: [
        (1, "HIGH_WATERMARK", "more memory than the high-water mark"),
        (2, "DIAG_MEMLIMIT", "more memory than a threshold that was set for diagnostics"),
      ])
    + resource(
      4, "IO", "more data written to disk than the limit",
      causes: ["Logs, caches or databases that are written anew again and again."],
      advice: ["Look at the heaviest stack for the writer; write less often, and only what changed."],
      flavors: [
        (1, "PHYSICAL_WRITES", "more data written to the disk than the limit"),
        (2, "LOGICAL_WRITES", "more file data changed in memory than the limit"),
      ])
    + resource(
      5, "THREADS", "more threads than the limit",
      causes: ["Blocks that wait, on queues that make a thread for each of them."],
      advice: ["Look at what most threads wait for."],
      flavors: [(1, "HIGH_WATERMARK", "more threads than the high-water mark")])
    + resource(
      6, "PORTS", "more Mach ports than fit",
      causes: ["Ports or XPC connections leak."],
      advice: ["Count ports with lsmp; look for connections that are made and not cancelled."],
      flavors: [(1, "PORT_SPACE_FULL", "the space of Mach ports is full")])
}
