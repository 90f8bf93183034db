// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// A piece of HTML. It can be made of pieces of the source code and of text, and text is escaped: no value of a dump can
/// become markup.
///
/// A string literal is markup as it stands, and what is interpolated is text unless it is HTML itself:
///
///     let row: HTML = "<td>\(name)</td>"
///
/// Attributes need quotation marks around what is interpolated. Neither style sheets nor scripts take interpolations: they
/// are one literal each.
package struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// UTF-8.
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// `StaticString` is made by the compiler alone.
  package init(stringLiteral: StaticString) { append(markup: stringLiteral) }

  package init(stringInterpolation: Interpolation) { self = stringInterpolation.html }

  /// Text, escaped.
  package init(_ text: String) { append(text: text) }

  /// JSON within a script element: no text of it can end the element.
  init(json: [UInt8]) { appendEscaping(json: json) }

  package var isEmpty: Bool { bytes.isEmpty }

  package static func += (html: inout HTML, other: HTML) { html.bytes.append(contentsOf: other.bytes) }

  package struct Interpolation: StringInterpolationProtocol {
    fileprivate var html = HTML()

    package init(literalCapacity: Int, interpolationCount: Int) {
      html.bytes.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    package mutating func appendLiteral(_ literal: StaticString) { html.append(markup: literal) }
    package mutating func appendInterpolation(_ text: String) { html.append(text: text) }
    package mutating func appendInterpolation(_ html: HTML) { self.html += html }
    package mutating func appendInterpolation(_ html: [HTML]) { for piece in html { self.html += piece } }
    package mutating func appendInterpolation(_ number: some BinaryInteger) { html.append(text: String(number)) }
  }

  // MARK: Escaping

  private mutating func append(markup: StaticString) {
    markup.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends text that no parser takes for anything else, be it between elements or within quotation marks. Characters that
  /// are not allowed in HTML or can't be seen are `\u{…}`: nothing is lost, and nothing changes the direction of what follows.
  private mutating func append(text: String) {
    var text = text
    let isPlain = text.withUTF8 { utf8 in unsafe utf8.allSatisfy(Self.isPlain) }
    if isPlain {
      text.withUTF8 { unsafe bytes.append(contentsOf: $0) }
      return
    }
    for scalar in text.unicodeScalars { append(scalar) }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
    default: (0x20..<0x7f).contains(byte) || byte == 0x0a
    }
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "&": append(markup: "&amp;")
    case "<": append(markup: "&lt;")
    case ">": append(markup: "&gt;")
    case "\"": append(markup: "&quot;")
    case "'": append(markup: "&#39;")
    case "\n", "\t": bytes.append(UInt8(ascii: scalar))
    case _ where Self.isInvisible(scalar): bytes.append(contentsOf: "\\u{\(hexadecimal(UInt64(scalar.value)))}".utf8)
    default: bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
    }
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7f { return scalar.value < 0x20 }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: return true
    default: return scalar.properties.isNoncharacterCodePoint || scalar.properties.isVariationSelector
    }
  }

  /// In JSON these characters stand in strings alone, where an escape says the same.
  private mutating func appendEscaping(json: [UInt8]) {
    bytes.reserveCapacity(bytes.count + json.count)
    for byte in json {
      switch byte {
      case UInt8(ascii: "<"): append(markup: "\\u003c")
      case UInt8(ascii: ">"): append(markup: "\\u003e")
      case UInt8(ascii: "&"): append(markup: "\\u0026")
      default: bytes.append(byte)
      }
    }
  }
}

/// Pieces with a separator between them.
extension [HTML] {
  package func joined(_ separator: HTML) -> HTML {
    var html = HTML()
    for (index, piece) in enumerated() {
      if index > 0 { html += separator }
      html += piece
    }
    return html
  }
}
