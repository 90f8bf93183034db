// SPDX-License-Identifier: Apache-2.0
extension ProcessSnapshot {
  /// The fate of the process, as far as the input says.
  package enum Outcome: String, Sendable, CaseIterable {
    /// It crashed, or the system ended it.
    case crashed
    /// The user ended it.
    case quit
    /// It went on: a hang that passed, a warning, a dump that a program asked for.
    case wentOn = "went-on"
    /// The input does not say whether it went on.
    case notSaid = "not-said"
    /// The input is of no single process: of all of them, or of the system itself.
    case noProcess = "no-process"

    package var isCrash: Bool { self == .crashed }
  }

  /// The one answer to whether an input is a crash. Explanations, groups, events and pages ask for it.
  package var outcome: Outcome { Outcome(report, exception) }
}

extension ProcessSnapshot {
  /// Whether groups have a place for it. Hangs, lists of processes and exceeded limits have kinds of their own; a warning, a
  /// panic, an app that the user ended, a stack of a process whose fate is not said, or a whole dump without an exception would
  /// be counted as a crash.
  package var isCounted: Bool {
    // A dump may be made of a process that did not crash, by a person or a debugger.
    guard let kind = report?.kind else { return exception != nil || hasLostException || !isComplete }
    if [.hang, .stackshot, .jetsam].contains(kind) { return true }
    return outcome.isCrash || kind == .resource && outcome == .notSaid
  }
}

extension ProcessSnapshot.Outcome {
  package init(_ report: ReportSnapshot?, _ exception: ExceptionSnapshot?) {
    if let report {
      self = report.outcome(exception)
    } else if let exception {
      self = exception.isSimulated ? .wentOn : .crashed
    } else {
      self = .notSaid
    }
  }
}

extension ReportSnapshot {
  fileprivate func outcome(_ exception: ExceptionSnapshot?) -> ProcessSnapshot.Outcome {
    switch kind {
    case .stackshot, .jetsam, .panic, .forceReset: return .noProcess
    case .osFault: return .wentOn
    case .crash, .resource, .hang: break
    }
    // The system writes "SIMULATED (this is NOT a crash)" when the user forces an app to quit.
    if termination?.code == Self.userQuit { return .quit }
    if isNonFatal || isSimulated || exception?.isSimulated == true { return .wentOn }
    if isFatal(exception) { return .crashed }
    switch kind {
    case .hang: return .wentOn
    case .resource: return saysActionNone ? .wentOn : .notSaid
    default:
      let isCrash = exception != nil || exceptionType != nil || !lastException.isEmpty || statesCrash || isTypedCrash
      return isCrash ? .crashed : .notSaid
    }
  }

  /// Whether the number of its type says that it is about a crash, whatever is left of it.
  package var isTypedCrash: Bool { bugType == "309" || bugType == "109" }

  /// "dead fall".
  package static let userQuit: UInt64 = 0xdead_fa11

  /// Whether the report says that the process was ended.
  private func isFatal(_ exception: ExceptionSnapshot?) -> Bool {
    if isDeadlock || endedForMemory || termination != nil { return true }
    // SymptomsCPUUsageFatal.
    if bugType == "206" { return true }
    guard kind == .resource || kind == .hang else { return false }
    if field("Action taken")?.lowercased().split(whereSeparator: { !$0.isLetter }).contains("killed") == true {
      return true
    }
    return Self.isFatal(exception) || exceptionSignal == "SIGKILL" || Self.isFatal(exceptionSubtype)
  }

  /// Whether the code of an EXC_RESOURCE is of a limit that ends the process: flavor MONITOR_FATAL of type CPU.
  private static func isFatal(_ exception: ExceptionSnapshot?) -> Bool {
    guard let exception, exception.kind == .mach, exception.code == 11, exception.codes.count > 1 else { return false }
    return exception.codes[1] >> 61 == 1 && exception.codes[1] >> 58 & 7 == 2
  }

  /// Whether a subtype says it: "CPU_FATAL", "MEMORY (FATAL)".
  private static func isFatal(_ subtype: String?) -> Bool {
    guard let subtype else { return false }
    let words = subtype.split { !$0.isLetter && $0 != "-" }
    return words.contains("FATAL") && !words.contains("NON-FATAL") && !words.contains("NON")
  }

  /// Whether the report says that the system did nothing.
  private var saysActionNone: Bool { field("Action taken")?.lowercased().hasPrefix("none") == true }

  private func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}
