// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadMinidump
import CrashpadReportPage
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText
import CrashpadView
import SystemPackage

/// Makes the page about one crash of what the other commands print: the sentence of `explain`, the stacks of `symbolize`, the
/// tables of `inspect`, the findings of `validate`.
struct CrashPageMaker: Sendable {
  let cache: SymbolCache
  let signatures: SignatureOptions
  var options = CrashPage.Options()

  static let generator = toolVersionText
  /// The name of an input without one.
  static let standardInput = "standard input"

  init(
    cache: SymbolCache, signatures: SignatureOptions, title: String? = nil, isRedacted: Bool = false,
    sources: SourceTree? = nil, link: SourceLink? = nil
  ) {
    self.cache = cache
    self.signatures = signatures
    options.title = title
    options.isRedacted = isRedacted
    if let sources { options.quote = { file, line in sources.lines(of: file, around: line) } }
    if let link { options.link = { file, line in link.address(of: file, line: line, in: sources) } }
    options.generator = Self.generator
  }

  /// - Parameter name: the file's name without directories.
  func page(_ dump: Dump, _ snapshot: ProcessSnapshot, name: String) -> CrashPage {
    let view = CrashView(dump, snapshot, cache, threads: .all, signatures: signatures)
    var options = self.options
    let file = name == Self.standardInput ? "FILE" : ShellWord.quoted(name)
    options.commands = CrashPage.Commands(
      missing: "crashpadctl symbolize --missing \(file)",
      again: "crashpadctl report --symbols DIR \(file) -o crash.html")
    var page = CrashPage(view, cache, signatures, name: name, options)
    page.tree = Self.listing(view)
    page.text = Self.text(page)
    return page
  }

  /// Lines of the tree that a page has.
  private static let lines = 1500

  private static func listing(_ view: CrashView) -> CrashPage.Listing? {
    if let tree = view.tree {
      var lines: [String] = []
      var isCut = false
      view.file.withBytes { bytes in
        TreeText.write(tree, bytes) { line in
          isCut = lines.count == Self.lines
          if !isCut { lines.append(line) }
          return !isCut
        }
      }
      return CrashPage.Listing(
        title: "Raw records", text: lines.joined(), rest: isCut ? "crashpadctl inspect --tree" : nil)
    }
    if view.streams.isEmpty { return nil }
    let lines = view.streams.map { stream in
      "\(hexadecimal(UInt64(stream.range.offset), width: 8))  \(stream.type.name), \(TextFormat.count(stream.range.count, "byte"))\n"
    }
    return CrashPage.Listing(title: "Streams", text: lines.joined())
  }

  /// Frames of the text: a ticket's field takes no more.
  private static let textFrames = 64

  /// The summary of `explain`, and then the stack as `symbolize` prints it.
  private static func text(_ page: CrashPage) -> String {
    var text = page.summary + "\n\n" + OverviewText(view: page.view, name: page.name).text(.head)
    let stacks = StackText(view: page.view, limit: textFrames)
    for stack in [page.view.lastException, page.view.crashedStack].compactMap({ $0 }) {
      text += "\n" + stacks.text(stack)
    }
    return text
  }
}
