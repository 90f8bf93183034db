// SPDX-License-Identifier: Apache-2.0
internal import CrashpadAppleReports
package import CrashpadBytes
internal import CrashpadElfCore
internal import DumpInterpretation
internal import CrashpadFiles
internal import CrashpadJSON
package import IntermediateDump
package import CrashpadMinidump
package import CrashpadSnapshot
package import SystemPackage

/// The properties of one input format. A new format is a row here, a case of `InputFormat`, and a target with its reader.
package struct FormatRow: Sendable {
  package let format: InputFormat
  /// "minidump"
  package let title: String
  /// Ends of file names, without the dot.
  package let extensions: [String]
  /// Whether an input that begins so has this format.
  package let recognises: @Sendable (RawSpan) -> Bool
  let read: @Sendable (InputFile, ReadingOptions) -> FormatReading
  /// Findings of the format's own rules; nil where reading makes them.
  let check: (@Sendable (DumpTree, RawSpan, Limits) -> FindingList)?
  let rules: [Rule]
  /// The formats to which an input is converted.
  package let targets: [ConversionTarget]

  /// In the order in which an input is compared with them.
  package static let all: [FormatRow] =
    [
      FormatRow(
        format: .intermediateDump, title: "intermediate dump", extensions: ["idump"],
        recognises: { $0.byteCount >= 1 && $0.uint8(at: 0) == 0x06 },
        read: FormatReading.intermediateDump, check: checkDump,
        rules: DumpRules.all + InterpretationRules.all, targets: [.minidump, .json, .idump]),
      FormatRow(
        format: .minidump, title: "minidump", extensions: ["dmp", "mdmp"],
        recognises: { $0.byteCount >= 4 && $0.uint32(at: 0) == 0x504d_444d },
        read: FormatReading.minidump, check: nil, rules: MinidumpRules.all, targets: []),
      FormatRow(
        format: .core, title: "core file", extensions: ["core"],
        recognises: { $0.byteCount >= 4 && $0.uint32(at: 0) == 0x464c_457f },
        read: FormatReading.core, check: nil, rules: CoreRules.all, targets: [.minidump]),
    ]
    + [
      report(.ips, "crash report (.ips)", ["ips", "synced"]), report(.crash, "crash report (.crash)", ["crash"]),
      report(.metricKit, "MetricKit diagnostic", []), report(.ksCrash, "KSCrash report", []),
      report(.swiftBacktrace, "swift-backtrace log", []),
    ]
    + [
      FormatRow(
        format: .microdump, title: "microdump", extensions: ["microdump"], recognises: MicrodumpReader.recognises,
        read: FormatReading.microdump, check: nil, rules: MicrodumpRules.all, targets: []),
      FormatRow(
        format: .json, title: "intermediate dump, from JSON", extensions: [],
        recognises: FormatReading.beginsLikeJSON,
        read: FormatReading.intermediateDump, check: checkDump, rules: [],
        targets: [.minidump, .json, .idump]),
    ]

  private static func checkDump(_ tree: DumpTree, _ bytes: RawSpan, _ limits: Limits) -> FindingList {
    DumpValidator.validate(tree, in: bytes, limits: limits)
  }

  /// The findings of all rules: of the format, of reading, and of the state of the process.
  func findings(of reading: FormatReading, in file: InputFile, _ limits: Limits) -> FindingList {
    var findings = reading.findings
    if let check, let tree = reading.tree {
      findings = file.withBytes { check(tree, $0, limits) }
      // The framing's finding is there already, from the tree.
      for finding in reading.findings where finding != tree.incomplete { findings.append(finding) }
    }
    if let snapshot = reading.snapshot {
      findings.append(contentsOf: SnapshotChecks(snapshot, limits: limits).findings)
    }
    if format == .json { findings.removeOffsets() }
    return findings
  }

  private static func report(_ format: InputFormat, _ title: String, _ extensions: [String]) -> FormatRow {
    FormatRow(
      format: format, title: title, extensions: extensions,
      recognises: { ReportFormat.of($0).map { $0 == format.reportFormat } ?? false },
      read: { FormatReading.report($0, format.reportFormat ?? .ips, $1) }, check: nil,
      // The five share their rules.
      rules: format == .ips ? ReportRules.all : [], targets: [.json, .ips])
  }

  package static func of(_ format: InputFormat) -> FormatRow {
    guard let row = all.first(where: { $0.format == format }) else { preconditionFailure("every format has a row") }
    return row
  }

  /// The format of a file's extension; nil for other names.
  package static func named(_ path: FilePath) -> InputFormat? {
    path.lastComponent.flatMap { named($0.string) }
  }

  /// - Parameter name: the last component; "a.dmp.gz" is a minidump.
  package static func named(_ name: String) -> InputFormat? {
    var stem = name.utf8.lastIndex(of: UInt8(ascii: "/")).map { name[name.utf8.index(after: $0)...] } ?? name[...]
    if let (rest, end) = split(stem), compressionExtensions.contains(end) { stem = rest }
    if stem == "core" { return .core }
    guard let end = split(stem)?.end else { return nil }
    return all.first { row in row.extensions.contains { $0 == end } }?.format
  }

  /// The text before the last dot and that behind it; nil without a dot.
  private static func split(_ name: Substring) -> (rest: Substring, end: Substring)? {
    name.utf8.lastIndex(of: UInt8(ascii: ".")).map { (name[..<$0], name[name.utf8.index(after: $0)...]) }
  }

  // A set would cost each start the lookup of its conformance.
  private static let compressionExtensions: [Substring] = ["gz", "xz", "zst", "lz4"]
}

/// The options for reading an input.
package struct ReadingOptions: Sendable {
  package var architecture: CPUArchitecture?
  package var guessesArchitecture = true
  package var limits = Limits()

  package init() {}
}

/// The result of a format's reader.
package struct FormatReading: Sendable {
  package var tree: DumpTree?
  package var streams: [MinidumpReader.Stream] = []
  /// Nil if the input has no meaning that could be shown; `findings` says why.
  package var snapshot: ProcessSnapshot?
  package var findings: FindingList
}

extension FormatReading {
  fileprivate static func beginsLikeJSON(_ bytes: RawSpan) -> Bool {
    var index = 0
    while index < bytes.byteCount, index < 1024 {
      switch bytes.uint8(at: index) {
      case 0x20, 0x0a, 0x0d, 0x09: index += 1
      default:
        return JSONStart.isObject(bytes.array(in: ByteRange(offset: index, count: min(2, bytes.byteCount - index))))
      }
    }
    return false
  }

  private static func options(_ options: ReadingOptions) -> DumpInterpreter.Options {
    var result = DumpInterpreter.Options()
    result.architecture = options.architecture
    result.guessesArchitecture = options.guessesArchitecture
    result.limits = options.limits
    return result
  }

  fileprivate static func intermediateDump(_ file: InputFile, _ options: ReadingOptions) -> FormatReading {
    file.withBytes { bytes in
      let tree = DumpTree(parsing: bytes, limits: options.limits)
      let interpretation = DumpInterpreter.interpret(tree, in: bytes, options: Self.options(options))
      return FormatReading(tree: tree, snapshot: interpretation.snapshot, findings: interpretation.findings)
    }
  }

  fileprivate static func minidump(_ file: InputFile, _ options: ReadingOptions) -> FormatReading {
    let reading = file.withBytes { MinidumpReader.read($0, limits: options.limits) }
    return FormatReading(streams: reading.streams, snapshot: reading.snapshot, findings: reading.findings)
  }

  fileprivate static func microdump(_ file: InputFile, _ options: ReadingOptions) -> FormatReading {
    let reading = file.withBytes { MicrodumpReader.read($0, limits: options.limits) }
    return FormatReading(snapshot: reading.snapshot, findings: reading.findings)
  }

  fileprivate static func core(_ file: InputFile, _ options: ReadingOptions) -> FormatReading {
    let reading = file.withBytes { CoreReader.read($0, limits: options.limits) }
    return FormatReading(snapshot: reading.snapshot, findings: reading.findings)
  }

  fileprivate static func report(_ file: InputFile, _ form: ReportFormat, _ options: ReadingOptions) -> FormatReading {
    let reading = file.withBytes { ReportReader.read($0, form: form, limits: options.limits) }
    return FormatReading(snapshot: reading.snapshot, findings: reading.findings)
  }
}

extension InputFormat {
  /// Nil if they are those of no format.
  package static func of(_ bytes: RawSpan) -> InputFormat? {
    FormatRow.all.first { $0.recognises(bytes) }?.format
  }

  /// All that a person would want to look at; of an intermediate dump not its JSON form.
  package static let withMeaning = allCases.filter { $0 != .json }

  /// The formats that a conversion accepts.
  package static func converting(to target: ConversionTarget) -> [InputFormat] {
    FormatRow.all.filter { $0.targets.contains(target) }.map(\.format).filter { $0 != .json }
  }
}
