// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The text of a signature in its parts.
package struct SignatureParts: Sendable, Hashable {
  /// Such as "bad-access[null]".
  package let kind: String
  /// The function at fault; nil where none was chosen.
  package let function: String?
  /// The callee or the caller, which tells faults in one function apart.
  package let beside: String?

  package init(_ text: String) {
    let (first, rest) = Self.split(text)
    let (second, third) = rest.map { Self.split($0) } ?? (nil, nil)
    (kind, function, beside) = (first, second, third)
  }

  private static func split(_ text: String) -> (String, String?) {
    guard let range = text.firstRange(of: Signature.separator) else { return (text, nil) }
    return (String(text[..<range.lowerBound]), String(text[range.upperBound...]))
  }
}
