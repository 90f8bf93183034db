// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// A text, once its wrappings are removed.
package enum UnwrappingResult: Sendable {
  /// It has none that is known.
  case plain
  case unwrapped(Unwrapping)
  /// It holds several reports, each of which is a part.
  case several([Unwrapping])
  /// It is wrapped, and holds no report that could be read: "an RTF document whose text holds no report".
  case refused(String)
}

/// Removes what reports are wrapped in when people copy, mail and log them.
package enum Unwrapper {
  /// Larger texts are no reports, and are not examined.
  package static let maximumSize = 32 << 20
  /// A quotation in a log in a document is three deep.
  static let maximumDepth = 8

  package static func unwrap(_ bytes: RawSpan) -> UnwrappingResult {
    guard bytes.byteCount <= maximumSize, !PlainReport.isPlain(bytes) else { return .plain }
    return unwrap(bytes.array())
  }

  static func unwrap(_ bytes: [UInt8]) -> UnwrappingResult {
    var state = Unwrapping(bytes)
    var refusal: String?
    for _ in 0..<maximumDepth {
      guard let (row, removal) = first(state.bytes) else { break }
      if let refusal = removal.refusal { return .refused(refusal) }
      state.add(removal)
      refusal = refusal ?? row.refusal
    }
    let parts = ReportSplitter.parts(of: state.bytes)
    if parts.count > 1 { return .several(parts.map { inner(state.part($0)) }) }
    if state.steps.isEmpty { return encoded(bytes) }
    guard ReportFormat.of(state.bytes[...]) != nil else { return refusal.map { .refused($0) } ?? .plain }
    return .unwrapped(state)
  }

  private static func first(_ text: [UInt8]) -> (UnwrappingRow, Removal)? {
    for row in UnwrappingRow.all {
      guard let removal = row.remove(text) else { continue }
      // The text before or behind one report may be another one.
      return row.leavesOut && ReportSplitter.hasSeveral(text) ? nil : (row, removal)
    }
    return nil
  }

  /// One of several reports, without the text around it.
  private static func inner(_ part: Unwrapping) -> Unwrapping {
    var part = part
    for _ in 0..<2 {
      if let removal = Surroundings.ofJSON(part.bytes) ?? LineBreaks.joined(part.bytes)
        ?? Surroundings.ofText(part.bytes)
      {
        part.add(removal)
      }
    }
    return part
  }

  private static func encoded(_ bytes: [UInt8]) -> UnwrappingResult {
    EncodedReport.isBase64(bytes) ? .refused("a report in base64; base64 -d decodes it") : .plain
  }
}
