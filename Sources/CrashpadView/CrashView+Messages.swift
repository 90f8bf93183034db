// SPDX-License-Identifier: Apache-2.0
internal import CrashpadCore
internal import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText

/// The messages and annotations of a process and its modules.
extension CrashView {
  /// A message or an annotation, as one line.
  package struct Entry: Sendable, Hashable {
    /// Nil for an entry of the process.
    package var module: String?
    /// Nil for a message.
    package var name: String?
    package var value: String

    package init(module: String?, name: String?, value: String) {
      self.module = module
      self.name = name
      self.value = value
    }

    /// The entry after its module's name, unless it belongs to the process.
    ///
    /// - Parameter limit: the longest value, in characters; nil for no limit.
    package func line(limit: Int?) -> String {
      let text = limit.map { TextFormat.shortened(value, to: $0) } ?? value
      return (module.map { "\($0): " } ?? "") + (name.map { "\($0) = " } ?? "") + text
    }
  }

  /// The messages that programs left at their end, as failed assertions do.
  package var messages: [Entry] {
    let listed = (snapshot.report?.messages ?? []).map {
      Entry(module: $0.image.map(TextFormat.printable), name: nil, value: TextFormat.printable($0.text))
    }
    let triage = (snapshot.report?.kernelTriage ?? []).map {
      Entry(module: "kernel", name: nil, value: TextFormat.printable($0))
    }
    let sections = crashInfo.flatMap { info in
      [info.message, info.secondMessage].compactMap { $0?.line }.map {
        Entry(module: info.module?.lastComponent, name: nil, value: $0)
      }
    }
    return listed + moduleMessages + sections + triage
  }

  /// The messages of modules alone.
  package var moduleMessages: [Entry] {
    var messages = snapshot.modules.enumerated().flatMap { index, module in
      module.messages.compactMap { message in
        line(message).map { Entry(module: moduleName(index), name: nil, value: $0) }
      }
    }
    if let message = symbolization?.abortMessage(snapshot, dump.file) {
      messages.append(
        Entry(module: moduleName(message.module), name: nil, value: TextFormat.printable(message.text)))
    }
    return messages
  }

  /// The annotations of the process, then those of each module.
  package var annotationEntries: [Entry] {
    var entries: [Entry] = []
    for annotation in snapshot.annotations where !isOfCapture(annotation) { entries.append(entry(annotation, nil)) }
    for (index, module) in snapshot.modules.enumerated() {
      let name = moduleName(index)
      entries += module.simpleAnnotations.map { entry($0, name) }
      for object in module.annotationObjects {
        let value =
          object.type == 1
          ? line(object.value) ?? ""
          : "\(TextFormat.count(object.value.count, "byte")) of type \(TextFormat.hex(UInt64(object.type)))"
        entries.append(Entry(module: name, name: line(object.name) ?? "\"\"", value: value))
      }
    }
    return entries
  }

  private func entry(_ annotation: Annotation, _ module: String?) -> Entry {
    Entry(module: module, name: line(annotation.name) ?? "\"\"", value: line(annotation.value) ?? "")
  }

  /// The value of the annotation of the process with this name.
  package func annotation(named name: String) -> String? {
    snapshot.annotations.first { line($0.name) == name }.flatMap { line($0.value) }
  }
}
