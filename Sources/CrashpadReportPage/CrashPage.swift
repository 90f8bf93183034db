// SPDX-License-Identifier: Apache-2.0
package import CrashpadMeaning
internal import CrashpadSnapshot
package import CrashpadSymbolication
internal import CrashpadText
package import CrashpadView

/// A page about one crash. Every text may be hostile: it comes from a dump or from a file with symbols.
package struct CrashPage: Sendable {
  /// Frames of the thread that crashed, the first and the last.
  static let crashedFrames = 512

  package struct Options: Sendable {
    /// In place of what crashed.
    package var title: String?
    /// Whether directories of this machine are left out.
    package var isRedacted = false
    /// The lines of a source file around a line, which counts from 1; nil where there is no such file.
    package var quote: (@Sendable (_ file: String, _ line: UInt64) -> Source?)?
    /// "crashpadctl 0.1.0"
    package var generator = "crashpadctl"

    package init() {}
  }

  /// Lines of a source file around a frame.
  package struct Source: Sendable, Hashable {
    /// Number of the first line, from 1.
    package var first: Int
    package var lines: [String]
    /// The line of the frame.
    package var line: Int

    package init(first: Int, lines: [String], line: Int) {
      self.first = first
      self.lines = lines
      self.line = line
    }
  }

  /// Lines of text, the first of a longer one.
  package struct Listing: Sendable {
    package var title: String
    package var text: String
    /// The command that prints the rest; nil if this is all.
    package var rest: String?

    package init(title: String, text: String, rest: String? = nil) {
      self.title = title
      self.text = text
      self.rest = rest
    }
  }

  package let view: CrashView
  /// The file's name without directories.
  package let name: String
  package let options: Options
  package let explanation: Explanation
  package let symbolFindings: [SymbolFileFinding]
  /// The records of the file in lines, or the streams.
  package var tree: Listing?
  /// The report as plain text, for tickets.
  package var text = ""
  /// For each module, whether it belongs to the application.
  let isOfApp: [Bool]
  let processName: String?
  /// Names for registers and other addresses outside of stacks.
  let named: CrashView

  /// - Parameters:
  ///   - view: the crash, with the stacks of all threads.
  ///   - cache: the symbols.
  package init(_ view: CrashView, _ cache: SymbolCache, name: String, _ options: Options) {
    self.view = view
    self.name = name
    self.options = options
    named = view.naming(cache)
    let evidence = view.evidence(cache)
    explanation = Explanation(evidence.evidence)
    symbolFindings = evidence.symbolFindings
    isOfApp = evidence.isOfApp
    processName = evidence.evidence.processName
  }

  /// "server: SIGSEGV / SEGV_MAPERR at 0x10"
  package var title: String {
    if let title = options.title { return title }
    let process = processName.map { TextFormat.printable($0) } ?? name
    return "\(process): \(view.exception?.title ?? view.report?.kind.rawValue ?? "no crash")"
  }

  /// The summary of the explanation as one line.
  package var summary: String { TextFormat.printable(explanation.summary) }

  // MARK: Frames

  /// A line of a stack with what a page adds to it.
  package struct Frame: Sendable {
    package let line: CrashView.Line
    /// Whether the code is the program's, and not the system's.
    package let isOwn: Bool
    package let location: String?
    package let source: Source?
  }

  /// The frames of a stack.
  ///
  /// - Parameter quotes: whether source lines are added, of each place once: the frames of a recursion have the same.
  package func frames(_ rows: [CrashView.Row], marking: Bool, quotes: Bool) -> [Frame] {
    var quoted: Set<String> = []
    return zip(rows, view.lines(rows, marking: marking)).map { row, line in
      var source: Source?
      if quotes, let quote = options.quote, let (file, number) = row.function?.source, number > 0,
        quoted.insert("\(file):\(number)").inserted
      {
        source = quote(file, number)
      }
      return Frame(
        line: line, isOwn: row.module.map { isOfApp[$0] } ?? false,
        location: options.isRedacted ? line.shortLocation : line.location, source: source)
    }
  }

  /// The frames of the stack of the thread that crashed, at most `limit`.
  package func crashedFrames(limit: Int) -> [Frame] {
    guard view.hasCrash, let stack = view.crashedStack else { return [] }
    let (first, _, last) = stack.rows(limit: Self.crashedFrames)
    return Array(frames(Array(first) + Array(last), marking: true, quotes: false).prefix(limit))
  }

  /// Whether the frames of the thread that crashed name lines of sources, and whether one of them is quoted.
  package var crashedSources: (named: Bool, quoted: Bool)? {
    guard view.hasCrash, let stack = view.crashedStack else { return nil }
    let (first, _, last) = stack.rows(limit: Self.crashedFrames)
    let frames = frames(Array(first) + Array(last), marking: true, quotes: true)
    return (frames.contains { $0.location != nil }, frames.contains { $0.source != nil })
  }
}
