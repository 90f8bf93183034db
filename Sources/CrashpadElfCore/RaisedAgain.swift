// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Faults for which a handler of the program raised the signal again, as books teach it: it sets the default action, sends itself the
/// signal, which is blocked, and returns. The process then ends by the second signal at the instruction of the first, and the
/// core's note has only the second one. The kernel's record of the first is still in memory, below the stack pointer or on the
/// handler's own stack: it is the one with the registers of that instruction.
extension CoreReader {
  /// The size of the largest record, with registers of vectors and matrices, and room below it.
  private static let recordRoom: UInt64 = 16 << 10
  /// The red zone of a function that calls nothing.
  private static let redZone: UInt64 = 128
  /// In bytes, of other memory that is searched.
  private static let mostSearched = 64 << 20

  /// Takes the fault for the second signal, if there is a record of it.
  mutating func takeFaultRaisedAgain(_ bytes: RawSpan) {
    guard layout.architecture == .x86_64, let exception = snapshot.exception, exception.isOfItself == true,
      ExceptionSnapshot.faultSignals.contains(exception.code), case .x86_64(let registers)? = exception.context,
      !isBehindCall(registers.rip, bytes), let fault = fault(at: registers, of: exception.code, bytes)
    else { return }
    var first = ExceptionSnapshot(kind: .linuxSignal, threadID: exception.threadID, code: fault.signal)
    first.info = UInt32(bitPattern: fault.code)
    first.isAddressKnown = fault.address != nil
    first.address = fault.address ?? 0
    first.context = exception.context
    first.isRaisedAgain = true
    snapshot.exception = first
    snapshot.annotateRaisedAgain()
  }

  /// Whether the thread stands behind a system call, in which it may have sent itself the signal.
  private func isBehindCall(_ address: UInt64, _ bytes: RawSpan) -> Bool {
    guard let place = space.bytes(at: address &- 2, count: 2) else { return false }
    return [0x050f, 0x340f, 0x80cd].contains(bytes.uint16(at: place.offset))
  }

  private func fault(at registers: X86_64Context, of signal: UInt32, _ bytes: RawSpan) -> HandledFault? {
    let top = registers.rsp &- Self.redZone
    if let below = space.bytes(from: top &- Self.recordRoom) {
      let range = ByteRange(offset: below.offset, count: min(below.count, Int(Self.recordRoom)))
      if let fault = fault(in: range, registers, signal, bytes) { return fault }
    }
    var searched = 0
    for segment in space.segments where segment.flags & 2 != 0 && segment.bytes.count > 0 {
      searched += segment.bytes.count
      guard searched <= Self.mostSearched else { return nil }
      if let fault = fault(in: segment.bytes, registers, signal, bytes) { return fault }
    }
    return nil
  }

  /// The fault of the first record in a range. Records begin at multiples of eight.
  private func fault(
    in range: ByteRange, _ registers: X86_64Context, _ signal: UInt32, _ bytes: RawSpan
  ) -> HandledFault? {
    let (stack, last) = (Int(SignalFrame64.stackPointer), Int(SignalFrame64.faultAddress) + 8)
    var place = range.offset
    while place + last <= range.end {
      defer { place += 8 }
      guard bytes.uint64(at: place + stack) == registers.rsp, bytes.uint64(at: place + stack + 8) == registers.rip,
        bytes.uint64(at: place + Int(SignalFrame64.link)) == 0, isReturn(to: registers, at: place, bytes)
      else { continue }
      let fault = HandledFault(siginfo: SignalFrame64.signal, isIntel: true) { distance in
        distance <= UInt64(last - 8) ? bytes.uint64(at: place + Int(distance)) : nil
      }
      if let fault, !fault.isSent, fault.signal == signal { return fault }
    }
    return nil
  }

  /// Whether a record has the thread's general registers, all of which a handler's return restores. Otherwise the program went on since,
  /// as after a fault that its handler repaired.
  private func isReturn(to registers: X86_64Context, at place: Int, _ bytes: RawSpan) -> Bool {
    let expected = [
      registers.r[0], registers.r[1], registers.r[2], registers.r[3], registers.r[4], registers.r[5], registers.r[6],
      registers.r[7], registers.rdi, registers.rsi, registers.rbp, registers.rbx, registers.rdx, registers.rax,
      registers.rcx,
    ]
    return expected.indices.allSatisfy {
      bytes.uint64(at: place + Int(SignalFrame64.registers) + 8 * $0) == expected[$0]
    }
  }
}
