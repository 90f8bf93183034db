// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The evidence that the address of a fault has, and the instruction at it.
extension ExplanationBuilder {
  mutating func addAddress(_ exception: ExceptionSnapshot) {
    noteHidden(exception)
    guard isAccess(exception) && exception.hasRecordedAddress || crash.hiddenAddress != nil else { return }
    let address = crash.hiddenAddress ?? exception.address
    if explainAllocator(address) { return }
    let pattern = AddressPattern(
      address, on: CodeMeaning.Platform(crash.system.architecture), intended: report?.intendedAddress,
      addressBits: crash.system.operatingSystem == .ios ? 39 : 47)
    if pattern == nil || address < 0x1000 && sendsToObject, addObject(exceptionTitle) { return }
    if explainJump(toNumber: address, exception) { return }
    if let pattern, crash.hiddenAddress != nil || !exception.isGeneralProtection {
      let facts = pattern.facts.reduce("") { "\($0) (\($1.label) \($1.text))" }
      note("The address \(hex(address)): \(pattern.row.event)\(facts).")
      result.advice = pattern.row.advice + result.advice
      add(pattern.row)
      if let headline = pattern.row.headline {
        result.summary = "\(exceptionTitle): \(headline)."
      } else if noteObject() {
        result.advice.append(Self.objectAdvice)
      }
    }
    if exception.isAtStack(nil, pageSize: crash.system.pageSize.map { UInt64($0) }), !isInStackGuard {
      let pointer = hex(exception.context?.stackPointer ?? 0)
      note("The address is at the stack pointer, \(pointer), where no stack is: a stack overflow is likely.")
      result.summary = "\(exceptionTitle): the thread probably had no stack left."
      result.certainty = .inferred
      result.advice.insert("Look for endless recursion, and for large local variables.", at: 0)
    }
    guard let thread = crash.crashedThread, let top = thread.frames.first else { return }
    if top.isUnloaded {
      note("The program counter is in a module that was unloaded, \(top.text)", thread, frame: 0)
      result.advice.insert(
        "Look for what still called into the module: a callback, a window procedure, a thread or an exit handler of it.",
        at: 0)
    } else if top.module == nil, top.function == nil, crash.lacksModulePlaces {
      result.notKnown.append(
        "The module that has the program counter: the \(report == nil ? "dump" : "report") "
          + (crash.listsModules ? "does not say where modules lie." : "lists no modules."))
    } else if top.module == nil, top.function == nil {
      let isJump = isJump(to: address, top, exception)
      note(placeWithoutModule(isJump: isJump, isOnStack: isJump && isOnStack(address, exception)), thread, frame: 0)
    } else if exception.isJumpOutOfCode() {
      note(
        "The address is the program counter's, where no code may run: a jump through a wrong pointer.", thread, frame: 0
      )
    }
  }

  /// Whether an exception is of an access to memory, whose address the system tells.
  func isAccess(_ exception: ExceptionSnapshot) -> Bool {
    return (exception.kind == .mach && exception.code == 1 && !exceptionTitle.containsBytes("GPFLT"))
      || ((exceptionTitle.hasPrefix("SIGSEGV") || exceptionTitle.hasPrefix("SIGBUS"))
        && exceptionTitle.containsBytes(" at 0x"))
      || WindowsParameters(exception).address != nil
  }

  /// Tells of an address that the processor does not report.
  private mutating func noteHidden(_ exception: ExceptionSnapshot) {
    guard report == nil, exception.mayHideAddress(on: crash.system.architecture) else { return }
    guard let hidden = crash.hiddenAddress, let thread = crash.crashedThread else {
      if exception.isGeneralProtection {
        result.notKnown.append("Which address was refused: the processor does not report one that no pointer can have.")
      } else if !crash.usesReportedAddress {
        result.certainty = .inferred
        result.notKnown.append(
          "Whether the address was 0: the processor reports 0 for one that no pointer can have, too, and the dump lacks the code that tells."
        )
      }
      return
    }
    result.certainty = .inferred
    result.advice.removeAll { $0.hasPrefix("Look at the instruction at the program counter, and compute") }
    note(
      "The instruction uses \(hex(hidden)), which no pointer can have; the processor does not report such an address",
      thread, frame: 0)
  }

  /// Explains a program counter near 0: no field was accessed there.
  private mutating func explainJump(toNumber address: UInt64, _ exception: ExceptionSnapshot) -> Bool {
    guard address < 0x1000, let thread = crash.crashedThread, let top = thread.frames.first, top.module == nil,
      isJump(to: address, top, exception)
    else { return false }
    note("The program counter is \(hex(address)), where no code is", thread, frame: 0)
    result.summary =
      "\(exceptionTitle): a call, a jump or a return through a pointer that is "
      + (address == 0 ? "null." : "no address of code.")
    result.advice.insert(Self.branchAdvice, at: 0)
    return true
  }

  private static let branchAdvice =
    "Look for where the pointer to the function, or the object that has it, was set, freed or overwritten."

  /// Whether the thread stood at the address that it could not access. A report may lack the upper bits of a program counter.
  private func isJump(to address: UInt64, _ top: CrashEvidence.Frame, _ exception: ExceptionSnapshot) -> Bool {
    guard let counter = exception.context?.instructionPointer ?? top.address else { return false }
    let bits: UInt64 = 1 << 47 - 1
    return counter & bits == address & bits
  }

  /// The part above the stack pointer that is most likely the stack: threads have stacks of 1 MiB and more.
  private static let stackAbove: UInt64 = 1 << 20

  /// Whether memory that is there, but is no code, is most likely the thread's own stack.
  private func isOnStack(_ address: UInt64, _ exception: ExceptionSnapshot) -> Bool {
    guard exception.kind == .linuxSignal, exception.isInfoKnown, exception.info == 2,
      let pointer = exception.context?.stackPointer, pointer > 0
    else { return false }
    return address >= pointer && address - pointer < Self.stackAbove
  }

  /// The meaning of a program counter in no module.
  private func placeWithoutModule(isJump: Bool, isOnStack: Bool) -> String {
    let start = "The program counter is in no module: "
    if isOnStack {
      return start
        + "it is close above the stack pointer, most likely in the thread's own stack, which may not run as code. Nested functions of C are made there; or a return"
        + " address or a pointer to a function was overwritten."
    }
    if isJump, let protection = crash.counterProtection, !protection.contains(.execute) {
      let access = protection.contains(.write) ? "read and written" : "read"
      return "The program counter is in memory that may "
        + (protection.isEmpty ? "not be accessed" : "be \(access), and not run as code")
        + ": a jump through a wrong pointer."
    }
    if isJump {
      return start + "a jump through a wrong pointer, or to code that is gone, as of a library that was closed."
    }
    // It could read the instruction there, or the fault would be at the program counter.
    return start
      + (report?.isTranslated == true
        ? "it may be in the code that Rosetta made of the program's."
        : "the code was made while the program ran, or is of a module that is not listed.")
  }

  /// Explains a fault in an allocator at an address near 0: the offset is that of a field of the allocator's own, and says
  /// nothing of the program.
  private mutating func explainAllocator(_ address: UInt64) -> Bool {
    guard address < 0x1000, let thread = crash.crashedThread, let top = thread.frames.first, top.isOfAllocator else {
      return false
    }
    note("The fault is in the allocator, in \(top.text)", thread, frame: 0)
    let given = "a pointer that is no block of its heap, or that is no longer one"
    result.summary =
      "\(exceptionTitle): the allocator met "
      + (thread.frames.prefix(4).contains(where: \.takesBlock) ? "\(given), or " : "")
      + "memory of its own that was overwritten."
    result.certainty = .inferred
    result.advice.insert(
      "Look at the pointer that the program gave, and build with Address Sanitizer: it tells the causes apart.", at: 0)
    return true
  }

  /// Explains a call, a jump or a return to an address that no code can have.
  mutating func addBranch(_ exception: ExceptionSnapshot) {
    guard let branch = crash.branch, exception.isGeneralProtection, let thread = crash.crashedThread else { return }
    let (verb, event) =
      switch branch.kind {
      case .call: ("calls", "a call through a wrong pointer")
      case .jump: ("jumps to", "a jump through a wrong pointer")
      case .return: ("returns to", "a return through a stack that was overwritten, or a wrong stack pointer")
      }
    let advice =
      branch.kind == .return
      ? "Look for what wrote beyond an array on the stack: build with -fstack-protector-strong or Address Sanitizer."
      : Self.branchAdvice
    let target =
      switch branch.target {
      case let target? where !target.isCanonicalIn57Bits: "\(hex(target)), which is no address of the processor."
      case let target?: "\(hex(target)), which is no address where addresses have 48 bits."
      case nil: "an address in memory that was not captured."
      }
    note("The instruction \(verb) \(target)", thread, frame: 0)
    result.summary = "\(exceptionTitle): probably \(event)."
    result.certainty = .inferred
    result.advice = [advice]
  }

  /// Explains a fault in a function of a runtime that uses an object, at an address that says nothing.
  @discardableResult
  mutating func addObject(_ title: String) -> Bool {
    guard noteObject() else { return false }
    result.summary = "\(title): the object was probably freed before its use, or the pointer is not one to an object."
    result.certainty = .inferred
    result.advice.insert(Self.objectAdvice, at: 0)
    return true
  }

  /// Adds that the fault is in such a function. It takes nil, so that an address near 0 may be of what stood in the object's
  /// memory.
  mutating func noteObject() -> Bool {
    guard let thread = crash.crashedThread, thread.frames.first?.usesObject == true else { return false }
    note("The fault is in \(thread.frames[0].text), which was given the object", thread, frame: 0)
    return true
  }

  /// Whether the fault is in the function that sends messages. It returns at once for nil, so that a small address is of what stood
  /// in the object's memory in place of its class.
  private var sendsToObject: Bool {
    guard let function = crash.crashedThread?.frames.first?.function else { return false }
    return ["objc_msgSend", "_objc_msgSend", "objc_msgLookup"].contains { function.hasPrefix($0) }
  }

  private static let objectAdvice =
    "Look for an object that is freed while others still refer to it: a delegate, an observer, a callback."

  /// The report itself says it then.
  private var isInStackGuard: Bool { report?.isAddressInStackGuard == true }

  mutating func addTrap(_ exception: ExceptionSnapshot) {
    let syndrome = report?.syndrome.map { FaultSyndrome($0) }
    if let syndrome, let isWrite = syndrome.isWrite, exception.kind == .mach, exception.code == 1 {
      note("The access was a \(isWrite ? "write" : "read") (esr \(hex(syndrome.value))).")
    }
    if exception.kind == .mach, exception.code == 2, exception.codes.count > 2,
      let text = AddressPattern.word(exception.codes[2])
    {
      note(
        "The bytes of the instruction are text, \"\(text)\": the program counter is in data, as after a jump through a"
          + " wrong pointer.")
    }
    guard exception.kind == .mach, exception.code == 6, let immediate = syndrome?.trap ?? trapInstruction else {
      return
    }
    result.advice += addTrap(immediate)?.advice ?? []
  }

  /// - Returns: the row of the brk instruction with this immediate.
  @discardableResult
  mutating func addTrap(_ immediate: UInt64) -> CodeMeaning? {
    let row = CodeMeaning.traps.first { $0.has(immediate) }
    note("The instruction was brk \(hex(immediate))" + (row.map { ": \($0.event)." } ?? ", whose meaning is unknown."))
    if let row { add(row) }
    return row
  }

  /// The immediate of the brk instruction at the program counter; nil if there is another instruction.
  private var trapInstruction: UInt64? {
    guard crash.system.architecture == .arm64, let bytes = report?.codeAt, bytes.count >= 4 else { return nil }
    let word = (0..<4).reduce(0 as UInt32) { $0 | UInt32(bytes[$1]) << (8 * UInt32($1)) }
    return word & 0xffe0_001f == 0xd420_0000 ? UInt64(word >> 5 & 0xffff) : nil
  }
}
