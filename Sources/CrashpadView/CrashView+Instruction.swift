// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadCore
internal import CrashpadSnapshot
package import CrashpadSymbolication
internal import CrashpadText

/// The instruction at which the process crashed, and its consequences.
extension CrashView {
  /// The reason why the instruction is known, or not.
  package enum InstructionStatus: String, Sendable, CaseIterable {
    case read
    case noRegisters = "no-registers"
    /// The input does not have the bytes, nor does a file of the program.
    case noCode = "no-code"
    /// The system's capstone is not installed.
    case noLibrary = "no-library"
    /// The bytes are no instruction.
    case invalid
    /// The processor is not known, so its instructions are not.
    case otherProcessor = "other-processor"
  }

  package enum AdjustedAddress: Sendable, Hashable {
    /// No pointer can have the address, and the processor did not report it.
    case nonCanonical(UInt64)
    /// The offset from an object at 0.
    case nullPointer(UInt64)
  }

  /// A statement of the system about the crash that the instruction or the memory contradicts. The names are those of rust-minidump.
  package enum CrashInconsistency: String, Sendable, CaseIterable {
    case divisionByZero = "int_div_by_zero_not_possible"
    case privilege = "priv_instruction_crash_without_priv_instruction"
    case canonicalAddress = "non_canonical_address_falsely_reported"
    case allowedAccess = "access_violation_when_access_allowed"
    case otherAddress = "crashing_access_not_found_in_memory_accesses"
  }

  /// The facts about the instruction at the crash.
  package struct CrashAnalysis: Sendable {
    package let status: InstructionStatus
    /// Nil unless it was read.
    package let instruction: CrashedInstruction?
    /// The address that says more than the exception's.
    package let adjusted: AdjustedAddress?
    /// Nil if they could not be looked for.
    package let bitFlips: [BitFlip]?
    /// Nil without the instruction.
    package let inconsistencies: [CrashInconsistency]?
    private let ranges: [ListedMemory.Range]

    fileprivate init(
      _ status: InstructionStatus, _ instruction: CrashedInstruction? = nil, adjusted: AdjustedAddress? = nil,
      bitFlips: [BitFlip]? = nil, inconsistencies: [CrashInconsistency]? = nil, ranges: [ListedMemory.Range]?
    ) {
      self.status = status
      self.instruction = instruction
      self.adjusted = adjusted
      self.bitFlips = bitFlips
      self.inconsistencies = inconsistencies
      self.ranges = ranges ?? []
    }

    /// Whether an address is in memory that is there to end the program if it goes too far: a small range without access,
    /// beside one with access.
    package func isGuarded(_ address: UInt64) -> Bool {
      guard let index = ListedMemory.index(of: address, in: ranges) else { return false }
      let range = ranges[index]
      guard range.protection.isEmpty, !range.isFree, range.last - range.start < 32768 else { return false }
      let beside = [index - 1, index + 1].filter(ranges.indices.contains).map { ranges[$0] }
      return beside.contains {
        !$0.protection.isEmpty && ($0.last &+ 1 == range.start || range.last &+ 1 == $0.start)
      }
    }
  }

  /// Nil without an exception.
  package var crashAnalysis: CrashAnalysis? {
    exception.map { exception in
      let (status, instruction) = readInstruction(exception)
      return analysis(exception, status, instruction)
    }
  }

  package func analysis(
    _ exception: Exception, _ status: InstructionStatus, _ instruction: CrashedInstruction?
  ) -> CrashAnalysis {
    let ranges = ListedMemory(snapshot, dump.file).ranges
    let fault = MemoryFault(exception, snapshot.system.architecture)
    let adjusted = instruction.flatMap { self.adjusted($0, fault) }
    return CrashAnalysis(
      status, instruction, adjusted: adjusted, bitFlips: fault?.bitFlips(instruction, adjusted, ranges),
      inconsistencies: instruction.map { inconsistencies(exception, $0, fault, ranges) }, ranges: ranges)
  }

  private func readInstruction(_ exception: Exception) -> (InstructionStatus, CrashedInstruction?) {
    guard let context = exception.context else { return (.noRegisters, nil) }
    if !Disassembly.knows(context.architecture) { return (.otherProcessor, nil) }
    let address = context.instructionAddress
    let code =
      memory(at: address, count: 15)
      ?? self.code(around: address, reach: 15, in: []).map { Array($0.bytes.dropFirst($0.before)) }
    guard let code, !code.isEmpty else { return (.noCode, nil) }
    guard Disassembly.isInstalled else { return (.noLibrary, nil) }
    guard let instruction = CrashedInstruction(code, context, memory: word) else { return (.invalid, nil) }
    return (.read, instruction)
  }

  /// A pointer in captured memory.
  private func word(at address: UInt64) -> UInt64? {
    let size = snapshot.system.architecture.hasNarrowAddresses ? 4 : 8
    guard let bytes = memory(at: address, count: size), bytes.count == size else { return nil }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func adjusted(_ instruction: CrashedInstruction, _ fault: MemoryFault?) -> AdjustedAddress? {
    let accesses = instruction.accesses ?? []
    if let access = accesses.first(where: { $0.hasNullBase && $0.address < 0x10000 }) {
      return .nullPointer(access.address)
    }
    guard fault?.lacksAddress == true else { return nil }
    let addresses = accesses.map(\.address) + [instruction.target].compactMap { $0 }
    return addresses.first { !$0.isCanonical }.map { .nonCanonical($0) }
  }

  private func inconsistencies(
    _ exception: Exception, _ instruction: CrashedInstruction, _ fault: MemoryFault?, _ ranges: [ListedMemory.Range]?
  ) -> [CrashInconsistency] {
    if exception.isDivisionByZero { return instruction.isDivision == false ? [.divisionByZero] : [] }
    guard exception.kind == .windows else { return [] }
    if exception.code == 0xc000_0096 { return instruction.isOrdinary ? [.privilege] : [] }
    // An overflow of the stack has no address.
    if exception.code == 0xc000_00fd {
      return instruction.isOrdinary && instruction.accesses?.isEmpty == true ? [.otherAddress] : []
    }
    guard let fault, exception.code == 0xc000_0005 else { return [] }
    let isElsewhere = fault.isElsewhere(instruction)
    if fault.lacksAddress, isElsewhere {
      return instruction.isOrdinary && !instruction.needsAlignment && fault.hasCanonicalAddresses(instruction)
        ? [.canonicalAddress] : []
    }
    return (isElsewhere ? [.otherAddress] : []) + (fault.isAllowed(in: ranges) ? [.allowedAccess] : [])
  }

  // MARK: Words

  /// Such as "mov dword ptr [rax], 1 writes 4 bytes at 0x10, the address that was reported"; nil if that is not known.
  package var instructionSentence: String? {
    guard let exception, let analysis = crashAnalysis else { return nil }
    return sentence(analysis, exception)
  }

  package func sentence(_ analysis: CrashAnalysis, _ exception: Exception) -> String? {
    guard let instruction = analysis.instruction else { return nil }
    let text = TextFormat.printable(instruction.text)
    let reported = MemoryFault(exception, snapshot.system.architecture).flatMap { $0.lacksAddress ? nil : $0.address }
    var parts: [String] = (instruction.accesses ?? []).map { access in
      words(access, isGuarded: analysis.isGuarded(access.address), reported)
    }
    if let target = instruction.target { parts.append("goes on at \(TextFormat.hex(target))") }
    if parts.isEmpty { return text }
    return "\(text) \(parts.joined(separator: ", and "))"
  }

  private func words(_ access: InstructionAccess, isGuarded: Bool, _ reported: UInt64?) -> String {
    let verb =
      switch access.kind {
      case .read: "reads"
      case .write: "writes"
      case .readWrite: "reads and writes"
      case nil: "accesses"
      }
    var text =
      verb + (access.size.map { " \(TextFormat.count($0, "byte"))" } ?? "") + " at \(TextFormat.hex(access.address))"
    if snapshot.system.architecture == .x86_64, !access.address.isCanonical { text += ", which no pointer can have" }
    if isGuarded { text += ", in what looks like a guard page" }
    guard let reported else { return text }
    if access.address == reported { return text + ", the address that was reported" }
    return access.contains(reported) ? text + ", with the reported address in it" : text
  }
}

extension CrashedInstruction {
  /// Disassembles the first instruction of code at the program counter; nil if the bytes are none, or without a disassembler.
  init?(_ code: [UInt8], _ context: CPUContext, memory: (UInt64) -> UInt64?) {
    let address = context.instructionAddress
    guard
      let reading = Disassembly(at: address, in: code, before: 0, context.architecture, isThumb: context.isThumb),
      case let line = reading.lines[reading.index], let text = line.text
    else { return nil }
    self.init(text, next: address &+ UInt64(line.bytes.count), context, memory: memory)
  }
}

/// The access to memory that the system says it refused.
private struct MemoryFault {
  /// As the system has it.
  let address: UInt64
  /// Empty if it is not known.
  let access: ListedMemory.Protection
  /// Whether the processor refused an address without reporting it: a general protection fault.
  let lacksAddress: Bool
  private let isWide: Bool
  private let pc: UInt64?

  /// Nil if the exception is not about memory.
  init?(_ exception: CrashView.Exception, _ architecture: CPUArchitecture) {
    let isAccess: Bool
    var access: ListedMemory.Protection = []
    let (code, info) = (exception.code, exception.info)
    isWide = architecture == .x86_64
    guard var address = exception.address else { return nil }
    switch exception.kind {
    case .linuxSignal:
      // Signals of other programs have no address.
      isAccess = [7, 11].contains(code) && info.map { Int32(bitPattern: $0) > 0 } ?? false
      lacksAddress = isWide && info == 0x80 && address == 0
    case .windows:
      isAccess = code == 0xc000_0005 && exception.codes.count >= 2
      if isAccess {
        access = exception.codes[0] == 1 ? .write : exception.codes[0] == 8 ? .execute : .read
        address = exception.codes[1]
      }
      lacksAddress = isWide && access == .read && address == .max
    case .mach:
      isAccess = code == 1
      lacksAddress = isWide && info == 13
    case .softSignal, .nsException: (isAccess, lacksAddress) = (false, false)
    }
    guard isAccess else { return nil }
    self.address = address
    self.access = access
    pc = exception.context?.instructionPointer
  }

  func isAllowed(in ranges: [ListedMemory.Range]?) -> Bool {
    guard let ranges, let index = ListedMemory.index(of: address, in: ranges) else { return false }
    return !access.isEmpty && ranges[index].protection.isSuperset(of: access)
  }

  /// Whether the instruction can't have made the access. False if that is not known.
  func isElsewhere(_ instruction: CrashedInstruction) -> Bool {
    if access == .execute { return pc.map { $0 != address } ?? false }
    guard instruction.isOrdinary, let accesses = instruction.accesses else { return false }
    return !accesses.contains { other in
      guard let kind = other.kind, other.size != nil else { return true }
      return other.contains(address) && (kind == .readWrite || (kind == .write) == (access == .write))
    }
  }

  func hasCanonicalAddresses(_ instruction: CrashedInstruction) -> Bool {
    guard let accesses = instruction.accesses else { return false }
    // The target of a return may not be known, as the memory may be missing.
    if instruction.target == nil, instruction.text.contains("call") || instruction.text.contains("ret") { return false }
    return accesses.allSatisfy(\.address.isCanonical) && instruction.target?.isCanonical != false
  }

  /// Nil if they can't be looked for: on other processors than x86-64, without the address, and without a list of the memory.
  func bitFlips(
    _ instruction: CrashedInstruction?, _ adjusted: CrashView.AdjustedAddress?, _ ranges: [ListedMemory.Range]?
  ) -> [BitFlip]? {
    guard isWide, let ranges, let instruction else { return nil }
    var start = address
    switch adjusted {
    case .nullPointer: return []
    case .nonCanonical(let other): start = other
    case nil: if lacksAddress { return nil }
    }
    let other = instruction.accesses?.first { $0.contains(start) }
    let search = BitFlipSearch(
      instruction.context, ranges, access: access.isEmpty ? other.map(Self.access) ?? [] : access,
      isNonCanonical: !start.isCanonical, size: other?.size)
    return search.flips(of: other?.address ?? start)
      + instruction.addressRegisters.flatMap { search.flips(of: $0.value, register: $0.name) }
  }

  private static func access(_ access: InstructionAccess) -> ListedMemory.Protection {
    switch access.kind {
    case .read: .read
    case .write, .readWrite: .write
    case nil: []
    }
  }
}

extension CrashView.Exception {
  fileprivate var isDivisionByZero: Bool {
    switch kind {
    case .linuxSignal: code == 8 && info == 1
    case .windows: code == 0xc000_0094
    case .mach: code == 3 && info == 1
    case .softSignal, .nsException: false
    }
  }
}
