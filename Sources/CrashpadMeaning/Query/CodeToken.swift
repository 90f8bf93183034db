// SPDX-License-Identifier: Apache-2.0
/// A word of a question about codes.
struct CodeToken {
  let text: String
  let upper: String
  let number: UInt64?
  let isHexadecimal: Bool

  init(_ text: some StringProtocol) {
    // Python writes Signals.SIGSEGV.
    let isQualified = text.hasPrefix("Signals.SIG") || text.hasPrefix("signal.SIG")
    // The kernel of iOS writes OS_REASON_JETSAM for the namespace JETSAM.
    let ofKernel = "OS_REASON_"
    let name = String(
      isQualified ? text.drop { $0 != "." }.dropFirst() : text.dropFirst(text.hasPrefix(ofKernel) ? ofKernel.count : 0))
    // The period of a sentence: "terminated due to signal 9."
    let word = name.hasSuffix(".") ? name.dropLast() : ""
    self.text =
      !word.isEmpty && (word.hasPrefix("-") ? word.dropFirst() : word).allSatisfy(\.isNumber) ? String(word) : name
    upper = self.text.uppercased()
    let digits = self.text
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
      number = UInt64(digits.dropFirst(2), radix: 16)
      isHexadecimal = true
    } else if let value = UInt64(digits) {
      number = value
      isHexadecimal = false
    } else if digits.hasPrefix("-"), let value = Int32(digits) {
      number = UInt64(UInt32(bitPattern: value))
      isHexadecimal = false
    } else if digits.utf8.count == 8, let value = UInt64(digits, radix: 16) {
      // A hexadecimal number without 0x, such as 8badf00d; shorter words of these letters are names.
      number = value
      isHexadecimal = true
    } else {
      number = nil
      isHexadecimal = false
    }
  }

  /// Splits a line into words at blanks and punctuation.
  static func tokens(_ text: String) -> [CodeToken] {
    let separators: Set<Character> = [
      " ", "\t", "\n", "\r\n", ",", ";", ":", "!", "?", "(", ")", "[", "]", "{", "}", "\"", "/", "|", "=", "<", ">",
    ]
    return text.split { separators.contains($0) }.map { CodeToken($0) }
  }
}
