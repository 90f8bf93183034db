// SPDX-License-Identifier: Apache-2.0
/// Labels with texts beside them, wrapped to the terminal.
struct LabeledText {
  /// The width of the labels in columns.
  let indent: Int
  let style: TextStyle

  /// - Parameter isList: whether several texts get a dash each.
  func text(_ label: String, _ texts: [String], isList: Bool = false, color: TextStyle.Color? = nil) -> String {
    var text = ""
    let mark = isList && texts.count > 1 ? "- " : ""
    for item in texts where !item.isEmpty {
      for (index, line) in lines(item, indent: indent + mark.utf8.count).enumerated() {
        let name = text.isEmpty ? label : ""
        let begin = index == 0 ? mark : String(repeating: " ", count: mark.utf8.count)
        let line = color.map { style.colored(line, $0) } ?? line
        text += name + String(repeating: " ", count: indent - name.utf8.count) + begin + line + "\n"
      }
    }
    return text
  }

  func lines(_ text: String, indent: Int) -> [String] {
    guard let width = style.width, width > indent + 16 else { return [text] }
    return DisplayWidth.wrapped(text, to: width - indent)
  }
}
