// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadMeaning
internal import CrashpadSnapshot

/// The reason for the end of the process, in the terms of analytics.
package struct CrashException: Sendable, Hashable {
  package enum Kind: Sendable {
    /// An uncaught NSException.
    case objectiveC
    /// An uncaught error of C++ or Swift.
    case language
    /// A signal, a Mach exception, or an exception of Windows.
    case signal
  }

  package var kind: Kind
  /// The NSException's name, the error's type, or `SignalExceptionHandler`.
  package var name: String
  /// Its text, or "Signal 11 was raised."
  package var reason: String
  /// The signal's number on its system; nil on Windows, and where no signal is known.
  package var signal: UInt32?
  /// "SIGSEGV / SEGV_MAPERR at 0x10"
  package var title: String
  /// The message of the program or its runtime about its end.
  package var message: String?
  /// Whether the system ended a process that did not answer.
  package var isHang: Bool

  /// "SIGSEGV", "EXC_BAD_ACCESS", or the error's type.
  var type: String {
    guard kind == .signal else { return name }
    return title.firstRange(of: " / ").map { String(title[..<$0.lowerBound]) } ?? title
  }
}

extension CrashException {
  /// Nil if the process did not crash: a dump without a crash, a report of a hang that ended, of memory, of all processes.
  init?(_ snapshot: ProcessSnapshot, _ texts: CrashTexts) {
    guard snapshot.outcome.isCrash else { return nil }
    let description = snapshot.exception.map { ExceptionDescription($0, snapshot.system) }
    signal = snapshot.exception.flatMap { Self.signal($0) }
    title = description?.title ?? snapshot.report?.termination?.codeText ?? "crash"
    isHang = snapshot.report?.termination.map { $0.code == 0x8bad_f00d } ?? false
    let messages = texts.messages
    message = messages.first
    kind = .signal
    name = "SignalExceptionHandler"
    reason = signal.map { "Signal \($0) was raised." } ?? title
    if let name = texts["exceptionName"] {
      (kind, self.name, reason) = (.objectiveC, name, texts["exceptionReason"] ?? "")
    } else if let found = messages.lazy.compactMap({ Self.error($0) }).first {
      (kind, name, reason) = found
    } else if snapshot.exception?.kind == .nsException {
      (kind, name, reason) = (.objectiveC, "NSException", messages.first ?? title)
    }
  }

  // MARK: Signals

  private static func signal(_ exception: ExceptionSnapshot) -> UInt32? {
    switch exception.kind {
    case .linuxSignal: return exception.code
    case .softSignal: return exception.info
    case .nsException: return 6
    case .windows: return nil
    case .mach: break
    }
    if let signal = exception.signal, signal != 0 { return signal }
    guard exception.code == 10 else { return darwinSignal(ofException: exception.code, code: exception.info) }
    let code = CrashCode(code: exception.codes.count > 1 ? exception.codes[1] : UInt64(exception.info))
    return code.signal == 0 ? 6 : code.signal
  }

  // MARK: Messages

  /// The error that a runtime's message names.
  private static func error(_ text: String) -> (Kind, String, String)? {
    let message = RuntimeMessage(text)
    guard let name = message.exception else { return nil }
    return (message.runtime == .objectiveC ? .objectiveC : .language, name, message.reason ?? "")
  }
}

/// Texts of a dump by the names that programs give them.
struct CrashTexts {
  let messages: [String]
  private let values: [String: String]

  /// Longer values are cut, in bytes: an event is no place for a file.
  private static let limit = 8192

  init(_ snapshot: ProcessSnapshot, _ file: InputFile) {
    func text(_ content: SnapshotBytes) -> String {
      file.withBytes { snapshot.text(content.prefix(min(content.count, Self.limit)), in: $0) }
    }
    var values: [String: String] = [:]
    func add(_ name: SnapshotBytes, _ value: SnapshotBytes) {
      guard name.count <= 64, !value.isEmpty else { return }
      let name = text(name)
      if values[name] == nil { values[name] = text(value) }
    }
    for annotation in snapshot.annotations { add(annotation.name, annotation.value) }
    var messages = snapshot.report?.messages.map(\.statement) ?? []
    if let message = snapshot.report?.exceptionMessage { messages.append(message) }
    for module in snapshot.modules {
      for annotation in module.simpleAnnotations { add(annotation.name, annotation.value) }
      // 1 is the type of strings.
      for object in module.annotationObjects where object.type == 1 { add(object.name, object.value) }
      messages += module.messages.map(text)
    }
    self.values = values
    self.messages = messages.filter { !$0.isEmpty }
  }

  subscript(names: String...) -> String? { self[names] }

  /// The value of the first of the names that is present.
  subscript(names: [String]) -> String? {
    for name in names { if let value = values[name] { return value } }
    return nil
  }
}
