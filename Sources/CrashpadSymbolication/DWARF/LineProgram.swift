// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CCrashpadElfutils

/// Executes the instructions of a line table; the registers of this state machine are the current row.
struct LineProgram {
  struct Row {
    var address: UInt64 = 0
    /// The number of the file in the table.
    var file: UInt32 = 1
    var line: UInt32 = 1
    var column: UInt32 = 0
  }

  enum Event {
    case row
    /// A sequence of rows ends before the address of the current row.
    case endOfSequence
    case end
    /// An instruction can't be read.
    case damage
  }

  private(set) var row = Row()
  /// The offset of the next instruction.
  private(set) var offset: Int
  private var isAtEnd = false

  private let step: UInt64
  private let lineBase: Int
  private let lineRange: UInt8
  private let opcodeBase: Int
  private let operandCounts: [UInt8]
  private let isBigEndian: Bool

  init(_ header: LineHeader) {
    (step, lineBase, lineRange) = (header.step, Int(header.lineBase), header.lineRange)
    (opcodeBase, operandCounts) = (Int(header.opcodeBase), header.operandCounts)
    isBigEndian = header.format.isBigEndian
    offset = header.program.offset
  }

  /// Continues after a row that was read before.
  mutating func goOn(behind row: Row, at offset: Int) { (self.row, self.offset, isAtEnd) = (row, offset, false) }

  /// Executes instructions up to the next row.
  ///
  /// - Parameter bytes: the section up to the end of the table.
  @inline(__always)
  mutating func next(_ bytes: RawSpan) -> Event {
    if isAtEnd { (row, isAtEnd) = (Row(), false) }
    let end = bytes.byteCount
    while offset < end {
      let opcode = Int(bytes.uint8(at: offset))
      offset += 1
      if opcode >= opcodeBase {
        let (quotient, remainder) = UInt8(opcode - opcodeBase).quotientAndRemainder(dividingBy: lineRange)
        row.address &+= step &* UInt64(quotient)
        row.line &+= UInt32(truncatingIfNeeded: lineBase + Int(remainder))
        return .row
      }
      switch opcode {
      case 0:
        guard let length = bytes.unsigned(&offset), length > 0, length <= UInt64(end - offset) else { return .damage }
        let place = offset
        offset += Int(length)
        switch Int(bytes.uint8(at: place)) {
        case DW_LNE_end_sequence:
          isAtEnd = true
          return .endOfSequence
        case DW_LNE_set_address:
          guard [2, 4, 8].contains(length - 1) else { return .damage }
          row.address = bytes.number(at: place + 1, size: Int(length) - 1, isBigEndian)
        // No compiler defines files here, and other opcodes do not affect lines.
        default: break
        }
      case DW_LNS_copy: return .row
      case DW_LNS_advance_pc:
        guard let delta = bytes.unsigned(&offset) else { return .damage }
        row.address &+= step &* delta
      case DW_LNS_advance_line:
        guard let delta = bytes.signed(&offset) else { return .damage }
        row.line &+= UInt32(truncatingIfNeeded: delta)
      case DW_LNS_set_file:
        guard let file = bytes.unsigned(&offset) else { return .damage }
        row.file = UInt32(clamping: file)
      case DW_LNS_set_column:
        guard let column = bytes.unsigned(&offset) else { return .damage }
        row.column = UInt32(clamping: column)
      case DW_LNS_const_add_pc: row.address &+= step &* UInt64(UInt8(255 - opcodeBase) / lineRange)
      case DW_LNS_fixed_advance_pc:
        guard end - offset >= 2 else { return .damage }
        row.address &+= bytes.number(at: offset, size: 2, isBigEndian)
        offset += 2
      // Opcodes that are unknown or do not affect lines have only operands.
      default:
        for _ in 0..<operandCounts[opcode - 1] {
          guard bytes.unsigned(&offset) != nil else { return .damage }
        }
      }
    }
    return .end
  }
}
