internal import CrashpadBytes

/// Writes STACK CFI records for a Mach-O file's compact unwind information.
///
/// One record covers a function, as if it had set up its frame everywhere. It is wrong at the function's first and last
/// instructions, for which compact unwind information has no data. Entries that refer to `__eh_frame` are skipped.
struct SymCompactUnwind {
  private let file: MachOFile

  init(_ file: MachOFile) { self.file = file }

  /// Writes the records of entries that do not overlap `covered`, which is sorted, and returns their number.
  func write(except covered: [Range<UInt64>], to text: inout SymText) -> Int {
    var next = 0
    var count = 0
    for (unwind, end) in file.compactUnwindRanges() {
      while next < covered.count, covered[next].upperBound <= unwind.start { next += 1 }
      if next < covered.count, covered[next].lowerBound < end { continue }
      guard let rules = rules(unwind) else { continue }
      text.append("STACK CFI INIT ")
      text.hexadecimal(unwind.start &- file.textAddress)
      text.blank()
      text.hexadecimal(end &- unwind.start)
      text.append(rules)
      text.lineFeed()
      count += 1
    }
    return count
  }

  /// Returns " .cfa: $rbp 16 + .ra: .cfa -8 + ^ …"; nil if the encoding has no rules.
  private func rules(_ unwind: CompactUnwind) -> String? {
    let encoding = unwind.encoding
    switch encoding & 0x0f00_0000 {
    case 0x0100_0000 where file.architecture.isX86_64: return framedX86(encoding)
    case 0x0200_0000 where file.architecture.isX86_64, 0x0300_0000 where file.architecture.isX86_64:
      return framelessX86(unwind)
    case 0x0200_0000 where file.architecture.hasARM64Code:
      return " .cfa: sp \((encoding >> 12 & 0xfff) * 16) + .ra: x30" + pairs(encoding, below: 0)
    case 0x0400_0000 where file.architecture.hasARM64Code:
      return " .cfa: x29 16 + .ra: .cfa -8 + ^ x29: .cfa -16 + ^" + pairs(encoding, below: -16)
    default: return nil
    }
  }

  private func saved(_ name: String, at distance: Int) -> String { " \(name): .cfa \(distance) + ^" }

  /// Pairs of saved registers, downwards in memory, the first of a pair above the second.
  private func pairs(_ encoding: UInt32, below distance: Int) -> String {
    var text = ""
    var distance = distance
    for (bit, first) in [19, 21, 23, 25, 27].enumerated() where encoding & (1 << UInt32(bit)) != 0 {
      text += saved("x\(first)", at: distance - 8) + saved("x\(first + 1)", at: distance - 16)
      distance -= 16
    }
    return text
  }

  private func framedX86(_ encoding: UInt32) -> String {
    var text = " .cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^"
    let place = -16 - Int(encoding >> 16 & 0xff) * 8
    for slot in 0..<5 {
      guard let number = MachOFile.register(encoding >> UInt32(3 * slot) & 7), number != 6 else { continue }
      text += saved(Self.nameX86(number), at: place + slot * 8)
    }
    return text
  }

  private func framelessX86(_ unwind: CompactUnwind) -> String? {
    let count = Int(unwind.encoding >> 10 & 7)
    guard let size = file.framelessSizeX86(unwind), size >= 8 + UInt64(count) * 8,
      let registers = MachOFile.permutation(unwind.encoding & 0x3ff, count)
    else { return nil }
    var text = " .cfa: $rsp \(size) + .ra: .cfa -8 + ^"
    for (index, number) in registers.enumerated() {
      text += saved(Self.nameX86(number), at: -8 - (count - index) * 8)
    }
    return text
  }

  private static func nameX86(_ number: Int) -> String {
    number == 3 ? "$rbx" : number == 6 ? "$rbp" : "$r\(number)"
  }
}
