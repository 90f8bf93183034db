// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Writes the STACK CFI records of one module: converts frame descriptions to postfix rules.
struct BreakpadFrames {
  private let registers: CfiRegisters
  private let imageBase: UInt64

  // The state of the current INIT record: its start, the previous row, the rules of its first row, and the records of
  // its other rows.
  private var start: UInt64 = 0
  private var last: CfiProgram.Row?
  private var first = BreakpadText(to: nil)
  private var changes = BreakpadText(to: nil)
  /// The rules of the current row.
  private var rules = BreakpadText(to: nil)

  /// Real functions have a few dozen rows.
  private static let maximumRows = 65_536

  init(registers: CfiRegisters, imageBase: UInt64) {
    self.registers = registers
    self.imageBase = imageBase
  }

  /// All descriptions in the order of addresses. If several cover an address, those of the first section are used.
  static func order(_ sections: [CfiSection], _ isCode: (UInt64) -> Bool) -> [(section: Int, entry: Int)] {
    var order: [(low: UInt64, section: Int, entry: Int)] = []
    for (number, section) in sections.enumerated() {
      // Descriptions of functions that the linker dropped are left at 0, or at addresses without code.
      for (index, entry) in section.reader.entries.enumerated() where entry.start != 0 && isCode(entry.start) {
        order.append((entry.start, number, index))
      }
    }
    order.sort { ($0.section, $0.low, $0.entry) < ($1.section, $1.low, $1.entry) }
    var accepted: [(section: Int, entry: Int)] = []
    var before = RangeList()
    var own: [Range<UInt64>] = []
    for (position, candidate) in order.enumerated() {
      if position > 0, order[position - 1].section != candidate.section {
        before = RangeList(sorting: before.ranges + own)
        own = []
      }
      let entry = sections[candidate.section].reader.entries[candidate.entry]
      let (end, overflow) = entry.start.addingReportingOverflow(entry.size)
      guard !overflow, entry.start >= own.last?.upperBound ?? 0, !before.overlaps(entry.start..<end) else { continue }
      own.append(entry.start..<end)
      accepted.append((candidate.section, candidate.entry))
    }
    let start = { (place: (section: Int, entry: Int)) in sections[place.section].reader.entries[place.entry].start }
    if sections.count > 1 { accepted.sort { start($0) < start($1) } }
    return accepted
  }

  /// Writes the records of one description: an INIT record and changes, repeatedly if some rows can't be expressed.
  mutating func write(_ index: Int, of section: CfiSection, to text: inout BreakpadText) {
    let entry = section.reader.entries[index]
    let common = section.reader.commons[entry.common]
    guard common.returnRegister < UInt64(registers.count) else { return }
    let end = entry.start &+ entry.size
    var rows = 0
    last = nil
    section.bytes.withBytes { bytes in
      CfiProgram.run(entry, common, bytes, registerCount: registers.count) { address, row in
        guard address < end, rows < Self.maximumRows else { return }
        rows += 1
        if last == nil { start = address }
        if add(row, Int(common.returnRegister), address, bytes) {
          last = row
        } else {
          close(at: address, &text)
        }
      }
    }
    close(at: end, &text)
  }

  /// Ends the current INIT record, if any.
  private mutating func close(at end: UInt64, _ text: inout BreakpadText) {
    if last != nil, end > start {
      text.append("STACK CFI INIT ")
      text.hexadecimal(start &- imageBase)
      text.blank()
      text.hexadecimal(end &- start)
      text.append(first.bytes)
      text.lineFeed()
      text.append(changes.bytes)
    }
    last = nil
    changes.clear()
  }

  /// Adds a row. Returns false if the row can't be expressed in the format; stacks can't be walked through it.
  private mutating func add(_ row: CfiProgram.Row, _ caller: Int, _ address: UInt64, _ bytes: RawSpan) -> Bool {
    rules.clear()
    if row.frameAddress != last?.frameAddress {
      rules.append(" .cfa: ")
      guard append(row.frameAddress, bytes) else { return false }
    }
    if last == nil || row.registers[caller] != last?.registers[caller] {
      rules.append(" .ra: ")
      switch row.registers[caller] {
      // Readers end a stack at 0.
      case .undefined: rules.append("0")
      case .unspecified, .same: rules.append(registers.names[caller])
      default: guard append(row.registers[caller], bytes) else { return false }
      }
    }
    for number in row.registers.indices where number != caller {
      let rule = row.registers[number]
      guard rule != (last?.registers[number] ?? .unspecified) else { continue }
      rules.blank()
      rules.append(registers.names[number])
      rules.append(": ")
      // A register without a rule has the callee's value again.
      if !append(rule, bytes) { rules.append(registers.names[number]) }
    }
    if last == nil {
      swap(&first, &rules)
    } else if !rules.bytes.isEmpty {
      changes.append("STACK CFI ")
      changes.hexadecimal(address &- imageBase)
      changes.append(rules.bytes)
      changes.append([0x0a])
    }
    return true
  }

  // MARK: Rules

  /// Returns false if the address can't be expressed.
  private mutating func append(_ address: CfiProgram.FrameAddress, _ bytes: RawSpan) -> Bool {
    switch address {
    case .unknown: return false
    case .register(let register, let distance):
      guard let name = registers.name(register) else { return false }
      rules.append(name)
      rules.blank()
      rules.decimal(distance)
      rules.append(" +")
      return true
    case .expression(let expression): return append(expression, bytes, hasFrameAddress: false, isLocation: false)
    }
  }

  /// Returns false if there is no rule, or it can't be expressed.
  private mutating func append(_ rule: CfiProgram.RegisterRule, _ bytes: RawSpan) -> Bool {
    switch rule {
    case .unspecified, .undefined, .same: return false
    case .offset(let distance), .valueOffset(let distance):
      rules.append(".cfa ")
      rules.decimal(distance)
      rules.append(rule.isLocation ? " + ^" : " +")
      return true
    case .register(let other):
      guard let name = registers.name(other) else { return false }
      rules.append(name)
      return true
    case .expression(let expression), .valueExpression(let expression):
      return append(expression, bytes, hasFrameAddress: true, isLocation: rule.isLocation)
    }
  }

  /// Returns false if the expression can't be written.
  private mutating func append(
    _ expression: ByteRange, _ bytes: RawSpan, hasFrameAddress: Bool, isLocation: Bool
  ) -> Bool {
    let read = FrameExpression(
      dwarf: expression, bytes, addressSize: nil, register: { $0 < UInt64(registers.count) ? Int($0) : nil },
      hasFrameAddress: hasFrameAddress, isLocation: isLocation)
    guard let text = read.flatMap({ PostfixText.text($0, registers) }) else { return false }
    rules.append(text)
    return true
  }
}
