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

/// The changes of the stack pointer that the instructions of a function make up to a place.
private struct ArmPrologue {
  private(set) var lowered: UInt64 = 0
  /// Whether the last change raised the stack pointer, and the function has not gone elsewhere since.
  private(set) var isEnding = false
  private(set) var isKnown = true
  /// Whether the frame pointer has been set.
  private(set) var hasFrame = false

  /// Larger functions are not read: a place this far from the start is behind the first instructions.
  private static let longest: UInt64 = 1 << 14

  init(from start: UInt64, to end: UInt64, isThumb: Bool, _ code: (UInt64) -> UInt64?) {
    let end = end & ~1
    var place = start & ~1
    guard end - min(end, place) <= Self.longest else {
      isKnown = false
      return
    }
    while place < end {
      guard let word = code(place) else {
        isKnown = false
        return
      }
      let first = UInt32(truncatingIfNeeded: word & 0xffff)
      let isLong = !isThumb || first >> 11 >= 0b11101
      let whole = UInt32(truncatingIfNeeded: word)
      apply(isThumb ? (isLong ? Self.long(first, whole >> 16) : Self.short(first)) : Self.arm(whole))
      place += isLong ? 4 : 2
    }
  }

  /// Whether the function has done what its table says, and not undone it: pushed all bytes, or set the frame pointer if the
  /// table counts from that.
  func isComplete(_ pushed: UInt64?) -> Bool {
    guard isKnown else { return pushed != 0 }
    return !isEnding && (pushed.map { lowered >= $0 } ?? hasFrame)
  }

  private enum Change {
    case lower(UInt64)
    case raise
    case setFrame
    case leave
    case none
  }

  private mutating func apply(_ change: Change) {
    switch change {
    case .lower(let count):
      lowered += count
      isEnding = false
    case .raise: isEnding = true
    case .setFrame: hasFrame = true
    case .leave: isEnding = false
    case .none: break
    }
  }

  private static func short(_ code: UInt32) -> Change {
    switch code {
    // PUSH and SUB of the stack pointer
    case 0xb400...0xb5ff: .lower(4 * UInt64((code & 0x1ff).nonzeroBitCount))
    case 0xb080...0xb0ff: .lower(4 * UInt64(code & 0x7f))
    // POP of the program counter, BX and B leave; POP and ADD raise it.
    case 0xbd00...0xbdff, 0x4700...0x477f, 0xe000...0xe7ff: .leave
    case 0xbc00...0xbcff, 0xb000...0xb07f: .raise
    // MOV of the stack pointer to r7 or r11, and ADD to r7
    case 0x466f, 0x46eb, 0xaf00...0xafff: .setFrame
    default: .none
    }
  }

  private static func long(_ first: UInt32, _ second: UInt32) -> Change {
    switch (first, second) {
    // PUSH.W, STR with the stack pointer lowered, VPUSH
    case (0xe92d, _): .lower(4 * UInt64(second.nonzeroBitCount))
    case (0xf84d, _) where second & 0xfff == 0xd04: .lower(4)
    case (0xed2d, _), (0xed6d, _): .lower(4 * UInt64(second & 0xff))
    // SUB.W and SUBW of the stack pointer
    case (0xf1ad, _) where second & 0x8f00 == 0xd00, (0xf5ad, _) where second & 0x8f00 == 0xd00:
      .lower(rotated(first, second))
    case (0xf2ad, _) where second & 0x8f00 == 0xd00: .lower(UInt64(second & 0xff | (second >> 12 & 7) << 8))
    case (0xe8bd, _): second >> 15 == 1 ? .leave : .raise
    case (0xf85d, _) where second & 0xfff == 0xb04: second >> 12 == 15 ? .leave : .raise
    case (0xecbd, _), (0xecfd, _): .raise
    // ADD.W to the stack pointer, or to r7 or r11
    case (0xf10d, _), (0xf50d, _):
      switch second >> 8 & 0xf {
      case 13: .raise
      case 7, 11: .setFrame
      default: .none
      }
    // B.W
    case (0xf000...0xf7ff, _) where second & 0xd000 == 0x9000: .leave
    default: .none
    }
  }

  /// A number of Thumb: eight bits, which are rotated if its five upper bits say so.
  private static func rotated(_ first: UInt32, _ second: UInt32) -> UInt64 {
    let (high, middle, low) = (first >> 10 & 1, second >> 12 & 7, second >> 7 & 1)
    let rotation = UInt64(high << 4 | middle << 1 | low)
    if rotation < 8 { return UInt64(second & 0xff) }
    let value = UInt64(0x80 | second & 0x7f)
    return (value << (32 - rotation) | value >> rotation) & 0xffff_ffff
  }

  private static func arm(_ word: UInt32) -> Change {
    switch word >> 16 & 0xfff {
    // PUSH, STR with the stack pointer lowered, VPUSH, SUB
    case 0x92d: .lower(4 * UInt64((word & 0xffff).nonzeroBitCount))
    case 0x52d where word & 0xfff == 4: .lower(4)
    case 0xd2d, 0xd6d: .lower(4 * UInt64(word & 0xff))
    case 0x24d where word >> 12 & 0xf == 13: .lower(immediate(word))
    case 0x8bd: word >> 15 & 1 == 1 ? .leave : .raise
    case 0x49d where word & 0xfff == 4: word >> 12 & 0xf == 15 ? .leave : .raise
    case 0xcbd, 0xcfd: .raise
    // ADD to the stack pointer or r11, and MOV of it to r11
    case 0x28d where word >> 12 & 0xf == 13: .raise
    case 0x28d where word >> 12 & 0xf == 11: .setFrame
    case 0x1a0 where word & 0xffff == 0xb00d: .setFrame
    case 0x12f where word & 0xfffff0 == 0x2fff10: .leave
    case 0xa00...0xaff: .leave
    default: .none
    }
  }

  private static func immediate(_ word: UInt32) -> UInt64 {
    let (value, rotation) = (UInt64(word & 0xff), UInt64(word >> 8 & 0xf) * 2)
    return (value >> rotation | value << (32 - rotation)) & 0xffff_ffff
  }
}
