// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The texts of a page that are too long for their places: each stands once, complete, at the page's end.
struct PageTexts {
  /// Characters that a text has in its place.
  static let limit = 300
  /// Characters of a function's name.
  static let frameLimit = 400

  private(set) var long: [String] = []
  private var numbers: [String: Int] = [:]

  /// A function's name in its place.
  mutating func place(name: String, limit: Int = PageTexts.limit) -> HTML {
    name.utf8.count > limit ? place(name, limit: limit) : HTML(name: name)
  }

  /// A text in its place: whole, or its beginning with a link to the whole.
  mutating func place(_ text: String, limit: Int = PageTexts.limit) -> HTML {
    // Characters are slow to count, and there may be a million.
    guard text.utf8.count > limit, text.unicodeScalars.count > limit else { return HTML(text) }
    let number = number(of: text)
    let start = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit - limit / 4)))
    let count = grouped(text.unicodeScalars.count)
    return "\(start)… <a href=\"#text\(number)\">(whole: \(count) characters)</a>"
  }

  /// The beginning of a text that is whole in another place. A summary may have no link.
  static func cut(_ text: String, to limit: Int) -> String {
    guard text.utf8.count > limit, text.unicodeScalars.count > limit else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit - 1))) + "…"
  }

  private mutating func number(of text: String) -> Int {
    if let number = numbers[text] { return number }
    long.append(text)
    numbers[text] = long.count
    return long.count
  }

  /// The section at the end; empty without long texts.
  var wholes: HTML {
    let items = long.enumerated().map { index, text -> HTML in
      """
      <details open data-fold id="text\(index + 1)"><summary>Text \(index + 1), \(grouped(text.unicodeScalars.count)) \
      characters</summary><pre class="wrap" tabindex="0" role="region" aria-label="Text \(index + 1)">
      \(text)</pre></details>

      """
    }
    return "\(items)"
  }
}

/// The sections of a page in their order, with links to them.
struct PageSections {
  private(set) var links: [(id: HTML, title: HTML)] = []
  private(set) var html = HTML()

  /// A section that has nothing in it is left out.
  mutating func add(_ id: HTML, _ title: HTML, _ content: HTML, _ attributes: HTML = "") {
    if content.isEmpty { return }
    html += """
      <section id="\(id)" aria-labelledby="\(id)-title"\(attributes)>
      <h2 id="\(id)-title">\(title)</h2>
      \(content)
      </section>

      """
    links.append((id, title))
  }
}

extension HTML {
  /// A function's name, which may break behind `::`, and not within "-[Cart".
  init(name: String) {
    self.init()
    var rest = name[...]
    while let start = rest.firstRange(of: "::") {
      self += Self(piece: rest[..<start.upperBound])
      self += "<wbr>"
      rest = rest[start.upperBound...]
    }
    self += Self(piece: rest)
  }

  /// Characters behind "-[" that do not break.
  private static let unbroken = 16

  private init(piece: Substring) {
    guard let start = piece.firstRange(of: "-[") ?? piece.firstRange(of: "+[") else {
      self.init(String(piece))
      return
    }
    // A name of a class may be longer than a phone is wide.
    let end =
      piece[start.upperBound...].prefix(Self.unbroken).firstIndex(of: " ") ?? piece.index(
        start.upperBound, offsetBy: Self.unbroken, limitedBy: piece.endIndex) ?? piece.endIndex
    self =
      "\(String(piece[..<start.lowerBound]))<span class=\"whole\">\(String(piece[start.lowerBound..<end]))</span>\(String(piece[end...]))"
  }
}

enum Page {
  static func list(_ items: [HTML]) -> HTML {
    switch items.count {
    case 0: ""
    case 1: "<p>\(items[0])</p>\n"
    default: "<ul>\(items.map { item -> HTML in "<li>\(item)</li>\n" })</ul>\n"
    }
  }

  struct Column: ExpressibleByStringLiteral {
    fileprivate let title: HTML
    fileprivate let classes: HTML?

    init(_ title: HTML, classes: HTML? = nil) {
      self.title = title
      self.classes = classes
    }

    init(stringLiteral title: StaticString) { self.init(HTML(stringLiteral: title)) }

    static func number(_ title: HTML) -> Column { Column(title, classes: "number") }
  }

  /// A table that may be wider than a phone: it scrolls by itself, also by keyboard.
  ///
  /// - Parameters:
  ///   - rowName: what the script calls the rows that it sorts and filters; nil for a table that stays as it is.
  ///   - classes: those of the table.
  static func table(
    _ label: HTML, of rowName: HTML? = nil, _ columns: [Column], rows: HTML, classes: HTML? = nil
  ) -> HTML {
    let name: HTML = rowName.map { " data-table=\"\($0)\"" } ?? ""
    let kind: HTML = classes.map { " class=\"\($0)\"" } ?? ""
    let head = columns.map { column -> HTML in
      let classes: HTML = column.classes.map { " class=\"\($0)\"" } ?? ""
      return "<th scope=\"col\"\(classes)>\(column.title)</th>"
    }
    return """
      <div class="scroll" role="group" aria-label="\(label)" tabindex="0"><table\(name)\(kind)>
      <caption class="unseen">\(label)</caption>
      <thead><tr>\(head)</tr></thead>
      <tbody>
      \(rows)</tbody></table></div>

      """
  }

  /// A part that the script folds at first. Without scripts it is open.
  static func fold(_ summary: HTML, _ content: HTML) -> HTML {
    "<details open data-fold><summary>\(summary)</summary>\n\(content)</details>"
  }

  /// Text whose lines stay as they are.
  static func block(_ label: HTML, _ text: HTML, _ attributes: HTML = "") -> HTML {
    "<pre\(attributes) tabindex=\"0\" role=\"region\" aria-label=\"\(label)\">\n\(text)</pre>\n"
  }
}

/// "1 frame", "2 frames"
func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
  "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
}
