// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// One crash of the crashing program, with the handler in it and a core from the kernel beside.
struct CapturedCrash: CustomTestStringConvertible, Sendable {
  /// Other handlers of signals in the program.
  enum Company: String, CaseIterable {
    case alone
    /// The Swift runtime's backtracer, which the handler hands on to.
    case backtracer
    /// Another handler that was there before ours, or came after it and hands on to ours.
    case before, after
  }

  let kind: String
  let threads: Int
  let company: Company
  /// Which thread crashes.
  var place = "main"
  /// The build of the program.
  let program: String

  /// Whether the core is of a later moment: abort(3), to which the backtracer returns, raises the signal once more.
  var hasLaterCore: Bool {
    company == .backtracer
      && ["abort", "assert", "double-free", "cxx-exception", "pure-virtual", "cast"].contains(kind)
  }

  /// Whether the program outlives it, with the handler and without: neither a breakpoint nor a signal that was sent
  /// happens again when the backtracer has had it, and the other handler sends only the latter once more.
  var isSurvived: Bool {
    switch company {
    case .backtracer: ["trap", "raise"].contains(kind)
    case .before, .after: kind == "trap"
    case .alone: false
    }
  }

  /// Whether ours is not called: the other handler, which was told that there was none before it, restores the default action,
  /// which is ours, and goes on behind the breakpoint.
  var leavesNothing: Bool { company == .after && kind == "trap" }

  /// Whether the program may wait for ever, with the handler and without: the backtracer is for one crash at a time. Its
  /// thread that reads memory shares the handlers of faults, and a second crash sets others in the middle.
  var mayHang: Bool { kind == "two-threads" && company == .backtracer }
  /// The exit status of one that did.
  static let hung = "137\n"

  /// Whether the threads go on when the crash is captured, as the next handler of the signal may want.
  var othersGoOn: Bool { company == .backtracer || company == .before }

  var name: String { "\(kind)-\(threads)-\(company.rawValue)-\(place)" }
  var testDescription: String { name }

  /// A handler that died itself is not among them: see `MomentTests`.
  private static let allKinds = [
    "null", "fatal-error", "precondition", "bounds", "overflow", "abort", "assert", "stack-overflow", "cxx-exception",
    "double-free", "bus", "fpe", "illegal", "raise", "two-threads", "jump-null", "trap", "cast", "pure-virtual",
  ]

  /// The kinds in `CRASHPADCTL_MATRIX_KINDS`, separated by commas; all by default.
  static let kinds: [String] = {
    let list = ProcessInfo.processInfo.environment["CRASHPADCTL_MATRIX_KINDS"]
    return list.map { $0.split(separator: ",").map(String.init) } ?? allKinds
  }()

  /// Debug and release builds, if `CRASHPADCTL_MATRIX` names two; otherwise that beside the tool.
  static let programs: [String] = {
    if let list = ProcessInfo.processInfo.environment["CRASHPADCTL_MATRIX"] {
      return list.split(separator: ":").map(String.init)
    }
    let tool = URL(fileURLWithPath: Tool.path).deletingLastPathComponent()
    return [tool.appending(path: "crashing-program").path]
  }()

  /// With `CRASHPADCTL_MATRIX` every combination; otherwise kinds, with the others taking turns: all under `make soak`.
  static func all(of program: String) -> [CapturedCrash] {
    let counts = [1, 8, 200]
    if ProcessInfo.processInfo.environment["CRASHPADCTL_MATRIX"] != nil {
      return kinds.flatMap { kind in
        counts.flatMap { count in
          Company.allCases.flatMap { company in
            places(kind).map {
              CapturedCrash(kind: kind, threads: count, company: company, place: $0, program: program)
            }
          }
        }
      }
    }
    let each = kinds.enumerated().map { index, kind in
      CapturedCrash(
        kind: kind, threads: counts[index % 3], company: Company.allCases[index / 3 % 4],
        place: places(kind)[index % places(kind).count], program: program)
    }
    return Soak.some(8, of: each)
  }

  private static func places(_ kind: String) -> [String] {
    switch kind {
    // A signal that workers of libdispatch block is not delivered by raise(3).
    case "two-threads", "raise": ["main"]
    case "stack-overflow": ["main", "other"]
    default: ["main", "queue"]
    }
  }

  /// Leaves in the folder `name`: the database `db`, `core`, the program's output, and `status` and `status-alone`, the
  /// exit status with the handler and without.
  ///
  /// - Returns: whether there is a core.
  func happen(in folder: TemporaryFolder) throws -> Bool {
    let backtrace =
      company == .backtracer ? "enable=yes,color=no,interactive=no,threads=crashed,limit=4" : "enable=no"
    let limit = mayHang ? "timeout -s KILL 20" : ""
    let handler = [.before, .after].contains(company) ? "--other-handler \(company.rawValue)" : ""
    // A backtracer that outlives the program must not hold what tells of the shell's end.
    let result = try Tool.shell(
      """
      ln -s '\(program)' program 2>/dev/null
      mkdir '\(name)' && cd '\(name)' || exit
      export SWIFT_BACKTRACE=\(backtrace)
      arguments='\(kind) --threads \(threads) --in \(place) \(handler)'
      mkdir cores && cd cores
      ulimit -c "$(ulimit -H -c)"
      \(limit) ../../program $arguments --database ../db --crashed-stack 33554432 >../output 2>../errors 3>&- 4>&-
      echo $? >../status
      cd ..
      test -z "$(ls cores)" || mv cores/* core
      ulimit -c 0
      \(limit) ../program $arguments >/dev/null 2>&1 3>&- 4>&-
      echo $? >status-alone
      """, in: folder)
    let hasCore = folder.exists("\(name)/core")
    if mayHang, !hasCore, try text("status", in: folder) == Self.hung { return false }
    try #require(hasCore != isSurvived, "\(name): \(result.errorText)")
    return hasCore
  }

  /// The one dump, by its path in the folder.
  func dump(in folder: TemporaryFolder) throws -> String {
    let names = try dumpNames(in: folder)
    try #require(names.count == 1 && !names[0].hasSuffix(".locked"), "\(name): \(names)")
    return "\(pending)/\(names[0])"
  }

  private var pending: String { "\(name)/db/pending-serialized-ios-dump" }

  func dumpNames(in folder: TemporaryFolder) throws -> [String] { try folder.names(in: pending) }

  /// The threads that the program said would crash: one, or of kind `two-threads` two.
  func crashedThreads(in folder: TemporaryFolder) throws -> Set<UInt64> {
    var lines = try text("output", in: folder).split(separator: "\n")
    // The first is from the thread that starts them.
    if kind == "two-threads" { lines.removeFirst() }
    let threads = Set(lines.compactMap { $0.split(separator: " ").last.flatMap { UInt64($0) } })
    try #require(threads.count == (kind == "two-threads" ? 2 : 1), "\(name): \(lines)")
    return threads
  }

  func text(_ file: String, in folder: TemporaryFolder) throws -> String {
    String(decoding: try folder.bytes(of: "\(name)/\(file)"), as: UTF8.self)
  }
}
