import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadText
import IntermediateDump
import CrashpadMeaning
import CrashpadMinidump
import CrashpadReportPage
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage

/// Makes the page about one crash of what the other commands print: the sentence of `explain`, the stacks of `symbolize`, the
/// tables of `inspect`, the findings of `validate`.
struct CrashPageMaker: Sendable {
  let cache: SymbolCache
  let signatures: SignatureOptions
  /// In place of what crashed.
  var title: String?
  /// Whether directories of this machine are left out.
  var isRedacted = false
  var sources: SourceTree?

  static let generator = toolVersionText

  /// - Parameters:
  ///   - inspection: the dump, which has a snapshot.
  ///   - name: the file's name without directories.
  func page(_ dump: Dump, _ snapshot: ProcessSnapshot, name: String) -> MadePage {
    let symbolized = SymbolizedView(dump, snapshot, cache, threads: .all, signatures: signatures)
    let evidence = EvidenceReader(snapshot, dump.file, cache, symbolized.result)
    let writer = CrashPageFiller(maker: self, symbolized: symbolized, evidence: evidence, name: name)
    return MadePage(page: writer.page(), symbolFindings: evidence.symbolFindings, signature: symbolized.signature)
  }
}

/// A page, and what there is to report beside it.
struct MadePage: Sendable {
  let page: CrashPage
  let symbolFindings: [SymbolFileFinding]
  let signature: Signature?
}

/// Fills the parts of one page.
struct CrashPageFiller {
  let maker: CrashPageMaker
  let symbolized: SymbolizedView
  let evidence: EvidenceReader
  let name: String
  /// All captured memory, by address.
  let ranges: [(region: MemoryRegion, what: String)]

  init(maker: CrashPageMaker, symbolized: SymbolizedView, evidence: EvidenceReader, name: String) {
    self.maker = maker
    self.symbolized = symbolized
    self.evidence = evidence
    self.name = name
    ranges = DetailText.ranges(symbolized.view)
  }

  var view: DumpView { symbolized.view }
  var snapshot: ProcessSnapshot { symbolized.view.snapshot }

  /// Findings that a page lists; a damaged dump may have a thousand.
  private static let findings = 200

  func page() -> CrashPage {
    let explanation = Explanation(evidence.evidence)
    var page = CrashPage(
      title: maker.title ?? title, subtitle: "\(name): \(OverviewText.kind(view))", generator: CrashPageMaker.generator)
    page.isDamaged = !view.dump.isWhole || view.dump.status != .success
    page.explanation = Self.explanation(explanation)
    page.facts = facts
    addStacks(to: &page)
    addRegisters(to: &page)
    let texts = AnnotationText(view: view)
    page.messages = texts.messages
    page.annotations = texts.annotations
    page.modules = modules
    page.memory = memory
    addFindings(to: &page)
    page.tree = listing
    page.text = plainText(explanation)
    return page
  }

  /// "server: SIGSEGV / SEGV_MAPERR at 0x10"
  private var title: String {
    let process = evidence.evidence.processName.map { Wording.printable($0) } ?? name
    guard let exception = snapshot.exception else {
      return "\(process): " + (snapshot.report.map { $0.kind.rawValue } ?? "no crash")
    }
    return "\(process): \(ExceptionDescription(exception, snapshot.system).title)"
  }

  // MARK: Explanation and facts

  private static func explanation(_ explanation: Explanation) -> CrashPage.Explanation {
    func items(_ texts: [String]) -> [CrashPage.Explanation.Item] {
      texts.filter { !$0.isEmpty }.map { CrashPage.Explanation.Item(Wording.printable($0)) }
    }
    var made = CrashPage.Explanation(
      summary: Wording.printable(explanation.summary), isCrash: explanation.isCrash)
    let evidence = explanation.evidence.map { evidence in
      CrashPage.Explanation.Item(
        Wording.printable(evidence.text), place: evidence.place.map { Wording.printable($0) },
        frame: evidence.thread.flatMap { thread in
          evidence.frame.map { CrashPage.FrameID(thread: thread, number: $0) }
        })
    }
    made.parts = [
      .init("Ended by", items(explanation.endedBy)), .init("Evidence", evidence),
      .init("To do", items(explanation.advice)), .init("Beware", items(explanation.cautions)),
      .init("Not known", items(explanation.notKnown)),
    ]
    made.sources = explanation.sources
    return made
  }

  private var facts: [CrashPage.Fact] {
    // These have sections of their own.
    let elsewhere: Set = ["Summary", "Messages", "Annotations"]
    var facts = OverviewText.facts(view).filter { !elsewhere.contains($0.label) }
    if let signature = symbolized.signature {
      facts.append(CrashPage.Fact("Signature", ["\(signature.id)  \(Wording.printable(signature.text))"]))
    }
    return facts
  }

  // MARK: Modules

  private var modules: [CrashPage.Module] {
    symbolized.result.modules.map { module in
      let recorded = snapshot.modules[module.index]
      let end = recorded.address.flatMap { address in recorded.size.map { address &+ $0 } }
      return CrashPage.Module(
        name: view.moduleName(module.index), path: view.text(recorded.name) ?? "",
        start: recorded.address.map(view.fullAddress) ?? "-", end: end.map(view.fullAddress) ?? "-",
        version: view.version(recorded) ?? "", identity: view.identity(recorded) ?? "", state: Self.state(module),
        symbols: symbols(of: module), isOwn: evidence.isOfApp[module.index])
    }
  }

  private static func state(_ module: Symbolization.Module) -> CrashPage.Module.State {
    guard let search = module.symbols?.search else { return .unused }
    return search.files.isEmpty ? (search.refused.isEmpty ? .missing : .refused) : .found
  }

  private func symbols(of module: Symbolization.Module) -> String {
    guard module.symbols != nil else { return "" }
    if maker.isRedacted, let search = module.symbols?.search {
      return (search.files.map(\.path) + search.refused.map(\.path)).compactMap { $0.lastComponent?.string }.map {
        Wording.printable($0)
      }.joined(separator: ", ")
    }
    return ModuleSymbolText.state(module)
  }

  // MARK: Findings, records, text

  private func addFindings(to page: inout CrashPage) {
    let all = view.dump.allFindings
    page.findings = all.mostSevere(Self.findings).map { index in
      let finding = all.findings[index]
      return CrashPage.Finding(
        severity: finding.severity.rawValue, offset: finding.offset.map { "0x" + String($0, radix: 16) },
        text: Wording.printable(Sentences.sentence(finding)), code: finding.rule.code)
    }
    page.droppedFindings = all.findings.count - page.findings.count + all.droppedCount
  }

  /// Lines of the tree that a page has.
  private static let lines = 1500

  private var listing: CrashPage.Listing? {
    if let tree = view.dump.tree {
      var lines: [String] = []
      var isCut = false
      view.input.withBytes { bytes in
        TreeText.write(tree, bytes) { line in
          isCut = lines.count == Self.lines
          if !isCut { lines.append(line) }
          return !isCut
        }
      }
      return CrashPage.Listing(
        title: "Raw records", text: lines.joined(), rest: isCut ? "crashpadctl inspect --tree" : nil)
    }
    if view.dump.streams.isEmpty { return nil }
    let lines = view.dump.streams.map { stream in
      "\(hexadecimal(UInt64(stream.range.offset), width: 8))  \(stream.type.name), \(Wording.count(stream.range.count, "byte"))\n"
    }
    return CrashPage.Listing(title: "Streams", text: lines.joined())
  }

  /// The summary of `explain`, and then the stack as `symbolize` prints it.
  private func plainText(_ explanation: Explanation) -> String {
    var text = Wording.printable(explanation.summary) + "\n\n"
    text += OverviewText.head(view, name: name, signature: symbolized.signature)
    if let crashed = symbolized.crashed {
      text += "\n" + StackText(symbolized: symbolized, limit: Self.textFrames).text(crashed)
    }
    return text
  }

  /// Frames of the text: a ticket's field takes no more.
  private static let textFrames = 64
}
