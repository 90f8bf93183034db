// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// The texts in which debuggers, sanitizers and runtimes of other systems tell of a crash: gdb, systemd-coredump, Address
/// Sanitizer, Android, Java's VM, Go, Rust, Python, Julia, R, Wine, Chromium, glibc, LLVM and V8, handlers of signals of libraries and
/// servers, and the reports that apport makes of these. Only a text with a stack of its tool's own form is one, or with the first
/// line of apport.
enum ToolText {
  /// The form of one tool.
  struct Form: Sendable {
    /// Whether the lines are of this tool.
    fileprivate let isIn: @Sendable ([TextBytes]) -> Bool
    fileprivate let read: @Sendable ([TextBytes], inout ToolStacks) -> Void
    /// Whether blanks before lines have a meaning.
    fileprivate var hasIndentation = false

    func read(_ text: TextBytes, into builder: inout ReportBuilder) {
      var stacks = ToolStacks(builder)
      read(hasIndentation ? ToolText.rawLines(text) : ToolText.lines(text), &stacks)
      builder = stacks.finish()
    }
  }

  /// In the order in which they are tried: what tells more stands before, and a runtime before the debugger that ran it.
  private static let forms = [
    Form(isIn: ApportText.isIn, read: ApportText.read, hasIndentation: true),
    Form(isIn: SanitizerText.isIn, read: SanitizerText.read),
    Form(isIn: HotSpotText.isIn, read: HotSpotText.read),
    Form(isIn: TombstoneText.isIn, read: TombstoneText.read),
    Form(isIn: CoredumpText.isIn, read: CoredumpText.read),
    Form(isIn: GdbText.isIn, read: GdbText.read),
    Form(isIn: GoText.isIn, read: GoText.read),
    Form(isIn: RustText.isIn, read: RustText.read),
    Form(isIn: PythonText.isIn, read: PythonText.read),
    Form(isIn: JuliaText.isIn, read: JuliaText.read),
    Form(isIn: RText.isIn, read: RText.read),
    Form(isIn: WineText.isIn, read: WineText.read),
    Form(isIn: BackwardText.isIn, read: BackwardText.read),
    Form(isIn: ClickHouseText.isIn, read: ClickHouseText.read),
    Form(isIn: ChromiumText.isIn, read: ChromiumText.read),
    Form(isIn: GlogText.isIn, read: GlogText.read),
    Form(isIn: EnvoyText.isIn, read: EnvoyText.read),
    Form(isIn: CompilerText.isIn, read: CompilerText.read),
    Form(isIn: DartText.isIn, read: DartText.read),
    Form(isIn: GodotText.isIn, read: GodotText.read),
    Form(isIn: GlibcText.isIn, read: GlibcText.read),
    Form(isIn: EngineText.isIn, read: EngineText.read),
  ]

  /// The form of a text, by its beginning; nil if it is of none of these tools.
  static func form(ofTextWith start: TextBytes) -> Form? {
    let lines = lines(start)
    return forms.first { $0.isIn(lines) }
  }

  /// The lines without marks of quotations and fences. A blank line stays, as it ends stacks.
  private static func lines(_ text: TextBytes) -> [TextBytes] { rawLines(text).map(PastedLine.content) }

  private static func rawLines(_ text: TextBytes) -> [TextBytes] {
    text.split(separator: 0x0a, omittingEmptySubsequences: false).flatMap { line in
      (line.last == 0x0d ? line.dropLast() : line).split(separator: 0x0d, omittingEmptySubsequences: false)
    }
  }
}
