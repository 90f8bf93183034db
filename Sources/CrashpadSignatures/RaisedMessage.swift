// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// An error of a language whose engine ends the process for it: only the message has its class and its own stack.
struct RaisedMessage {
  /// "RCTFatalException", "kotlin.IllegalStateException"
  let kind: String
  /// Words of the signature in place of frames: the class, and the function that raised; empty where frames say more.
  let words: [String]

  init?(_ report: ReportSnapshot) {
    let texts = report.messages.map(\.statement) + [report.exceptionMessage].compactMap { $0 }
    for text in texts.map({ $0.utf8.count <= 1 << 16 ? $0 : String(decoding: $0.utf8.prefix(1 << 16), as: UTF8.self) })
    {
      if let words = Self.javaScript(text) { (kind, self.words) = ("RCTFatalException", words); return }
      if let name = Self.kotlin(text) { (kind, words) = (name, []); return }
    }
    return nil
  }

  // MARK: JavaScript

  /// The class of the error, and the first function of its stack that has a name. Without one a digest of the message without
  /// numbers and quoted parts tells errors apart.
  private static func javaScript(_ text: String) -> [String]? {
    guard let mark = text.firstRange(of: "Unhandled JS Exception: ") else { return nil }
    let message = text[mark.upperBound...]
    let head = message.prefix { $0 != "\n" && $0 != "'" }
    let name = head.prefix { NameText.isWord($0.utf8.first ?? 0) }
    let isClass = head.dropFirst(name.count).hasPrefix(":") && (NameText.word(String(name)) != nil)
    let kind = isClass ? String(name) : "Error"
    if let function = function(message) { return [kind, function] }
    return [kind, "~" + SignatureDigest.text(withoutValues(head)).prefix(8)]
  }

  /// "onPress@1:2345" is a frame of JavaScriptCore's, "at onPress (index.js:1:2345)" one of Hermes's.
  private static func function(_ message: Substring) -> String? {
    for line in message.split(whereSeparator: { $0 == "\n" || $0 == "," }).prefix(64) {
      let line = line.drop { $0 == " " || $0 == "\t" }
      let name: Substring
      if let at = line.firstIndex(of: "@"), line[line.index(after: at)...].first?.isNumber == true {
        name = line[..<at]
      } else if line.hasPrefix("at "), let open = line.firstRange(of: " (") {
        name = line[line.index(line.startIndex, offsetBy: 3)..<open.lowerBound]
      } else {
        continue
      }
      // Names of one or two letters are a minifier's.
      if name.utf8.count > 2, name != "anonymous", name != "value", let word = NameText.word(String(name)) {
        return word
      }
    }
    return nil
  }

  private static func withoutValues(_ text: Substring) -> String {
    var result = ""
    var quote: Character?
    for character in text {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if !character.isNumber {
        result.append(character)
      }
    }
    return result
  }

  // MARK: Kotlin

  /// "Uncaught Kotlin exception: kotlin.IllegalStateException: text"
  private static func kotlin(_ text: String) -> String? {
    guard let mark = text.firstRange(of: "Uncaught Kotlin exception: ") else { return nil }
    return NameText.word(String(text[mark.upperBound...].prefix { $0 != ":" && $0 != "\n" && $0 != " " }))
  }
}
