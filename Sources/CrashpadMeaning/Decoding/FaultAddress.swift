// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

extension ReportSnapshot {
  /// Whether the address of the fault is in the guard page of a stack: the region that the report marks with an arrow, and
  /// not one of its neighbors, which it lists too. The arrow of old reports is shorter.
  package var isAddressInStackGuard: Bool { guardLine != nil && otherGuardedThread == nil }

  /// The thread whose guard page the address is in, if another one crashed: that did not overflow its stack.
  package var otherGuardedThread: Int? {
    let words = "stack guard for thread "
    guard let line = guardLine, let start = line.firstRange(of: words)?.upperBound,
      let owner = Int(line[start...].prefix { $0.isNumber }), let crashed = faultingNumber ?? faultingThread
    else { return nil }
    return owner == crashed ? nil : owner
  }

  private var guardLine: Substring? { vmRegionInfo?.split(separator: "\n").first { $0.containsWordsOfGuard } }

  /// Whether the kernel's message says that the stack is full.
  package var saysStackOverflow: Bool {
    exceptionMessage?.containsBytes("Thread stack size exceeded due to excessive recursion") == true
  }
}

extension Substring {
  fileprivate var containsWordsOfGuard: Bool {
    let line = String(self)
    return line.containsBytes("-->") && line.uppercased().containsBytes("STACK GUARD")
  }
}

extension ReportSnapshot.Termination {
  /// The code of a guard that was broken; nil for other terminations.
  package var guardCode: UInt64? { namespace == "GUARD" ? code.flatMap { $0 >> 61 == 0 ? nil : $0 } : nil }
}

extension ExceptionSnapshot {
  /// Whether the address is below the stack pointer by at most the largest guard area that systems make, or at it: the thread
  /// has no stack left, or its stack pointer is wrong.
  ///
  /// - Parameters:
  ///   - context: the registers of the thread, if the exception has none.
  ///   - pageSize: in bytes; nil if it is not known.
  package func isAtStack(_ context: CPUContext?, pageSize: UInt64?) -> Bool {
    guard hasRecordedAddress, let context = self.context ?? context, case let pointer = context.stackPointer,
      pointer > 0x10000, address >= 0x10000,
      // The thread jumped to an address of its stack, which can't be executed.
      address != context.instructionPointer
    else { return false }
    let page = min(max(pageSize ?? 4096, 4096), 65536)
    let lowest = pointer - min(pointer, 65536)
    return address >= lowest && address - lowest < 65536 + page
  }

  /// Whether the thread went on at an address where no code may run: the address is the program counter's, and the system
  /// refused the access, rather than to read the code from its file.
  ///
  /// - Parameter context: the registers of the thread, if the exception has none.
  package func isJumpOutOfCode(_ context: CPUContext? = nil) -> Bool {
    guard hasRecordedAddress, let context = self.context ?? context, context.instructionPointer == address else {
      return false
    }
    return switch kind {
    case .linuxSignal: code == 11 && Int32(bitPattern: info) > 0
    // KERN_INVALID_ADDRESS and KERN_PROTECTION_FAILURE.
    case .mach: code == 1 && codes.count > 1 && (1...2).contains(codes[1])
    case .windows: code == 0xc000_0005 && codes.first == 8
    case .softSignal, .nsException: false
    }
  }

  /// Whether the address was recorded: a report may have the name of the fault alone, and 0 then is no address.
  package var hasRecordedAddress: Bool {
    isAddressKnown && !isMisalignedSomewhere && (kind != .mach || codes.count > 2 || address != 0)
  }

  /// Whether an access was not aligned, and the system does not say where: Linux has no address for it on x86. The address 0 is
  /// aligned.
  package var isMisalignedSomewhere: Bool { kind == .linuxSignal && code == 7 && info == 1 && address == 0 }
}
