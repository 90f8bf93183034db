// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadMeaning
import CrashpadSnapshot
import CrashpadText
import SystemPackage

/// The result of `doctor` as JSON.
struct DoctorDocument {
  let database: FilePath
  let checks: DoctorChecks
  let trial: CaptureTrial?
  let program: ProgramHandlers?

  static let document = Document<DoctorDocument>(
    "crashpadctl-doctor/1", "Output of `crashpadctl doctor --format json`.",
    .path("database", "The examined database.", .always) { $0.database },
    .flag("captures", "Whether crashes are captured: no check has the state `missing`.") {
      !$0.checks.checks.contains { $0.state == .missing }
    },
    .list("checks", checkMembers, "The lines of the text.") { $0.checks.checks },
    .object("trial", trialMembers, "The trial. Unknown values are null.", .omittable) { $0.trial },
    .object("program", programMembers, "The examined program.", .omittable) { $0.program })

  private static let checkMembers = Record<DoctorChecks.Check>(
    .text("name", "The name of the check.", .always) { $0.name },
    .word(
      "state", of: DoctorChecks.State.allCases.map(\.rawValue), "`ok`, `limited`, `missing` or `note`.", .always
    ) { $0.state.rawValue },
    .text("found", "The facts.", .always) { $0.found },
    .text("meaning", "The effect on captures; null if the state is `ok`.") { $0.meaning },
    .text("advice", "The recommended action.") { $0.advice })

  private static let trialMembers = Record<CaptureTrial>(
    .flag("whole", "Whether it left a complete dump.") { $0.fault == nil },
    .number("bytes", "The size of the dump.") { $0.dumpSize },
    .number("threads", "The number of threads in the dump.") { $0.threads },
    .number("capture_microseconds", "The time from the signal to the end of the capture.") {
      $0.captureMicroseconds
    },
    .number("run_microseconds", "The time from the start of the program to its end.", .always) { $0.runMicroseconds },
    .texts("notes", "The data that the handler could not capture, and the reasons.") { $0.notes })

  private static let programMembers = Record<ProgramHandlers>(
    .number("pid", "The process id.", .always) { $0.process },
    .text("name", "The name of its first thread.", .always) { TextFormat.printable($0.name) },
    .flag("has_library", "Whether the handler's library is loaded.") { $0.hasLibrary },
    .list("handlers", handler, "The handlers of the seven signals.") { $0.rows })

  private static let handler = Record<ProgramHandlers.Row>(
    .text("signal", "The name of the signal.", .always) { linuxSignalName($0.signal) },
    .word(
      "owner", of: ProgramHandlers.Owner.allCases.map(\.rawValue),
      """
      The owner of the handler.
      `crashpad`: the program has no handler of its own.
      `program`: the program.
      `unseen`: the program, by a system call of its own.
      `ignored`: the signal is ignored.
      `standard`: the default action.
      """, .always
    ) { $0.owner.rawValue },
    .address("address", "The address of the program's handler.") { $0.address },
    .text("function", "The function of the program's handler; null if it has no name.") { $0.function },
    .path("module", "The file of the program's handler.") { $0.module })
}
