// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadSupervision
import CrashpadText
import SystemPackage

struct DoctorCommand: Command {
  static let name = "doctor"
  static var documents: [DocumentDescription] { [DoctorDocument.document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Check what can be captured on this machine.",
    discussion: flowing(
      """
      Checks the database directory, the kernel, and the limits of this process and
      its container, and crashes a small program as a trial. Run it where your
      program runs: in its container, as its user. Leaves nothing behind.

      With a program, or the id of a running one, names the signal handlers that it
      has of its own, and what becomes of its crashes. Ends the program that it
      started.

      Examples:
        crashpadctl doctor --database DB || echo 'captures are limited here'
        crashpadctl doctor -- ./server --port 80 || echo 'some crashes leave no dump'
        crashpadctl doctor --pid 4711 || echo 'some crashes leave no dump'
      """))

  var database = RunDatabaseOption()
  var library = HandlerLibraryOption()
  var format: OutputFormat = .text
  var process: Int32?
  var after: DurationArgument?
  var program: [String] = []

  mutating func rows(_ row: inout OptionRows) {
    row.group(&database)
    row.group(&library)
    row.format(&format, "Print text, or one JSON document.")
    row.option(&process, "--pid <pid>", "Running program whose signal handlers to name.")
    row.option(
      &after, "--after <duration>",
      "How long to let the program run before it is ended, such as 2s; a bare number is in seconds. (default: 1s)")
    row.program(&program, "<program>", "Program to start, and its arguments, behind --.", isAfterTerminator: true)
  }

  func validate() throws {
    if process != nil, !program.isEmpty { throw ValidationError("--pid takes no program behind it.") }
    if let process, process < 1 { throw ValidationError("--pid takes a process id.") }
    if let after {
      if program.isEmpty { throw ValidationError("--after goes with a program, behind --.") }
      if !(1...600_000).contains(after.milliseconds) { throw ValidationError("--after takes 1ms to 10min.") }
    }
  }

  func run() throws {
    let database = try database.path()
    let filter = CallFilter()
    if let filter {
      // System calls that a filter forbids may kill this process.
      switch SafeChild.start() {
      case .child: break
      case .exited(let status): throw ExitCode(status)
      case .killed(let signal):
        var checks = DoctorChecks()
        checks.addFilter(filter)
        checks.addBrokenOff(signal)
        print(checks, database, nil, nil)
        throw ExitStatus.findings
      }
    }
    let facts = SystemFacts(
      changed: ProcessSetup.changedSignals, ignored: ProcessSetup.ignoredSignals, filter: filter)
    var checks = DoctorChecks()
    checks.addSystem(facts)
    var folder = TrialFolder(in: DoctorChecks.trialPlaces(database))
    if self.database.isNamed, RunDatabaseOption.lacksDirectory(database) {
      checks.addLackingDirectory(of: database)
    } else {
      checks.addDatabase(database, folder, filter)
    }
    checks.addMemory(facts, filter)
    checks.addSignals(facts)
    checks.addLimits(facts)
    checks.addContainer(facts)
    let library = library.search
    checks.addLibrary(library)
    checks.addUploads()
    var trial: CaptureTrial?
    if case .found(let path) = library, let folder { trial = CaptureTrial(path, folder) }
    checks.addTrial(trial)
    if case .found(let path) = library, let folder, trial?.dumpSize != nil {
      checks.addChangedUser(CaptureTrial.changingUser(path, folder))
    }
    let handlers = try addHandlers(&checks, library, folder)
    // Releases the folder now: ending the tool with an exit status runs no deinitializers.
    folder = nil
    print(checks, database, trial, handlers)
    throw checks.isGood ? ExitStatus.success : .findings
  }

  /// Adds the handlers of the program that was named, if there is one. Throws the exit status if there is no such
  /// program or process.
  private func addHandlers(
    _ checks: inout DoctorChecks, _ library: HandlerLibrary.Search, _ folder: TrialFolder?
  ) throws -> ProgramHandlers? {
    let outcome: ProgramHandlers.Outcome
    let name: String
    if let process {
      name = "process \(process)"
      do throws(SignalActions.Failure) { outcome = .found(try ProgramHandlers(of: process)) } catch {
        outcome = .failed(error)
      }
    } else if let first = program.first {
      name = TextFormat.printable(ArgumentText.bytes(first))
      if case .found(let path) = library, let folder {
        outcome = ProgramHandlers.starting(
          program.map { ArgumentText.bytes($0) }, path, folder, milliseconds: after?.milliseconds ?? 1000)
      } else {
        outcome = .notTried
      }
    } else {
      return nil
    }
    switch outcome {
    case .failed(.ended): throw Terminal.failure("\(name) does not exist", .noInput)
    case .notStarted(let errno): throw Terminal.failure("\(name): \(errno.description)", .noInput)
    default: checks.addProgram(outcome, name)
    }
    if case .found(let handlers) = outcome { return handlers }
    return nil
  }

  private func print(
    _ checks: DoctorChecks, _ database: FilePath, _ trial: CaptureTrial?, _ program: ProgramHandlers?
  ) {
    switch format {
    case .text: Terminal.output(checks.text)
    case .json:
      DoctorDocument.document.print(
        DoctorDocument(database: database, checks: checks, trial: trial, program: program))
    }
  }
}
