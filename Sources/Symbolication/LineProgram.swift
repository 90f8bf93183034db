internal import BinaryFormat
internal import CElfutils

/// The instructions of a table of lines, as those of a machine whose registers are a row.
struct LineProgram {
  struct Row {
    var address: UInt64 = 0
    /// Number of the file in the table.
    var file: UInt32 = 1
    var line: UInt32 = 1
    var column: UInt32 = 0
  }

  private let step: UInt64
  private let lineBase: Int
  private let lineRange: Int
  private let opcodeBase: Int
  private let operandCounts: [UInt8]
  private let isBigEndian: Bool

  init(_ header: LineHeader, isBigEndian: Bool) {
    (step, lineBase, lineRange) = (header.step, Int(header.lineBase), Int(header.lineRange))
    (opcodeBase, operandCounts) = (Int(header.opcodeBase), header.operandCounts)
    self.isBigEndian = isBigEndian
  }

  /// Executes instructions until `body` returns false.
  ///
  /// - Parameters:
  ///   - bytes: the section up to the end of the table.
  ///   - start: offset of the first instruction.
  ///   - first: the row that it changes.
  ///   - body: takes a row, whether a sequence of rows ends before it, and the offset of the next instruction.
  /// - Returns: false if an instruction can't be read.
  @inline(__always)
  func run(_ bytes: RawSpan, from start: Int, _ first: Row = Row(), _ body: (Row, Bool, Int) -> Bool) -> Bool {
    var row = first
    var offset = start
    let end = bytes.byteCount
    while offset < end {
      let opcode = Int(bytes.uint8(at: offset))
      offset += 1
      if opcode >= opcodeBase {
        let special = opcode - opcodeBase
        row.address &+= step &* UInt64(special / lineRange)
        row.line &+= UInt32(truncatingIfNeeded: lineBase + special % lineRange)
        if !body(row, false, offset) { return true }
        continue
      }
      switch opcode {
      case 0:
        guard let length = bytes.unsigned(&offset), length > 0, length <= UInt64(end - offset) else { return false }
        let next = offset + Int(length)
        switch Int(bytes.uint8(at: offset)) {
        case DW_LNE_end_sequence:
          if !body(row, true, next) { return true }
          row = Row()
        case DW_LNE_set_address where [2, 4, 8].contains(length - 1):
          row.address = bytes.number(at: offset + 1, size: Int(length) - 1, isBigEndian)
        case DW_LNE_set_address: return false
        // No compiler defines files here, and the rest says nothing of lines.
        default: break
        }
        offset = next
      case DW_LNS_copy: if !body(row, false, offset) { return true }
      case DW_LNS_advance_pc:
        guard let delta = bytes.unsigned(&offset) else { return false }
        row.address &+= step &* delta
      case DW_LNS_advance_line:
        guard let delta = bytes.signed(&offset) else { return false }
        row.line &+= UInt32(truncatingIfNeeded: delta)
      case DW_LNS_set_file:
        guard let file = bytes.unsigned(&offset) else { return false }
        row.file = UInt32(clamping: file)
      case DW_LNS_set_column:
        guard let column = bytes.unsigned(&offset) else { return false }
        row.column = UInt32(clamping: column)
      case DW_LNS_const_add_pc: row.address &+= step &* UInt64((255 - opcodeBase) / lineRange)
      case DW_LNS_fixed_advance_pc:
        guard end - offset >= 2 else { return false }
        row.address &+= bytes.number(at: offset, size: 2, isBigEndian)
        offset += 2
      // What is not known, and what says nothing of lines, has only operands.
      default:
        for _ in 0..<operandCounts[opcode - 1] {
          guard bytes.unsigned(&offset) != nil else { return false }
        }
      }
    }
    return true
  }
}
