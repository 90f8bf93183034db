// SPDX-License-Identifier: Apache-2.0
/// One kind of wrapping.
struct UnwrappingRow: Sendable {
  let name: String
  /// The text without the wrapping; nil if it does not have it.
  let remove: @Sendable ([UInt8]) -> Removal?
  /// A file that has this wrapping and no report in it, in words: "an RTF document whose text holds no report".
  var refusal: String?
  /// Whether the removal leaves out text that stands around a report.
  var leavesOut = false

  /// In the order in which they are tried, after each removal from the first one on.
  static let all: [UnwrappingRow] = [
    UnwrappingRow(
      name: "wide characters", remove: Encodings.narrow, refusal: "UTF-16 or UTF-32 text without a report"),
    UnwrappingRow(name: "old line ends", remove: Encodings.lineEnds),
    UnwrappingRow(name: "control characters", remove: TerminalText.remove),
    UnwrappingRow(name: "lines of objects", remove: LogObjects.remove),
    UnwrappingRow(name: "double spacing", remove: LineBreaks.singleSpaced),
    UnwrappingRow(name: "indented fence", remove: LinePrefixes.indentationOfFence),
    UnwrappingRow(name: "part of a mail", remove: MailParts.decode),
    UnwrappingRow(name: "quoted-printable", remove: QuotedPrintable.remove),
    UnwrappingRow(name: "typographic quotation marks", remove: Typography.remove),
    UnwrappingRow(name: "rich text", remove: RichText.remove, refusal: "an RTF document whose text holds no report"),
    UnwrappingRow(name: "text in a string", remove: EscapedText.remove, leavesOut: true),
    UnwrappingRow(name: "page", remove: Markup.ofPage),
    UnwrappingRow(name: "no-break spaces", remove: UnicodeBlanks.remove),
    UnwrappingRow(name: "escapes", remove: MarkdownEscapes.remove),
    UnwrappingRow(name: "emphasis", remove: Emphasis.remove),
    UnwrappingRow(name: "starts of lines", remove: LinePrefixes.remove),
    UnwrappingRow(name: "words before lines", remove: LinePrefixes.words),
    UnwrappingRow(name: "tags and entities", remove: Markup.remove),
    UnwrappingRow(name: "starts of a log's lines", remove: LogLines.remove),
    UnwrappingRow(name: "indentation", remove: LinePrefixes.indentation),
    UnwrappingRow(name: "cut first letters", remove: CutStart.remove),
    UnwrappingRow(name: "lines of frames", remove: VerticalFrames.remove),
    UnwrappingRow(name: "filled lines", remove: PaddedLines.remove),
    UnwrappingRow(name: "text before JSON", remove: Surroundings.ofJSON, leavesOut: true),
    UnwrappingRow(name: "broken lines", remove: LineBreaks.joined),
    UnwrappingRow(name: "text around a report", remove: Surroundings.ofText, leavesOut: true),
    UnwrappingRow(name: "long text before a report", remove: Surroundings.beforeLateReport, leavesOut: true),
  ]
}
