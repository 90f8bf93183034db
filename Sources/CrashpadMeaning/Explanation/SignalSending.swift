// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// A signal of Linux that a process sent, and what follows from that.
///
/// A service manager ends a program that does not answer with SIGABRT, and a person tries a crash with `kill -SEGV`: that is no
/// abort() and no fault. Only the sender's id tells such a signal from one that the program sent to itself.
struct SignalSending {
  private let exception: ExceptionSnapshot
  private let sending: ExceptionSnapshot.Sending

  /// Nil if no process is known to have sent the signal.
  init?(_ exception: ExceptionSnapshot) {
    guard let sending = exception.sending, !exception.mayBeOfKernel else { return nil }
    (self.exception, self.sending) = (exception, sending)
  }

  private var name: String { SignalNames.linux.name(of: exception.code) }

  /// abort(), raise() and pthread_kill() send to a thread of their own process.
  private var isRaised: Bool { sending == .tgkill && exception.isOfItself == true }

  /// Whether the meaning that the signal has otherwise does not hold.
  var replacesMeaning: Bool {
    SignalNames.linux.isOfThread(exception.code) && !(name == "SIGABRT" && isRaised)
  }

  private var call: String {
    switch sending {
    case .kill: "kill()"
    case .sigqueue: "sigqueue()"
    case .tgkill: "tgkill()"
    }
  }

  /// Such as "process 1 of user 0"; nil if the dump does not have it.
  private var sender: String? { exception.sender.map { "process \($0.processID) of user \($0.userID)" } }

  /// Nil if the table says it.
  var event: String? {
    switch exception.isOfItself {
    case true?: isRaised ? nil : "the process sent the signal to itself with \(call)"
    case false?, nil: sender.map { "\($0) sent the signal with \(call)" }
    }
  }

  /// The end of the process in words; nil if the signal's own meaning says it.
  var endedBy: String? {
    switch (exception.isOfItself, sender) {
    case (true?, _):
      if !isRaised { return "The process itself, with \(call)." }
      return replacesMeaning ? "The process itself, with raise() or pthread_kill()." : nil
    case (false?, let sender?): return "\(Self.capitalized(sender)), which sent \(name)."
    case (nil, let sender?):
      return "\(Self.capitalized(sender)) sent \(name); whether to itself, the dump does not say."
    case (_, nil):
      return
        "A process that sent \(name) with \(call): another one, or the process itself. The dump does not have its id."
    }
  }

  private static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  /// Advice about another process; nil about the process itself.
  var advice: String? {
    switch (exception.isOfItself, exception.sender) {
    case (true?, _): nil
    case (_, let sender?):
      "Find out what process \(sender.processID) was and why it sent \(name): a service manager after a time-out, a script, a person."
    case (_, nil): "Look for the sender in the logs of the service manager: a watchdog's time-out ends with SIGABRT."
    }
  }
}
