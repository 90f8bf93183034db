// SPDX-License-Identifier: Apache-2.0
import CrashpadText
import CrashpadUpload
import CrashpadCore
import CrashpadFiles
import CrashpadMeaning
import CrashpadSnapshot
import CrashpadSupervision
import SystemPackage

/// The results of the checks, one line each, and their effect on captures.
struct DoctorChecks {
  enum State: String, CaseIterable {
    case ok
    /// Crashes are captured, but incompletely or not all of them.
    case limited
    /// Crashes are not captured.
    case missing
    /// Captures do not need it.
    case note
  }

  struct Check {
    let name: String
    let state: State
    let found: String
    /// The effect on captures; nil if the result is good.
    var meaning: String?
    /// The recommended action.
    var advice: String?
  }

  private(set) var checks: [Check] = []

  var isGood: Bool { checks.allSatisfy { $0.state == .ok || $0.state == .note } }

  private mutating func good(_ name: String, _ found: String) {
    checks.append(Check(name: name, state: .ok, found: found))
  }

  mutating func add(_ name: String, _ state: State, _ found: String, _ meaning: String?, _ advice: String? = nil) {
    checks.append(Check(name: name, state: state, found: found, meaning: meaning, advice: advice))
  }

  // MARK: Kernel and C library

  mutating func addSystem(_ facts: SystemFacts) {
    good("kernel", "Linux \(facts.kernelRelease)")
    if ["x86_64", "aarch64"].contains(facts.machine) {
      good("architecture", facts.machine)
    } else {
      add("architecture", .missing, facts.machine, "the handler is made for x86_64 and aarch64")
    }
    let loader =
      ProgramFile.ownLoader.map { ", loaded by \($0)" } ?? (OwnProgram.hasLoader ? "" : ", linked into this tool")
    good("libc", (facts.libc ?? "a C library without a version") + loader)
    if facts.isProcMounted {
      good("proc", "/proc is mounted")
    } else {
      add(
        "proc", .limited, "/proc is not mounted, or not whole",
        "dumps lack the memory map, the process's status and threads that could not be stopped", "mount proc on /proc")
    }
  }

  // MARK: Database

  /// The candidate directories for a trial: the database, or the closest existing parent directory; then others.
  static func trialPlaces(_ database: FilePath) -> [FilePath] {
    // Only missing directories can be created, unlike paths through a file or through a
    // directory that this user may not search.
    var place = database
    while failure(of: place) == .noSuchFileOrDirectory, !place.components.isEmpty { place.removeLastComponent() }
    return [place] + [Environment.path("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm", "/run"].compactMap { $0 }
  }

  /// The error when a directory can't be opened; nil if it can.
  private static func failure(of place: FilePath) -> Errno? {
    do { _ = try Folder(place) } catch { return error.errno }
    return nil
  }

  /// A mistyped path would become a new tree: `run` makes no parents.
  mutating func addLackingDirectory(of database: FilePath) {
    let parent = TextFormat.printable(database.removingLastComponent())
    add(
      "database", .missing, "\(TextFormat.printable(database)): its directory \(parent) does not exist",
      "run does not start a program", "make the directory, or name another database with --database")
  }

  mutating func addDatabase(_ database: FilePath, _ trial: TrialFolder?, _ filter: CallFilter?) {
    let path = TextFormat.printable(database)
    let place = Self.trialPlaces(database)[0]
    let advice = "mount a volume there that this user may write to, or name another directory with --database"
    if trial?.place == place {
      good("database", place == database ? "\(path) is writable" : "\(path) will be made")
    } else {
      let reason =
        Self.failure(of: place) == .notDirectory
        ? "is not a directory"
        : FolderFacts.fileSystem(place)?.isReadOnly == true ? "is on a read-only file system" : "is not writable"
      add("database", .missing, "\(TextFormat.printable(place)) \(reason)", "crashes leave nothing", advice)
    }
    // For another directory, the remaining checks would mean nothing.
    guard let trial, trial.place == place else { return }
    let renames = filter?.calls.contains { $0.name == "renameat2" } != true
    let facts = FolderFacts(probing: trial.folder, renames: renames)
    if let system = facts.fileSystem { addSpace(system) }
    if let failure = facts.failure {
      let isLimit = failure == .tooManyOpenFiles
      add(
        "locks", .limited, "not tried: \(failure.description)", "whether the file system has locks is not known",
        isLimit ? "raise the limit (ulimit -n)" : nil)
      return
    }
    if facts.hasOwnerLocks == true {
      good("locks", "locks of open files work (F_OFD_SETLK)")
    } else {
      add(
        "locks", .limited, "no open file description locks",
        "the age of a file decides whether its program still runs, so leftovers wait for 24 hours",
        "use a local file system")
    }
    if !renames {
      add(
        "renaming", .limited, "a filter of system calls forbids renameat2",
        "two dumps with one id would become one", "allow renameat2 in the seccomp profile")
    } else if facts.hasExclusiveRenaming == true {
      good("renaming", "files are renamed without replacing others")
    } else {
      add(
        "renaming", .limited, "files can't be renamed without replacing others",
        "two dumps with one id would become one", "use a local file system")
    }
  }

  private mutating func addSpace(_ system: FolderFacts.FileSystem) {
    var found = "\(system.name), \(TextFormat.size(system.free)) free"
    if let files = system.freeFiles { found += ", \(grouped(files)) more files" }
    if system.free < 32 << 10 || system.freeFiles == 0 {
      add("space", .missing, found, "there is no room for a dump", "free some space")
    } else if system.free < 16 << 20 {
      add(
        "space", .limited, found, "a few dumps fill it", "free some space; \"crashpadctl prune\" keeps a database small"
      )
    } else {
      good("space", found)
    }
  }

  // MARK: Reading and stopping

  mutating func addFilter(_ filter: CallFilter) {
    let killed = filter.names(.killed)
    let others = filter.names(.refused) + filter.names(.trapped)
    if !killed.isEmpty {
      add(
        "seccomp", .missing, "a filter ends the process for \(killed.joined(separator: ", "))",
        "a crash ends by SIGSYS, and its dump is not finished", "allow these calls in the seccomp profile")
    } else if !others.isEmpty {
      add(
        "seccomp", .limited, "a filter forbids \(others.joined(separator: ", "))",
        "the handler does without them; the trial shows what dumps lack", "allow these calls in the seccomp profile")
    } else {
      good("seccomp", "a filter that lets the handler's calls through")
    }
  }

  /// Adds the result if the checks were ended by a signal.
  mutating func addBrokenOff(_ signal: Int32) {
    add(
      "doctor", .missing, "ended by \(linuxSignalName(signal)) while it looked", "the other checks are not made",
      "allow the usual system calls in the seccomp profile")
  }

  mutating func addMemory(_ facts: SystemFacts, _ filter: CallFilter?) {
    if let failure = facts.memoryReading {
      add(
        "process_vm_readv", .limited, failure.description,
        "memory is read in a slower way, without faults too", "allow process_vm_readv in the seccomp profile")
    } else {
      good("process_vm_readv", "permitted")
    }
    let scope = facts.ptraceScope.map { "Yama scope \($0)" } ?? "no Yama"
    if let refusal = facts.ptraceRefusal {
      add(
        "ptrace", .limited, refusal.description,
        "of threads that block every signal only stack pointer and instruction are captured",
        "allow ptrace in the seccomp profile")
    } else if facts.ptraceScope == 3 || (facts.ptraceScope == 2 && !facts.mayTraceAll) || !facts.isDumpable {
      add(
        "ptrace", .limited, facts.isDumpable ? scope : "this process is not dumpable",
        "of threads that block every signal only stack pointer and instruction are captured",
        facts.isDumpable
          ? "set kernel.yama.ptrace_scope to 0 or 1" : "start the program without set-user-id and the like")
    } else {
      good("ptrace", scope)
    }
    let privileges = facts.hasNoNewPrivileges ? ", no new privileges" : ""
    switch facts.seccompMode {
    case 2? where filter != nil: if let filter { addFilter(filter) }
    case 2?: good("seccomp", "a filter\(privileges)")
    case 0?: good("seccomp", "none\(privileges)")
    case nil: good("seccomp", "unknown\(privileges)")
    default: add("seccomp", .missing, "strict mode", "no file can be opened")
    }
    if let limit = facts.memoryLimit {
      let used = facts.memoryUse ?? 0
      let found = "\(TextFormat.size(used)) of \(TextFormat.size(limit)) used"
      if used >= limit || limit - used < 4 << 20 {
        add(
          "memory", .limited, found, "a program may be killed for its memory while it writes its dump",
          "give the container more memory")
      } else {
        good("memory", found)
      }
    } else {
      good("memory", "no limit")
    }
  }

  // MARK: Signals

  mutating func addSignals(_ facts: SystemFacts) {
    let size =
      facts.signalFrameSize.map { "the kernel writes up to \(grouped($0)) bytes" } ?? "of the usual size"
    good("alternate stacks", size)
    let blocked = facts.blockedSignals.map { linuxSignalName($0) }.joined(separator: ", ")
    let ignored = facts.ignoredSignals.map { linuxSignalName($0) }.joined(separator: ", ")
    if facts.blockedSignals.contains(SystemFacts.stopSignal) {
      add(
        "signals", .limited, "\(blocked) blocked from the start",
        "what blocks \(linuxSignalName(SystemFacts.stopSignal)) in a program too is stopped late",
        "start the program with no signal blocked")
    } else if !ignored.isEmpty {
      add(
        "signals", .limited, "\(ignored) ignored from the start",
        "the handler takes them back, but a program that ignores them again loses dumps",
        "start the program with the default actions")
    } else if !blocked.isEmpty {
      add("signals", .note, "\(blocked) blocked from the start", "the handler gets the signals of faults all the same")
    } else {
      good("signals", "none is blocked or ignored")
    }
  }

  // MARK: Limits

  mutating func addLimits(_ facts: SystemFacts) {
    func text(_ limit: SystemFacts.ResourceLimit) -> String { limit.map { grouped($0) } ?? "unlimited" }
    let pattern = facts.corePattern.map { TextFormat.printable($0) } ?? "unknown pattern"
    let core = facts.coreLimit.map { TextFormat.size($0) } ?? "of any size"
    let isPiped = facts.corePattern?.hasPrefix("|") == true
    good("core", isPiped ? "the kernel gives cores to \(pattern.dropFirst())" : "pattern \(pattern), cores of \(core)")
    if let limit = facts.fileLimit, limit < 32 {
      add(
        "open files", .limited, text(limit), "a program that has all of them open can't read what it needs",
        "raise the limit (ulimit -n)")
    } else {
      good("open files", text(facts.fileLimit))
    }
    if let limit = facts.processLimit, limit < 32 {
      add(
        "processes", .limited, text(limit),
        "a helper process may not start, so of threads that block every signal only stack pointer and instruction are captured",
        "raise the limit (ulimit -u)")
    } else {
      good("processes", text(facts.processLimit))
    }
    if let limit = facts.fileSizeLimit, limit < 4 << 20 {
      add("file size", .limited, TextFormat.size(limit), "dumps end there", "raise the limit (ulimit -f)")
    } else {
      good("file size", facts.fileSizeLimit.map { TextFormat.size($0) } ?? "unlimited")
    }
  }

  // MARK: Container

  mutating func addContainer(_ facts: SystemFacts) {
    good("process 1", facts.isProcessOne ? "this is process 1" : "another process")
    good("users", facts.isInUserNamespace ? "in a user namespace" : "those of the system")
    good("root file system", facts.isRootReadOnly ? "read-only" : "writable")
  }

  mutating func addLibrary(_ search: HandlerLibrary.Search) {
    if case .found(let path) = search {
      good("library", TextFormat.printable(path))
    } else {
      add(
        "library", .missing, RunSentences.library(search), "there is no handler to preload",
        "install it with this tool, or name it with --handler-library or $\(HandlerLibrary.variable)")
    }
  }

  /// Adds checks for uploads. Reports may also be sent from another machine, so these are not failures.
  mutating func addUploads() {
    do {
      let version = try HTTPLibrary.version()
      let file = try HTTPLibrary.certificateFile()
      if let file, hint({ try InputFile(file) }) == nil {
        add(
          "uploads", .note, "\(version), but no \(TextFormat.printable(file))",
          "servers with https are not trusted, so nothing can be sent to them from here",
          "install the package ca-certificates, or name a file with --ca-file")
      } else {
        good("uploads", version)
      }
    } catch {
      add(
        "uploads", .note,
        OwnProgram.hasLoader ? "there is no libcurl" : "this build of the tool can load no libcurl",
        "reports can't be sent from here, but from where the database is mounted",
        OwnProgram.hasLoader ? "install the package libcurl4" : "use the package for glibc, or the image")
    }
  }

  mutating func addTrial(_ trial: CaptureTrial?) {
    guard let trial else {
      return add("trial", .missing, "no program was made to crash", "the result of a crash is unknown")
    }
    if let fault = trial.fault {
      add("trial", trial.dumpSize == nil ? .missing : .limited, fault, "crashes here come to no more than that")
    } else {
      good("trial", trial.found)
    }
  }

  /// - Parameter trial: the trial of a program that dropped root rights; nil if there was none.
  mutating func addChangedUser(_ trial: CaptureTrial?) {
    guard let trial else { return }
    if let fault = trial.fault {
      add(
        "changed user", .limited, "a program of root that changes its user: \(fault)",
        "workers of servers such as nginx leave no dumps",
        "make the database with mode 1777 before, or start the server as the user of its workers")
    } else {
      good("changed user", "a program of root that changes its user leaves a dump")
    }
  }

  // MARK: Output

  var text: String {
    let width = (checks.map(\.name.count).max() ?? 0) + 2
    var text = ""
    for check in checks {
      let state = check.state.rawValue
      text += state + String(repeating: " ", count: 9 - state.count) + check.name
      text += String(repeating: " ", count: width - check.name.count) + check.found + "\n"
      for line in [check.meaning, check.advice.map { "to do: \($0)" }].compactMap({ $0 }) {
        text += String(repeating: " ", count: 9 + width) + line + "\n"
      }
    }
    let missing = checks.count { $0.state == .missing }
    let limited = checks.count { $0.state == .limited }
    if missing > 0 {
      text += "\ncrashes are not captured here: \(TextFormat.count(missing, "thing")) missing\n"
    } else if limited > 0 {
      text += "\ncrashes are captured here, but \(TextFormat.count(limited, "thing limits", "things limit")) it\n"
    } else {
      text += "\ncrashes are captured here\n"
    }
    return text
  }
}
