// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadSnapshot
import SystemPackage

struct DatabaseShowCommand: Command {
  static let name = "show"
  static var documents: [DocumentDescription] { [ReportsDocument.show.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Show everything about reports.",
    discussion: flowing(
      """
      Examples:
        crashpadctl database show -d DB 4f2a
        minidump_stackwalk $(crashpadctl database show -d DB --path 4f2a)
      """))

  var reports: [ReportArgument] = []
  var path = false
  var format: OutputFormat = .text
  var clock = ClockOption()
  var database = DatabaseOption()

  mutating func rows(_ row: inout OptionRows) {
    row.reports(&reports, isRequired: true)
    row.flag(&path, "--path", "Print only the path of each report.")
    row.format(&format, "Print text, or a JSON document.")
    row.group(&clock)
    row.group(&database)
  }

  func validate() throws {
    if path, format == .json { throw ValidationError("--path and --format json exclude each other.") }
  }

  func run() throws {
    let database = try database.open()
    var statuses: [ExitStatus] = []
    var found: [(report: Report, lock: LockState?)] = []
    for id in try ReportArgument.resolve(reports, in: database) {
      guard let id else {
        statuses.append(.noInput)
        continue
      }
      do {
        guard let report = try database.report(id) else { throw ReportChangeFailure.notFound }
        found.append((report, path ? nil : try database.lockState(report.id, in: report.state)))
        statuses.append(.success)
      } catch {
        let (text, status) = DatabaseSentences.failure(error)
        Terminal.error("\(id.text): error: \(text)")
        statuses.append(status)
      }
    }
    write(found, database)
    throw ExitCode(ExitStatus.combined(statuses).rawValue)
  }

  private func write(_ found: [(report: Report, lock: LockState?)], _ database: CrashDatabase) {
    if format == .json {
      ReportsDocument.show.print(ReportsDocument(database: database) { found.forEach($0) })
    } else if path {
      // Prints the exact bytes of the path, so that programs can open it.
      for (report, _) in found { Terminal.output(database.path(of: report).bytes + [UInt8(ascii: "\n")]) }
    } else {
      let texts = found.map { ReportText.text($0, $1, in: database, now: clock.seconds) }
      Terminal.output(texts.joined(separator: "\n"))
    }
  }
}

extension FilePath {
  /// The bytes of the path as passed to the kernel.
  var bytes: [UInt8] {
    unsafe withPlatformString { pointer in
      unsafe Array(UnsafeBufferPointer(start: pointer, count: length).map { UInt8(bitPattern: $0) })
    }
  }
}
