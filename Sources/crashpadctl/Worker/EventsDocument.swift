// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadSnapshot

/// The document beside the lines that the worker's operation `events` makes of one dump.
struct EventsDocument {
  let head: InputHead
  let crash: (id: UUIDBytes, lines: Int)?

  init(_ dump: Dump, _ id: UUIDBytes, lines: Int, input: String) {
    head = InputHead(input: input, content: .dump(dump))
    crash = (id, lines)
  }

  init(_ failure: FailureText, input: String) {
    head = InputHead(input: input, content: .failure(failure))
    crash = nil
  }

  static let document = Document<EventsDocument>(
    "crashpadctl-events/1",
    "A document of the operation `events` of crashpadctl-worker(1), in addition to the lines of events.",
    .members(of: InputHead.record) { $0.head },
    .uuid(
      "crash_id", "The id of the crash in the events: that of its report, or otherwise a digest of the dump.",
      .omittable
    ) { $0.crash?.id },
    .number("lines", "The number of JSON lines that follow; 0 for a process that did not crash.", .omittable) {
      $0.crash?.lines
    })
}
