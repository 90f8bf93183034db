import BinaryFormat
import CrashpadCore
import FileSystem
import Meaning
import Signatures
import Snapshot
import Symbolication
import SystemPackage

/// One input of `explain`, read as far as an explanation needs it.
struct ExplainedInput {
  let explanation: Explanation?
  /// Made where `makesSignature`, and something can be read.
  let signature: Signature?
  let findings: FindingList
  let symbolFindings: [SymbolFileFinding]

  init(
    _ input: DumpInput, architecture: CPUArchitecture?, _ cache: SymbolCache, makesSignature: Bool = false
  ) throws {
    let inspection = try input.file.checkingReading { Inspection(input, architecture: architecture) }
    findings = inspection.findings
    guard let snapshot = inspection.snapshot else {
      (explanation, signature) = (nil, nil)
      symbolFindings = []
      return
    }
    let stacks = try inspection.file.checkingReading { EvidenceReader(snapshot, inspection.file, cache) }
    explanation = Explanation(stacks.evidence)
    signature =
      makesSignature ? Signature(snapshot, inspection.file, stacks.symbolization, SignatureOptions(cache)) : nil
    symbolFindings = stacks.symbolFindings
  }
}

/// Makes texts and named stacks of a snapshot.
struct EvidenceReader {
  let evidence: CrashEvidence
  let symbolization: Symbolization
  let symbolFindings: [SymbolFileFinding]
  /// Of each module whether it is the application's.
  let isOfApp: [Bool]

  /// - Parameter known: the stacks of all threads, if they were made already.
  init(_ snapshot: ProcessSnapshot, _ input: InputFile, _ cache: SymbolCache, _ known: Symbolization? = nil) {
    func text(_ content: Content?) -> String? {
      guard let content, !content.isEmpty else { return nil }
      return input.withBytes { snapshot.text(content, in: $0) }
    }
    let paths = snapshot.modules.map { text($0.name) ?? text($0.debugName) ?? "" }
    let executable = snapshot.modules.firstIndex { $0.fileType == .executable }
    let processName = snapshot.report?.processName ?? executable.map { lastPathComponent(paths[$0]) }
    isOfApp = AppCode(paths, executable: executable, snapshot.report, snapshot.system.operatingSystem).isOfApp
    let reader = FrameReader(paths: paths, isOfApp: isOfApp)

    let result = known ?? Symbolization(snapshot, input, cache, threads: .all)
    symbolization = result
    symbolFindings = result.modules.flatMap { $0.symbols?.fileFindings ?? [] }
    var threads: [CrashEvidence.Thread] = []
    var crashed: Int?
    for thread in result.threads.sorted(by: { ($0.index ?? .max) < ($1.index ?? .max) }) {
      if thread.isCrashed, snapshot.exception != nil || snapshot.report?.faultingThread != nil {
        crashed = threads.count
      }
      let known = thread.index.map { snapshot.threads[$0] }
      threads.append(
        CrashEvidence.Thread(
          index: thread.index ?? threads.count, name: text(known?.name), queue: text(known?.queue),
          frames: thread.frames.flatMap { reader.frames($0) }))
    }
    evidence = CrashEvidence(
      exception: snapshot.exception, system: snapshot.system, report: snapshot.report, processName: processName,
      threads: threads, crashed: crashed, lastException: result.lastException.flatMap { reader.frames($0) },
      messages: Self.messages(snapshot, text))
  }

  /// What `explain` says first, without any symbols.
  static func summary(_ view: InspectionView) -> String {
    let cache = SymbolCache(SymbolSearch(paths: [], looksInSystem: false))
    return Wording.printable(Explanation(EvidenceReader(view.snapshot, view.input, cache).evidence).summary)
  }

  private static func messages(_ snapshot: ProcessSnapshot, _ text: (Content?) -> String?) -> [String] {
    var messages = snapshot.report?.messages.map(\.text) ?? []
    for module in snapshot.modules { messages += module.messages.compactMap { text($0) } }
    for annotation in snapshot.annotations {
      guard let value = text(annotation.value), MeaningTable.message(value) != nil else { continue }
      messages.append(value)
    }
    return messages
  }
}

/// Names of frames.
private struct FrameReader {
  let paths: [String]
  let isOfApp: [Bool]

  /// A frame, and the calls that were inlined into it.
  func frames(_ frame: Symbolization.Frame) -> [CrashEvidence.Frame] {
    let module = frame.frame.module
    let functions = frame.symbol?.frames ?? []
    func make(_ function: SymbolizedAddress.Frame?) -> CrashEvidence.Frame {
      let location = SymbolizedView.location(function).map { "\(lastPathComponent($0.file)):\($0.line)" }
      return CrashEvidence.Frame(
        function: SymbolizedView.name(function), module: name(module), offset: frame.frame.moduleOffset,
        location: location, isOfApp: module.map { isOfApp[$0] } ?? false)
    }
    return functions.isEmpty ? [make(nil)] : functions.map { make($0) }
  }

  private func name(_ module: Int?) -> String? { module.map { Wording.printable(lastPathComponent(paths[$0])) } }
}

/// Which modules are the application's, by their paths.
private struct AppCode {
  let isOfApp: [Bool]

  private static let systemFolders = [
    "/System/", "/usr/lib/", "/usr/lib64/", "/lib/", "/lib64/", "/Library/Apple/", "/private/preboot/", "/usr/libexec/",
    "C:\\Windows\\", "/apex/", "/system/", "/vendor/",
  ]

  init(_ paths: [String], executable: Int?, _ report: ReportSnapshot?, _ system: OperatingSystem) {
    // Reports that have names in place of paths: the process has that of its program.
    let program = report?.processPath ?? executable.map { paths[$0] }
    let name = report?.processName ?? program.map { lastPathComponent($0) }
    isOfApp = paths.enumerated().map { index, path in
      if path.isEmpty { return false }
      if index == executable || path == program || lastPathComponent(path) == name { return true }
      let isSystem = Self.systemFolders.contains { path.hasPrefix($0) || path.holds("/Symbols" + $0) }
      if isSystem { return false }
      return path.holds(".app/") || path.holds("/Bundle/Application/")
        || (path.hasPrefix("/") && system == .linux)
        || (system == .windows && path.contains("\\"))
    }
  }
}
