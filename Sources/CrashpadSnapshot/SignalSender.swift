// SPDX-License-Identifier: Apache-2.0

/// The process that sent a signal of Linux with kill(), sigqueue() or tgkill().
public struct SignalSender: Sendable, Hashable {
  /// As the receiver's system numbers processes.
  public var processID: UInt32
  public var userID: UInt32
  /// Whether the process sent the signal to itself; nil if its own id is not known.
  public var isItself: Bool?

  package init(processID: UInt32, userID: UInt32, isItself: Bool? = nil) {
    (self.processID, self.userID, self.isItself) = (processID, userID, isItself)
  }

  /// The kernel has both in place of the address of a fault, `si_addr`.
  ///
  /// - Returns: nil without an id: the sender is outside of the container.
  fileprivate init?(word: UInt64) {
    guard word & 0xffff_ffff != 0 else { return nil }
    self.init(processID: UInt32(truncatingIfNeeded: word), userID: UInt32(truncatingIfNeeded: word >> 32))
  }

  fileprivate var word: UInt64 { UInt64(processID) | UInt64(userID) << 32 }
}

extension ExceptionSnapshot {
  /// How a process sent a signal.
  package enum Sending: Int32, Sendable {
    case kill = 0
    case sigqueue = -1
    /// tgkill(), as raise() and abort() do.
    case tgkill = -6
  }

  /// Nil for a signal that no process sent, and for one whose si_code is not known.
  package var sending: Sending? {
    // kill() with 0 sends nothing.
    guard kind == .linuxSignal, code != 0, isInfoKnown, !isSimulated else { return nil }
    return Sending(rawValue: Int32(bitPattern: info))
  }

  /// Whether the process is known to have sent the signal to itself. Nil if that is not known, or no process sent it.
  package var isOfItself: Bool? {
    guard let sending else { return nil }
    if let isItself = sender?.isItself { return isItself }
    // No program but debuggers names a thread of another process.
    return sending == .tgkill ? true : nil
  }

  /// Whether the signal is one that the kernel sends as if the process had done so with kill(): for a write to a pipe without a
  /// reader, and for a file that reached its limit.
  ///
  /// Source: Linux, `send_sig(SIGXFSZ, current, 0)` and the same of SIGPIPE, which makes SI_USER of the process itself.
  package var mayBeOfKernel: Bool {
    sending == .kill && isOfItself == true && Self.signalsOfCalls.contains(code)
  }

  /// Linux's signals of faults: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV.
  package static let faultSignals: Set<UInt32> = [4, 5, 7, 8, 11]

  /// SIGPIPE and SIGXFSZ.
  private static let signalsOfCalls: Set<UInt32> = [13, 25]

  /// Signals for which minidumps have `si_addr`: of faults, and of system calls. For others Crashpad's have the sender among
  /// the parameters.
  private static let signalsWithAddress = faultSignals.union([31])
  /// Its first parameter is the kernel's word as it is.
  private static let signalOfInput: UInt32 = 29

  /// Takes the sender from where the kernel and Crashpad have it: its word in place of the address, or the first two parameters.
  ///
  /// - Parameter processID: that of the process that crashed.
  ///
  /// Source: Crashpad, snapshot/linux/exception_snapshot_linux.cc, `ReadSiginfo`.
  package mutating func takeSender(processID: Int32?) {
    guard sending != nil else { return }
    sender = SignalSender(word: address)
    address = 0
    if sender == nil, !Self.signalsWithAddress.contains(code), let first = codes.first {
      if code == Self.signalOfInput {
        sender = SignalSender(word: first)
      } else if codes.count > 1 {
        sender = SignalSender(word: first & 0xffff_ffff | codes[1] << 32)
      }
    }
    if let processID, let sender { self.sender?.isItself = Int64(sender.processID) == Int64(processID) }
  }

  /// The address as minidumps have it.
  package var recordedAddress: UInt64 {
    Self.signalsWithAddress.contains(code) ? sender?.word ?? address : address
  }

  /// The parameters as minidumps have them: those of a sent signal, zeros if the sender is not known. Crashpad leaves them out
  /// for signals with an address; here they say that the `si_code` of 0 is one, which Breakpad's writer leaves out.
  package var recordedCodes: [UInt64] {
    guard codes.isEmpty, sending != nil else { return codes }
    if code == Self.signalOfInput { return [sender?.word ?? 0, 0] }
    // The third one is the value of sigqueue().
    return [UInt64(sender?.processID ?? 0), UInt64(sender?.userID ?? 0), 0]
  }
}
