// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadDatabase
import CrashpadFiles
import CrashpadSnapshot

/// The part of the database to list.
enum StateChoice: String, FlagChoice {
  case pending
  case completed

  var name: String { "--" + rawValue }

  static func help(for value: StateChoice) -> ArgumentHelp? {
    switch value {
    case .pending: "List pending reports only."
    case .completed: "List completed reports only: uploaded ones, and those that will not be uploaded."
    }
  }

  var state: ReportState {
    switch self {
    case .pending: .pending
    case .completed: .completed
    }
  }
}

enum UploadChoice: String, FlagChoice {
  case uploaded
  case notUploaded = "not-uploaded"

  var name: String { "--" + rawValue }

  static func help(for value: UploadChoice) -> ArgumentHelp? {
    switch value {
    case .uploaded: "Only reports that were uploaded."
    case .notUploaded: "Only reports that were not uploaded."
    }
  }
}

enum ReportOrder: String, ExpressibleByArgument, CaseIterable {
  case created
  case size
  case id
  case attempts
  case state
}

/// The reports that `database list` chooses, and their order.
struct ListChoice: OptionTable {
  var states: [StateChoice] = []
  var upload: UploadChoice?
  var requested = false
  var since: TimeOrAge?
  var until: TimeOrAge?
  var sort: ReportOrder = .created
  var reverse = false
  var limit: Int?

  mutating func rows(_ row: inout OptionRows) {
    row.flags(&states)
    row.flags(&upload)
    row.flag(&requested, "--requested", "Only reports whose upload was requested.")
    row.option(&since, "--since <time>", "Only reports created at this time or later; an age such as 1d is a time ago.")
    row.option(&until, "--until <time>", "Only reports created before this time.")
    row.option(&sort, "--sort <key>", "Sort order: newest, largest, first id, most attempts, or pending first.")
    row.flag(&reverse, "-r, --reverse", "Reverse the order.")
    row.limit(&limit, "Print at most n reports.")
  }

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit takes 0 or more.") }
  }
}

/// The reports that `database list` prints.
struct ReportSelection {
  /// The chosen reports, in their order.
  fileprivate(set) var chosen: [Report] = []
  /// Whether the states have no report at all.
  fileprivate(set) var isOfNone = true
  /// Whether some fit, be there none to print.
  fileprivate(set) var hasMatches = false
  /// The locks of the chosen reports.
  fileprivate var locks: [ReportState: [UUIDBytes: LockState]] = [:]
  fileprivate(set) var failures: [FileFailure] = []

  func lock(of report: Report) -> LockState? { locks[report.state]?[report.id] }

  /// Looks at the locks of the chosen reports; one that can't be examined is a failure.
  fileprivate mutating func addLocks(_ locked: [ReportState: Set<UUIDBytes>], _ database: CrashDatabase) {
    for report in chosen where locked[report.state]?.contains(report.id) == true {
      do { locks[report.state, default: [:]][report.id] = try database.lockState(report.id, in: report.state) } catch {
        failures.append(error)
      }
    }
  }
}

/// One run of `database list`: reads, chooses and sorts reports.
struct ListRun {
  let database: CrashDatabase
  let choice: ListChoice
  /// The time of the run in seconds since 1970.
  let now: Int64

  /// The first reports in their order; of the others, at most as many more are held in memory.
  private struct Page {
    /// Sorting moves only keys, because reports are large.
    private struct Key {
      let primary: Int64
      let high: UInt64
      let low: UInt64
      let index: Int
    }

    let limit: Int?
    let isReversed: Bool
    private var keys: [Key] = []
    private var found: [Report] = []

    init(limit: Int?, isReversed: Bool) { (self.limit, self.isReversed) = (limit, isReversed) }

    /// - Parameter primary: smaller ones come first.
    mutating func add(_ report: Report, _ primary: Int64) {
      keys.append(Key(primary: primary, high: report.id.high, low: report.id.low, index: found.count))
      found.append(report)
      if let limit, keys.count > 256, keys.count / 2 > limit { cut(to: limit) }
    }

    var reports: [Report] {
      var page = self
      page.cut(to: limit ?? keys.count)
      return page.found
    }

    private mutating func cut(to count: Int) {
      keys.sort { a, b in
        let (a, b) = isReversed ? (b, a) : (a, b)
        return a.primary != b.primary ? a.primary < b.primary : a.high != b.high ? a.high < b.high : a.low < b.low
      }
      keys.removeLast(max(0, keys.count - count))
      found = keys.map { found[$0.index] }
      keys = keys.enumerated().map { Key(primary: $1.primary, high: $1.high, low: $1.low, index: $0) }
    }
  }

  /// Throws `FileFailure` if a directory can't be read.
  func run() throws(FileFailure) -> ReportSelection {
    var found = ReportSelection()
    var locked: [ReportState: Set<UUIDBytes>] = [:]
    var page = Page(limit: choice.limit, isReversed: choice.reverse)
    let states = choice.states.isEmpty ? ReportState.allCases : ReportState.allCases.filter(isChosen)
    for state in states {
      let listing = try database.forEachReport(in: state) { report in
        found.isOfNone = false
        if matches(report) {
          found.hasMatches = true
          page.add(report, primary(report))
        }
      }
      locked[state] = listing.lockedIDs
      found.failures += listing.failures
    }
    found.chosen = page.reports
    found.addLocks(locked, database)
    return found
  }

  private func isChosen(_ state: ReportState) -> Bool { choice.states.contains { $0.state == state } }

  // MARK: Choice and order

  private func matches(_ report: Report) -> Bool {
    let created = report.creationTime
    if let since = choice.since, created < since.seconds(now: now) { return false }
    if let until = choice.until, created >= until.seconds(now: now) { return false }
    if choice.upload == nil, !choice.requested { return true }
    // Without metadata, both upload state and request are unknown.
    guard let metadata = report.metadata.value else { return false }
    if let upload = choice.upload, metadata.isUploaded != (upload == .uploaded) { return false }
    return !choice.requested || metadata.isUploadExplicitlyRequested
  }

  /// The primary sort key; smaller keys come first.
  private func primary(_ report: Report) -> Int64 {
    switch choice.sort {
    case .created: ~report.creationTime
    case .size: -Int64(report.size)
    case .id: 0
    case .attempts: -Int64(report.metadata.value?.uploadAttempts ?? 0)
    case .state: report.state == .pending ? 0 : 1
    }
  }
}
