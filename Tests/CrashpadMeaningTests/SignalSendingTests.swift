// SPDX-License-Identifier: Apache-2.0
@testable import CrashpadMeaning
import CrashpadSnapshot
import Testing

/// A signal of Linux that a process sent, and its meaning.
@Suite("Sent signals")
struct SignalSendingTests {
  private static let own: Int32 = 500

  /// - Parameter sender: a process id; nil if the dump has none.
  private func exception(_ signal: UInt32, _ code: Int32, sender: UInt32?) -> ExceptionSnapshot {
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: signal)
    exception.info = UInt32(bitPattern: code)
    exception.address = sender.map { UInt64($0) | 7 << 32 } ?? 0
    exception.takeSender(processID: Self.own)
    return exception
  }

  private func description(_ exception: ExceptionSnapshot) -> ExceptionDescription {
    ExceptionDescription(exception, SystemSnapshot(architecture: .arm64, operatingSystem: .linux))
  }

  static let ofThreads = CodeMeaning.signals.filter {
    $0.endedBy.hasPrefix("the kernel, ") && $0.name != "SIGKILL" || $0.endedBy == "the process itself, by abort()"
  }

  @Test("The table's signals of threads are those whose meaning a sender takes away")
  func table() {
    #expect(Self.ofThreads.count == 13)
    for row in CodeMeaning.signals {
      for number in row.numbers where number.platform != .darwin {
        let isOfThread = SignalNames.linux.isOfThread(UInt32(number.value))
        #expect(isOfThread == Self.ofThreads.contains { $0.name == row.name }, "\(row.name)")
      }
    }
  }

  @Test("A signal that another process sent is neither a fault nor an abort", arguments: [0, -1] as [Int32])
  func others(_ code: Int32) throws {
    let call = code == 0 ? "kill()" : "sigqueue()"
    for row in Self.ofThreads where row.name != "SIGEMT" {
      let number = UInt32(try #require(row.numbers.first { $0.platform != .darwin }).value)
      let sent = exception(number, code, sender: 77)
      #expect(description(sent).explanation == "process 77 of user 7 sent the signal with \(call)", "\(row.name)")
      #expect(!description(sent).rows.contains { $0.name == row.name }, "\(row.name)")
      #expect(EndOfProcess(sent) == .fault, "\(row.name)")
      let unknown = exception(number, code, sender: nil)
      #expect(description(unknown).explanation == "a process sent the signal with \(call)", "\(row.name)")
      #expect(EndOfProcess(unknown) != .itself, "\(row.name)")
      #expect(SignalSending(unknown)?.endedBy?.contains("another one, or the process itself") == true, "\(row.name)")
    }
  }

  @Test(
    "The kernel sends SIGPIPE and SIGXFSZ as if the process had sent them to itself", arguments: [13, 25] as [UInt32])
  func signalsOfCalls(_ number: UInt32) throws {
    let row = try #require(CodeMeaning.signals.first { $0.numbers.contains { UInt32($0.value) == number } })
    let kernel = exception(number, 0, sender: 500)
    #expect(description(kernel).explanation == row.event && SignalSending(kernel) == nil)
    #expect(description(kernel).rows.map(\.name) == [row.name])
    let other = exception(number, 0, sender: 77)
    #expect(description(other).explanation == "process 77 of user 7 sent the signal with kill()")
  }

  @Test("A process may send a signal to itself")
  func itself() {
    let abort = exception(6, -6, sender: 500)
    #expect(description(abort).explanation == "abort(), or a failed assertion")
    #expect(EndOfProcess(abort) == .itself && SignalSending(abort)?.endedBy == nil)
    let kill = exception(6, 0, sender: 500)
    #expect(description(kill).explanation == "the process sent the signal to itself with kill()")
    #expect(EndOfProcess(kill) == .itself && SignalSending(kill)?.advice == nil)
    // A dump without the sender: tgkill() names a thread, and only debuggers name those of other processes.
    #expect(description(exception(6, -6, sender: nil)).explanation == "abort(), or a failed assertion")
    #expect(
      SignalSending(exception(11, -6, sender: 500))?.endedBy == "The process itself, with raise() or pthread_kill().")
    let debugger = exception(6, -6, sender: 77)
    #expect(description(debugger).explanation == "process 77 of user 7 sent the signal with tgkill()")
  }

  @Test("Signals of the kernel have no sender", arguments: [1, 2, 0x80] as [Int32])
  func kernel(_ code: Int32) {
    var fault = ExceptionSnapshot(kind: .linuxSignal, threadID: 1, code: 11)
    fault.info = UInt32(bitPattern: code)
    fault.address = 0x7_0000_004d
    fault.takeSender(processID: Self.own)
    #expect(fault.sender == nil && fault.address == 0x7_0000_004d && SignalSending(fault) == nil)
  }

  @Test("A request to end keeps its meaning, and names who asked")
  func request() {
    let sent = exception(15, 0, sender: 1)
    #expect(description(sent).explanation == "the process was asked to end")
    #expect(SignalSending(sent)?.endedBy == "Process 1 of user 7, which sent SIGTERM.")
  }
}
