// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadView

/// The messages and annotations of a process and its modules, each in full on a line of its own.
enum AnnotationText {
  static func text(_ view: CrashView) -> String {
    var text = ""
    for (title, entries) in [("Messages", view.messages), ("Annotations", view.annotationEntries)]
    where !entries.isEmpty {
      text += title + "\n" + entries.map { "  " + $0.line(limit: nil) + "\n" }.joined()
    }
    if !view.captureNotes.isEmpty { text += "Capture\n" + view.captureNotes.map { "  \($0)\n" }.joined() }
    return text.isEmpty ? "No messages or annotations\n" : text
  }
}
