// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// Unwinds frames of 32-bit ARM by the tables that its programs carry for exceptions, `.ARM.exidx` and `.ARM.extab`.
///
/// They describe a function as it is at its calls, and not within its first and last instructions: those are read from the code.
/// Unchecked Sendable because its bytes do not change.
/// Source: "Exception Handling ABI for the Arm Architecture", sections 6, 7 and 10.
struct ArmExceptionTable: @unchecked Sendable {
  private let index: CodeSection
  private let tables: CodeSection

  private struct CodeSection {
    let address: UInt64
    let bytes: SharedBytes

    init(_ name: String, _ file: ElfFile) {
      address = file.section(name)?.header.sh_addr ?? 0
      bytes = file.contents(name)
    }

    /// The word at an address; nil if it is not in the section.
    func word(_ address: UInt64) -> UInt32? {
      guard address >= self.address, case let offset = address - self.address, bytes.count >= 4,
        offset <= UInt64(bytes.count - 4)
      else { return nil }
      return bytes.withBytes { $0.uint32(at: Int(offset)) }
    }
  }

  /// Nil if the file has no such table.
  init?(_ file: ElfFile) {
    guard Int32(file.machine) == EM_ARM, file.isLittleEndian else { return nil }
    index = CodeSection(".ARM.exidx", file)
    tables = CodeSection(".ARM.extab", file)
    guard index.bytes.count >= 8 else { return nil }
  }

  /// The caller's registers; nil if the table does not describe the function at the address, or memory is missing.
  ///
  /// - Parameters:
  ///   - address: the instruction, in a caller one of the call.
  ///   - isInnermost: whether the function may be within its first or last instructions. A caller is at a call.
  ///   - code: the eight bytes of the file at an address.
  func caller(
    of callee: FrameRegisters, at address: UInt64, isInnermost: Bool, code: (UInt64) -> UInt64?,
    _ load: (UInt64) -> UInt64?
  ) -> FrameRegisters? {
    guard let (start, instructions) = function(at: address) else { return nil }
    var frame = ArmVirtualFrame(callee)
    guard frame.execute(instructions, load), let stack = frame.stack else { return nil }
    if isInnermost {
      let prologue = ArmPrologue(from: start, to: address, isThumb: callee.isThumb, code)
      guard prologue.isComplete(frame.pushed) else { return nil }
    }
    // A function that saves no return address has it in the link register.
    guard let instruction = frame.restored[15] ?? frame.restored[14] ?? callee.link else { return nil }
    var caller = callee.preserved()
    for (number, value) in frame.restored where number < 13 { caller[number] = value }
    caller.instructionPointer = instruction
    caller.stackPointer = stack
    return caller
  }

  // MARK: The tables

  /// The start of the function at an address, and the instructions that undo its frame.
  private func function(at address: UInt64) -> (start: UInt64, instructions: [UInt8])? {
    let count = index.bytes.count / 8
    let next = (0..<count).partitioningIndex { entryStart($0) > address }
    guard next > 0, case let entry = index.address &+ 8 * UInt64(next - 1), let word = index.word(entry &+ 4) else {
      return nil
    }
    // EXIDX_CANTUNWIND: code in assembly has it, too.
    if word == 1 { return nil }
    let start = entryStart(next - 1)
    if word >> 31 == 1 {
      // The short form, with three instructions
      return word >> 24 == 0x80 ? (start, Self.bytes(word, 3)) : nil
    }
    return instructions(at: Self.place(word, from: entry &+ 4)).map { (start, $0) }
  }

  private func entryStart(_ number: Int) -> UInt64 {
    let place = index.address &+ 8 * UInt64(number)
    return index.word(place).map { Self.place($0, from: place) } ?? .max
  }

  private func instructions(at place: UInt64) -> [UInt8]? {
    guard let first = tables.word(place) else { return nil }
    if first >> 31 == 1 {
      switch first >> 24 {
      case 0x80: return Self.bytes(first, 3)
      case 0x81, 0x82: return instructions(first, 2, more: first >> 16 & 0xff, behind: place)
      default: return nil
      }
    }
    // A routine of a language: those of GCC and LLVM have the number of words, then instructions.
    guard let second = tables.word(place &+ 4) else { return nil }
    return instructions(second, 3, more: second >> 24, behind: place &+ 4)
  }

  /// The last bytes of a word, and those of the words behind it.
  private func instructions(_ word: UInt32, _ count: Int, more: UInt32, behind place: UInt64) -> [UInt8]? {
    var all = Self.bytes(word, count)
    for number in 0..<UInt64(more) {
      guard let word = tables.word(place &+ 4 * (number + 1)) else { return nil }
      all += Self.bytes(word, 4)
    }
    return all
  }

  private static func bytes(_ word: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * (count - 1 - $0))) }
  }

  /// A distance of 31 bits, from the place of its word.
  private static func place(_ word: UInt32, from place: UInt64) -> UInt64 {
    let distance = Int64(Int32(bitPattern: word << 1) >> 1)
    return (place &+ UInt64(bitPattern: distance)) & 0xffff_ffff
  }
}

/// The state of a frame while the instructions of a table undo it.
private struct ArmVirtualFrame {
  private(set) var stack: UInt64?
  private(set) var restored: [Int: UInt64] = [:]
  /// The bytes by which the function has lowered the stack pointer; nil if it has a frame pointer from which they are counted.
  private(set) var pushed: UInt64? = 0
  private let callee: FrameRegisters

  init(_ callee: FrameRegisters) { (self.callee, stack) = (callee, callee.stackPointer) }

  /// False if an instruction is not known, or memory is missing.
  mutating func execute(_ instructions: [UInt8], _ load: (UInt64) -> UInt64?) -> Bool {
    var place = 0
    func next() -> UInt8? {
      defer { place += 1 }
      return place < instructions.count ? instructions[place] : nil
    }
    while let code = next() {
      switch code {
      case 0x00...0x3f: move(UInt64(code) << 2 &+ 4)
      case 0x40...0x7f: move(0 &- (UInt64(code & 0x3f) << 2 &+ 4))
      case 0x80...0x8f:
        // Without a register it refuses to unwind.
        guard let low = next(), case let bits = UInt64(code & 0xf) << 8 | UInt64(low), bits != 0,
          pop(bits << 4, load)
        else { return false }
      case 0x90...0x9f:
        // The number of a register that this frame has not restored before.
        guard case let number = Int(code & 0xf), number != 13, number != 15, restored[number] == nil,
          let value = callee[number]
        else { return false }
        (stack, pushed) = (value, nil)
      case 0xa0...0xaf:
        let link: UInt64 = code & 8 == 0 ? 0 : 1 << 14
        guard pop((1 << (UInt64(code & 7) + 1) - 1) << 4 | link, load) else { return false }
      case 0xb0: return true
      case 0xb1:
        guard let bits = next(), (1...0xf).contains(bits), pop(UInt64(bits), load) else { return false }
      case 0xb2:
        var (value, shift): (UInt64, UInt64) = (0, 0)
        var byte: UInt8 = 0x80
        while byte & 0x80 != 0 {
          guard let more = next(), shift < 32 else { return false }
          value |= UInt64(more & 0x7f) << shift
          shift += 7
          byte = more
        }
        move(0x204 &+ value << 2)
      // The code that authenticates the return address
      case 0xb4: move(4)
      // Registers of floating point and vectors, which are not restored
      case 0xb3:
        guard let range = next() else { return false }
        move(8 * (UInt64(range & 0xf) + 1) + 4)
      case 0xb8...0xbf: move(8 * (UInt64(code & 7) + 1) + 4)
      case 0xc0...0xc5, 0xd0...0xd7: move(8 * (UInt64(code & 7) + 1))
      case 0xc6, 0xc8, 0xc9:
        guard let range = next() else { return false }
        move(8 * (UInt64(range & 0xf) + 1))
      case 0xc7:
        guard let bits = next(), (1...0xf).contains(bits) else { return false }
        move(4 * UInt64(bits.nonzeroBitCount))
      default: return false
      }
    }
    return true
  }

  private mutating func move(_ distance: UInt64) {
    stack = stack.map { ($0 &+ distance) & 0xffff_ffff }
    pushed = pushed.map { $0 &+ distance }
  }

  /// Loads the registers of a bit mask, the lowest one first. A stack pointer among them is not supported.
  private mutating func pop(_ bits: UInt64, _ load: (UInt64) -> UInt64?) -> Bool {
    guard bits >> 13 & 1 == 0 else { return false }
    for number in 0..<16 where bits >> UInt64(number) & 1 == 1 {
      guard let value = stack.flatMap(load) else { return false }
      restored[number] = value
      move(4)
    }
    return true
  }
}
