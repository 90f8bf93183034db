// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Lines that a terminal filled with blanks up to its width, and that were copied without their ends.
enum PaddedLines {
  /// Reports fill no column with so many before another line could begin.
  private static let fewestBlanks = 24

  /// The number of bytes by which a line is known.
  private static let longestStart = 256

  static func remove(_ text: [UInt8]) -> Removal? {
    var copy = TextCopy(of: text)
    var offset = 0
    var first: Int?
    for line in TextLines(text) {
      var blanks = 0
      for index in line.indices {
        if line[index] == 0x20 {
          blanks += 1
          continue
        }
        if blanks >= fewestBlanks, index - blanks > line.startIndex, isStart(line[index...].prefix(longestStart)) {
          copy.copy(offset..<(index - blanks))
          copy.put(0x0a as UInt8, for: index - blanks)
          offset = index
          first = first ?? index
        }
        blanks = 0
      }
    }
    guard let first else { return nil }
    copy.copy(offset..<text.count)
    return Removal(copy, "lines that blanks filled had lost their ends", at: first)
  }

  /// Whether a line of a report begins so.
  private static func isStart(_ rest: TextBytes) -> Bool { ReportLine.isFrame(rest) || ReportLine.isTitle(rest) }
}
