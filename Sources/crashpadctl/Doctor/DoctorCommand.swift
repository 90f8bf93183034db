import ArgumentParser
import FileSystem
import JSONFormat
import Supervision
import SystemPackage

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check what can be captured on this machine.",
    discussion: """
      Checks the database directory, the kernel, and the limits of this process and
      its container, and crashes a small program as a trial. Run it where your
      program runs: in its container, as its user. Leaves nothing behind.

      Examples:
        crashpadctl doctor --database DB || echo 'captures are limited here'
      """)

  @OptionGroup var database: RunDatabaseOption

  @OptionGroup var library: HandlerLibraryOption

  @Option(name: .shortAndLong, help: ArgumentHelp("Print text, or one JSON document.", valueName: "form"))
  var format: ReportFormat = .text

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
        print(checks, database, nil)
        throw ExitCode(ExitStatus.findings.rawValue)
      }
    }
    let facts = SystemFacts(
      changed: ProcessSetup.changedSignals, ignored: ProcessSetup.ignoredSignals, filter: filter)
    var checks = DoctorChecks()
    checks.addSystem(facts)
    var folder = TrialFolder(in: DoctorChecks.trialPlaces(database))
    checks.addDatabase(database, folder, filter)
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
    // Releases the folder now: ending the tool with an exit status runs no deinitializers.
    folder = nil
    print(checks, database, trial)
    throw ExitCode(checks.isGood ? ExitStatus.success.rawValue : ExitStatus.findings.rawValue)
  }

  private func print(_ checks: DoctorChecks, _ database: FilePath, _ trial: CaptureTrial?) {
    switch format {
    case .text: Terminal.output(checks.text)
    case .json:
      JSONWriter.standardOutput(.indented) { json in checks.write(database: database, trial, to: &json) }
    }
  }
}
