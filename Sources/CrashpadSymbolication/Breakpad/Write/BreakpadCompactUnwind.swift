// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Writes STACK CFI records for a Mach-O file's compact unwind information.
///
/// One record covers a function, as if it had set up its frame everywhere. It is wrong at the function's first and last
/// instructions, for which compact unwind information has no data. Entries that refer to `__eh_frame` are skipped.
struct BreakpadCompactUnwind {
  private let file: MachOFile
  private let registers: CfiRegisters

  init(_ file: MachOFile, _ registers: CfiRegisters) { (self.file, self.registers) = (file, registers) }

  /// Writes the records of entries that do not overlap `covered`, which is sorted, and returns their number.
  func write(except covered: [Range<UInt64>], to text: inout BreakpadText) -> Int {
    var next = 0
    var count = 0
    for (unwind, end) in file.compactUnwindRanges() {
      while next < covered.count, covered[next].upperBound <= unwind.start { next += 1 }
      if next < covered.count, covered[next].lowerBound < end { continue }
      guard let frame = file.compactFrame(unwind) else { continue }
      text.append("STACK CFI INIT ")
      text.hexadecimal(unwind.start &- file.textAddress)
      text.blank()
      text.hexadecimal(end &- unwind.start)
      text.append(rules(frame))
      text.lineFeed()
      count += 1
    }
    return count
  }

  /// Returns " .cfa: $rbp 16 + .ra: .cfa -8 + ^ …".
  private func rules(_ frame: CompactFrame) -> String {
    let link = frame.link.map { registers.names[$0] } ?? ".cfa -8 + ^"
    let saved = frame.saved.map { " \(registers.names[$0.register]): .cfa \($0.distance) + ^" }
    return " .cfa: \(registers.names[frame.base]) \(frame.size) + .ra: \(link)" + saved.joined()
  }
}
