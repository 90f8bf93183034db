import CrashpadCore
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadText
import SystemPackage

extension CrashFacts {
  /// - Parameter path: that of the input; nil for standard input.
  init(_ dump: Dump, _ snapshot: ProcessSnapshot, input: String, at path: FilePath?) {
    let view = FactsView(file: dump.file, snapshot: snapshot)
    let incident = snapshot.report?.incident.flatMap { $0.isEmpty ? nil : $0 }
    let id = snapshot.reportID == .zero ? incident ?? dump.sharedCrashID(path)?.text : snapshot.reportID.text
    self.init(id: id ?? input, input: input)
    report = id
    program = view.program
    processID = snapshot.processID.map(Int64.init)
    time = snapshot.snapshotTime?.seconds
    let writer = CrashAccount.Writer(dump.format)
    role = CrashAccount.Role(snapshot, by: writer)
    if role != nil {
      process = view.process
      periodStart = snapshot.report?.periodStart?.seconds
    }
    version = view.version
    device = view.text(snapshot.system.machine)
    system = view.system
    client = snapshot.clientID == .zero ? snapshot.report?.reporterKey : snapshot.clientID.text
    isQuick = view.isQuick
  }
}

extension CrashAccount.Writer {
  init(_ format: InputFormat) {
    switch format {
    case .ips, .crash: self = .system
    case .metricKit: self = .metricKit
    default: self = .process
    }
  }
}

/// Facts of a crash that groups count. Names of modules are not looked at, as thousands of dumps are read.
private struct FactsView {
  let file: InputFile
  let snapshot: ProcessSnapshot

  func text(_ content: Content?) -> String? {
    guard let content, !content.isEmpty else { return nil }
    return Wording.printable(file.withBytes { snapshot.text(content, in: $0) })
  }

  /// "2.1 (341)", or the annotation in which Crashpad's clients put it.
  var version: String? {
    if let report = snapshot.report {
      let build = report.build.flatMap { $0.isEmpty ? nil : "(\($0))" }
      let parts = [report.version, build].compactMap { $0 }.filter { !$0.isEmpty }
      return parts.isEmpty ? nil : Wording.printable(parts.joined(separator: " "))
    }
    return annotation("ver", "version", "_version", "app_version")
  }

  /// The process, or the annotation in which Crashpad's clients name the product.
  var program: String? {
    if let report = snapshot.report { return report.bundleID ?? report.processName }
    return annotation("prod", "product", "_productName")
  }

  /// The executable's file name.
  var process: String? {
    if let report = snapshot.report { return report.processName.map { Wording.printable($0) } }
    return snapshot.executableIndex.flatMap { text(snapshot.modules[$0].name) }.map { lastPathComponent($0) }
  }

  private func annotation(_ names: String...) -> String? {
    for name in names {
      let found = snapshot.annotations.first { annotation in
        annotation.name.count == name.utf8.count && text(annotation.name) == name
      }
      if let found { return text(found.value) }
    }
    return nil
  }

  /// "iOS 18.4.1"
  var system: String? {
    let system = snapshot.system
    let parts = [system.osMajor, system.osMinor, system.osBugfix]
    if system.operatingSystem == .unknown, parts[0] == nil { return nil }
    guard parts[0] != nil else { return system.operatingSystem.rawValue }
    return system.operatingSystem.rawValue + " " + parts.map { $0.map(String.init) ?? "?" }.joined(separator: ".")
  }

  /// Whether the program lived for less than 10 s, or its handler for less than 5 s.
  var isQuick: Bool {
    if let start = snapshot.startTime, let end = snapshot.snapshotTime {
      return (0..<10).contains(end.seconds.subtractingReportingOverflow(start.seconds).partialValue)
    }
    return snapshot.system.crashpadUptime.map { $0 < 5_000_000_000 } ?? false
  }
}
