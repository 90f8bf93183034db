// SPDX-License-Identifier: Apache-2.0
package import CrashpadMeaning
package import CrashpadSignatures
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
    /// The address at which a reader opens a line of a source file; nil where there is none.
    package var link: (@Sendable (_ file: String, _ line: UInt64) -> String?)?
    /// "crashpadctl 0.1.0"
    package var generator = "crashpadctl"
    /// The commands that list missing symbols and make the page with them; nil where there are none to name.
    package var commands: Commands?

    package init() {}
  }

  /// Commands as a shell takes them.
  package struct Commands: Sendable {
    /// Lists the files that a symbol server has to have.
    package var missing: String
    /// Makes the page again with symbols.
    package var again: String

    package init(missing: String, again: String) {
      self.missing = missing
      self.again = again
    }
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
  let signatures: SignatureOptions

  /// - Parameters:
  ///   - view: the crash, with the stacks of all threads and its signature.
  ///   - cache: the symbols.
  ///   - signatures: which modules belong to the program.
  package init(
    _ view: CrashView, _ cache: SymbolCache, _ signatures: SignatureOptions, name: String, _ options: Options
  ) {
    self.view = view
    self.name = name
    self.options = options
    self.signatures = signatures
    named = view.naming(cache)
    let evidence = view.evidence(cache, signatures)
    explanation = Explanation(evidence.evidence)
    symbolFindings = evidence.symbolFindings
    isOfApp = evidence.isOfApp
    processName = evidence.evidence.processName
  }

  /// "server: bad-access[null] · Cart::total": the fault has one name on the page.
  package var title: String {
    if let title = options.title { return title }
    let process = processName.map { TextFormat.printable($0) } ?? name
    return "\(process): \(fault ?? view.exception?.title ?? view.report?.kind.rawValue ?? "no crash")"
  }

  /// The signature as one line; nil of an input that is no crash.
  var fault: String? {
    guard let signature = view.signature, explanation.isCrash || signature.anchor != nil else { return nil }
    return TextFormat.printable(signature.text)
  }

  /// The summary of the explanation as one line.
  package var summary: String { TextFormat.printable(explanation.summary) }

  // MARK: Frames

  /// A line of a stack with what a page adds to it.
  package struct Frame: Sendable {
    package let line: CrashView.Line
    /// Whether the code is the program's, and not the system's.
    package let isOwn: Bool
    /// An index of the view's modules; nil outside all of them.
    let module: Int?
    let isNamed: Bool
    package let location: String?
    package let source: Source?
    /// The address of the line in an editor or a browser.
    let link: String?
  }

  /// The frames of a stack.
  ///
  /// - Parameter quotes: whether source lines are added, of each place once: the frames of a recursion have the same.
  package func frames(_ rows: [CrashView.Row], of stack: CrashView.Stack, quotes: Bool) -> [Frame] {
    var quoted: Set<String> = []
    return zip(rows, view.lines(rows, of: stack)).map { row, line in
      var source: Source?
      var link: String?
      if let (file, number) = row.function?.source, number > 0 {
        link = options.link?(file, number)
        if quotes, let quote = options.quote, quoted.insert("\(file):\(number)").inserted {
          source = quote(file, number)
        }
      }
      return Frame(
        line: line, isOwn: row.module.map { isOfApp[$0] } ?? false, module: row.module, isNamed: row.name != nil,
        location: options.isRedacted ? line.shortLocation : line.location, source: source, link: link)
    }
  }

  /// The stack to read first: that of the thread that crashed, or else that in which the fault is.
  var firstStack: CrashView.Stack? {
    if view.hasCrash, let crashed = view.crashedStack { return crashed }
    return view.signature?.anchor.flatMap { anchor in view.threadStacks.first { $0.owns(anchor) } }
  }

  /// The stack that a page about many crashes shows: where the fault is, at most `limit` frames.
  package func exampleFrames(limit: Int) -> [Frame] {
    let thrown = view.lastException.flatMap { stack in
      view.signature?.anchor.map { stack.owns($0) } == true ? stack : nil
    }
    guard let stack = thrown ?? firstStack else { return [] }
    let (first, _, last) = stack.rows(limit: Self.crashedFrames)
    return Array(frames(Array(first) + Array(last), of: stack, quotes: false).prefix(limit))
  }

  /// Whether the frames of the thread that crashed name lines of sources, and whether one of them is quoted.
  package var crashedSources: (named: Bool, quoted: Bool)? {
    guard let stack = firstStack else { return nil }
    let (first, _, last) = stack.rows(limit: Self.crashedFrames)
    let frames = frames(Array(first) + Array(last), of: stack, quotes: true)
    return (frames.contains { $0.location != nil }, frames.contains { $0.source != nil })
  }
}
