// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import CrashpadFiles
import CrashpadMeaning
import CrashpadSnapshot
import CrashpadSupervision
import CrashpadText
import SystemPackage

/// The result of `run` as JSON.
enum RunDocument {
  static let document = Document<CollectedRun>(
    "crashpadctl-run/1", "Output of `crashpadctl run --format json` after the program has ended.",
    .texts("command", "The program and its arguments.") { $0.run.arguments.map { TextFormat.printable($0) } },
    .number("pid", "The process id of the program.", .always) { $0.end.processID },
    .number("exit_status", "The exit status; null if a signal killed the program.") {
      if case .exited(let status) = $0.end.end { status } else { nil }
    },
    .text("signal", "The name of the signal that killed the program; null if none did.") {
      if case .killed(let signal) = $0.end.end { linuxSignalName(signal) } else { nil }
    },
    .uuid("run", "A UUID; the UUIDs of the dumps begin with its first twelve bytes.", .always) {
      $0.run.environment.run
    },
    .path("database", "The database.", .always) { $0.run.database },
    .text(
      "error",
      "The reason why the database could not be examined or no report could be made; null if there was no error."
    ) { $0.failure },
    .texts("warnings", "Obstacles to capturing the program.") { $0.end.warnings },
    .number(
      "running",
      "The number of processes of the run that still run and have a file in the database; "
        + "child processes of the program have none before they crash.", .always
    ) { $0.running },
    .list("dumps", dump, "The dumps of the run.") { $0.dumps })

  private static let dump = Record<CollectedRun.CapturedDump>(
    .path("path", "Its file.", .always) { $0.path },
    .uuid("id", "Its UUID.", .always) { $0.uuid },
    .number("pid", "The process that crashed.", .always) { $0.processID },
    .number("bytes", "Its size.", .always) { $0.dump.size },
    .path("report", "The file of its report, which replaces the dump; null without a report.") { $0.report },
    .text("error", "The reason why it could not be read or no report could be made.") {
      $0.failure ?? $0.processingFailure
    },
    .document(
      "stack", "A document `crashpadctl-symbolize/1` with the crashed thread; only if the dump could be read."
    ) { dump in
      dump.contents.map { contents in
        { json in
          SymbolizeDocument.document.write(
            SymbolizeDocument(contents, dump.view, input: ArgumentText.text(dump.path.bytes), part: .stacks),
            to: &json)
        }
      }
    })
}
