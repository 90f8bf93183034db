// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A report that was copied without its first letters: "xception Type:  EXC_CRASH (SIGKILL)".
enum CutStart {
  private static let keys: [[UInt8]] = [
    "Incident Identifier", "CrashReporter Key", "Hardware Model", "Process", "Exception Type", "Translated Report",
  ].map { Array($0.utf8) }

  /// As many letters are missed by people who select text.
  private static let mostMissing = 5
  /// Fewer letters of a key may begin any line.
  private static let fewestLeft = 4
  /// The report begins within these lines, or is not searched.
  private static let mostLines = 200

  /// Adds the letters, if the next line is one of a report.
  static func remove(_ text: [UInt8]) -> Removal? {
    var cut: (offset: Int, missing: ArraySlice<UInt8>)?
    for line in TextLines(text).prefix(mostLines) {
      let content = line.trimmed
      if let cut, ReportAnchors.anchor(of: content)?.start == content.startIndex {
        return removal(text, cut.offset, cut.missing)
      }
      if ReportLine.isHead(content) { return nil }
      cut = missing(content).map { (content.startIndex, $0) }
    }
    return nil
  }

  /// The letters before a line that begins with the end of a key.
  private static func missing(_ line: TextBytes) -> ArraySlice<UInt8>? {
    guard let colon = line.prefix(24).firstIndex(of: UInt8(ascii: ":")), !line[(colon + 1)...].trimmed.isEmpty else {
      return nil
    }
    let name = line[..<colon]
    guard name.count >= fewestLeft else { return nil }
    let key = keys.first { key in
      (1...mostMissing).contains(key.count - name.count) && key.suffix(name.count).elementsEqual(name)
    }
    return key.map { $0.dropLast(name.count) }
  }

  private static func removal(_ text: [UInt8], _ offset: Int, _ missing: ArraySlice<UInt8>) -> Removal {
    var copy = TextCopy(of: text, capacity: text.count + missing.count)
    copy.copy(0..<offset)
    copy.put(missing, for: offset)
    copy.copy(offset..<text.count)
    return Removal(copy, "the first letters of the report were missing", at: offset)
  }
}
