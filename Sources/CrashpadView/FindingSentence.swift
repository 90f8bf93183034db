// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import CrashpadMinidump
internal import IntermediateDump

extension Finding {
  /// The finding in words: the fault, the expected value and the value that was found.
  package var sentence: String {
    let text = path.isEmpty ? rule.summary : Self.lowercasingFirst(rule.summary)
    let subject = path.isEmpty ? "" : "\(path): "
    switch (rule, expected.map(Self.words), found.map(Self.words)) {
    case (DumpRules.truncatedValue, let expected?, let found?):
      return "\(path) says \(expected), but \(found) remain"
    case (DumpRules.valueTooLong, let expected?, let found?):
      return "\(path) says \(found); more than \(expected) are not allowed"
    case (DumpRules.trailingBytes, _, let found?):
      return "\(found) behind the end of the root map"
    case (let rule, let end?, let place?) where isOutsideFile(rule):
      return "\(subject)\(text): the end would be at byte \(place.prefix { $0 != " " }), and the file has \(end)"
    case (_, let expected?, let found?): return "\(subject)\(text): \(expected) expected, \(found) found"
    case (_, let expected?, nil): return "\(subject)\(text): \(expected) expected"
    case (_, nil, let found?): return "\(subject)\(text): \(found)"
    case (_, nil, nil): return subject + text
    }
  }

  /// Whether the finding is that something ends behind the file: it has the file's size, and the end.
  private func isOutsideFile(_ rule: Rule) -> Bool {
    guard case .byteCount(let size)? = expected, case .byteCount(let end)? = found, end > size else { return false }
    return [
      MinidumpRules.streamOutside, MinidumpRules.contextOutside, MinidumpRules.memoryOutside,
      MinidumpRules.codeViewOutside,
    ].contains(rule)
  }

  private static func lowercasingFirst(_ text: String) -> String {
    // Lowercases "A value …" to "a value …"; names keep their case.
    guard let first = text.first, let second = text.dropFirst().first, second == " " || second.isLowercase else {
      return text
    }
    return first.lowercased() + text.dropFirst()
  }

  private static func words(_ value: Finding.Value) -> String {
    switch value {
    case .number(let number): String(number)
    case .byteCount(let count): count == 1 ? "1 byte" : "\(count) bytes"
    case .address(let value), .code(let value): "0x" + String(value, radix: 16)
    case .text(let text): text
    }
  }
}

extension FindingList {
  /// The indices of the `count` most severe findings, the most severe first.
  package func mostSevere(_ count: Int) -> ArraySlice<Int> {
    indices.sorted { (self[$0].severity, -$0) > (self[$1].severity, -$1) }.prefix(count)
  }

  /// The number of findings that were made but not kept.
  package var droppedCount: Int { dropped.values.reduce(0, +) }
}
