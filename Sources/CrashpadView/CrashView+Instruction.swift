// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot
package import CrashpadSymbolication

/// The instruction at which the process crashed.
extension CrashView {
  package struct CrashInstruction: Sendable {
    /// Such as "mov dword ptr [rax], 1".
    package let text: String
    /// The memory that it accesses; nil if that can't be known.
    package let accesses: [InstructionAccess]?
    /// The address that says more than the exception's.
    package let adjusted: AdjustedAddress?
  }

  package enum AdjustedAddress: Sendable, Hashable {
    /// No pointer can have the address, and the processor did not report it.
    case nonCanonical(UInt64)
    /// The offset from an object at 0.
    case nullPointer(UInt64)
  }

  /// Nil without the code, without the system's capstone, and for processors other than x86.
  package var crashInstruction: CrashInstruction? {
    guard let exception, let context = exception.context, [.x86_64, .x86].contains(context.architecture) else {
      return nil
    }
    let address = context.instructionPointer
    let code =
      memory(at: address, count: 15)
      ?? self.code(around: address, reach: 15, in: []).map {
        Array($0.bytes.dropFirst($0.before))
      }
    guard let code, let reading = Disassembly(at: address, in: code, before: 0, context.architecture),
      case let line = reading.lines[reading.index], let text = line.text
    else { return nil }
    let accesses = InstructionAccess.all(of: text, next: address &+ UInt64(line.bytes.count), context)
    return CrashInstruction(text: text, accesses: accesses, adjusted: adjusted(exception, accesses ?? []))
  }

  private func adjusted(_ exception: Exception, _ accesses: [InstructionAccess]) -> AdjustedAddress? {
    if let access = accesses.first(where: { $0.hasNullBase && $0.address < 0x10000 }) {
      return .nullPointer(access.address)
    }
    guard snapshot.system.architecture == .x86_64, lacksAddress(exception) else { return nil }
    // The upper 17 bits of an address are all 0 or all 1.
    let strange = accesses.first { Int64(bitPattern: $0.address << 16) >> 16 != Int64(bitPattern: $0.address) }
    return strange.map { .nonCanonical($0.address) }
  }

  /// Whether the processor refused an address without reporting it: a general protection fault.
  private func lacksAddress(_ exception: Exception) -> Bool {
    switch exception.kind {
    case .linuxSignal: exception.code == 11 && exception.info == 0x80
    case .windows: exception.code == 0xc000_0005 && exception.address == .max
    case .mach: exception.code == 1 && exception.info == 13
    case .softSignal, .nsException: false
    }
  }
}
