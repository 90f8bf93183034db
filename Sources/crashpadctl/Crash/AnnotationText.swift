import CrashpadCore
import CrashpadReportPage
import CrashpadSnapshot
import CrashpadText

/// The messages and annotations of a process and its modules.
struct AnnotationText {
  let view: DumpView

  /// The messages that programs left at their end, as failed assertions do.
  var messages: [CrashPage.Entry] {
    let report = view.snapshot.report
    let listed = (report?.messages ?? []).map {
      CrashPage.Entry(module: $0.image.map(Wording.printable), name: nil, value: Wording.printable($0.text))
    }
    let triage = (report?.kernelTriage ?? []).map {
      CrashPage.Entry(module: "kernel", name: nil, value: Wording.printable($0))
    }
    return listed + ofModules + triage
  }

  private var ofModules: [CrashPage.Entry] {
    view.snapshot.modules.enumerated().flatMap { index, module in
      module.messages.compactMap { message in
        view.text(message).map { CrashPage.Entry(module: view.moduleName(index), name: nil, value: $0) }
      }
    }
  }

  /// The annotations of the process, then those of each module.
  var annotations: [CrashPage.Entry] {
    var entries: [CrashPage.Entry] = []
    for annotation in view.snapshot.annotations where !view.isOfCapture(annotation) {
      entries.append(entry(annotation, nil))
    }
    for (index, module) in view.snapshot.modules.enumerated() {
      entries += module.simpleAnnotations.map { entry($0, view.moduleName(index)) }
      for object in module.annotationObjects {
        let isText = object.type == 1
        let value =
          isText
          ? view.text(object.value) ?? ""
          : "\(Wording.count(object.value.count, "byte")) of type \(Wording.hex(UInt64(object.type)))"
        entries.append(
          CrashPage.Entry(module: view.moduleName(index), name: view.text(object.name) ?? "\"\"", value: value))
      }
    }
    return entries
  }

  private func entry(_ annotation: Annotation, _ module: String?) -> CrashPage.Entry {
    CrashPage.Entry(
      module: module, name: view.text(annotation.name) ?? "\"\"", value: view.text(annotation.value) ?? "")
  }

  /// All messages and annotations in full, one per line.
  var text: String {
    var text = ""
    for (title, entries) in [("Messages", messages), ("Annotations", annotations)] where !entries.isEmpty {
      text += title + "\n" + entries.map { "  " + $0.line(limit: nil) + "\n" }.joined()
    }
    if !view.captureNotes.isEmpty { text += "Capture\n" + view.captureNotes.map { "  \($0)\n" }.joined() }
    return text.isEmpty ? "No messages or annotations\n" : text
  }
}

extension CrashPage.Entry {
  /// A message or annotation in one line, after its module's name unless it belongs to the process.
  func line(limit: Int?) -> String {
    let text = limit.map { Wording.shortened(value, to: $0) } ?? value
    return (module.map { "\($0): " } ?? "") + (name.map { "\($0) = " } ?? "") + text
  }
}
