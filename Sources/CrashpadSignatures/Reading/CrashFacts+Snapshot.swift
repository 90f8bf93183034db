// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
package import CrashpadSnapshot

extension CrashFacts {
  /// - Parameters:
  ///   - snapshot: the state of the process.
  ///   - file: the input of the snapshot.
  ///   - writer: the writer of the input.
  ///   - input: the name of the input.
  ///   - sharedID: the id for a crash whose report has no id: all forms of the crash share it; nil if the dump has too few facts.
  ///   - displayed: converts a text from the input to the form in which groups show it.
  package init(
    _ snapshot: ProcessSnapshot, _ file: InputFile, by writer: CrashAccount.Writer, input: String, sharedID: String?,
    displayed: @escaping (String) -> String
  ) {
    let view = FactsView(file: file, snapshot: snapshot, displayed: displayed)
    let incident = snapshot.report?.knownIncident
    let id = snapshot.reportID == .zero ? incident ?? sharedID : snapshot.reportID.text
    self.init(id: id ?? input, input: input)
    report = id
    program = view.program
    processID = snapshot.processID.map(Int64.init)
    time = snapshot.snapshotTime?.seconds
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

/// Facts of a crash that groups count. Names of modules are not looked at, as thousands of dumps are read.
private struct FactsView {
  let file: InputFile
  let snapshot: ProcessSnapshot
  let displayed: (String) -> String

  func text(_ content: SnapshotBytes?) -> String? {
    guard let content, !content.isEmpty else { return nil }
    return displayed(file.withBytes { snapshot.text(content, in: $0) })
  }

  /// "2.1 (341)", or the annotation in which Crashpad's clients put it.
  var version: String? {
    if let report = snapshot.report {
      let build = report.build.flatMap { $0.isEmpty ? nil : "(\($0))" }
      let parts = [report.version, build].compactMap { $0 }.filter { !$0.isEmpty }
      return parts.isEmpty ? nil : displayed(parts.joined(separator: " "))
    }
    return annotation(ProcessSnapshot.versionAnnotations)
  }

  /// The process, or the annotation in which Crashpad's clients name the product.
  var program: String? {
    if let report = snapshot.report { return report.bundleID ?? report.processName }
    return annotation(["prod", "product", "_productName"])
  }

  /// The executable's file name.
  var process: String? {
    if let report = snapshot.report { return report.processName.map(displayed) }
    return snapshot.executableIndex.flatMap { text(snapshot.modules[$0].name) }.map { lastPathComponent($0) }
  }

  private func annotation(_ names: [String]) -> String? {
    text(file.withBytes { snapshot.annotation(named: names, in: $0) })
  }

  /// "iOS 18.4.1", "macOS 15.4.0 (iOS 18.5 Simulator)"
  var system: String? { name.map { name in snapshot.system.environment.map { "\(name) (\($0))" } ?? name } }

  private var name: String? {
    let system = snapshot.system
    if system.operatingSystem == .unknown, system.osMajor == nil { return nil }
    return system.version.map { "\(system.name) \($0)" } ?? system.name
  }

  /// Whether the program lived for less than 10 s, or its handler for less than 5 s.
  var isQuick: Bool {
    if let start = snapshot.startTime, let end = snapshot.snapshotTime {
      return (0..<10).contains(end.seconds.subtractingReportingOverflow(start.seconds).partialValue)
    }
    return snapshot.system.crashpadUptime.map { $0 < 5_000_000_000 } ?? false
  }
}
