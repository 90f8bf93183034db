import Foundation
import Testing
import ToolRunner

/// One crash of the crashing program, with the handler in it and a core from the kernel beside.
struct CapturedCrash: CustomTestStringConvertible, Sendable {
  /// What else handles signals in the program.
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
      && ["abort", "assert", "double-free", "cxx-exception", "pure-virtual", "cast", "raise"].contains(kind)
  }

  var name: String { "\(kind)-\(threads)-\(company.rawValue)-\(place)" }
  var testDescription: String { name }

  /// A handler that died itself, in our capture or in its own, is not among them: see `CrashInCaptureTests`.
  static let kinds = [
    "null", "fatal-error", "precondition", "bounds", "overflow", "abort", "assert", "stack-overflow", "cxx-exception",
    "double-free", "bus", "fpe", "illegal", "raise", "two-threads", "jump-null", "trap", "cast", "pure-virtual",
  ]

  /// Debug and release builds, if `CRASHPADCTL_MATRIX` names two; otherwise that beside the tool.
  static let programs: [String] = {
    if let list = ProcessInfo.processInfo.environment["CRASHPADCTL_MATRIX"] {
      return list.split(separator: ":").map(String.init)
    }
    let tool = URL(fileURLWithPath: Tool.path).deletingLastPathComponent()
    return [tool.appending(path: "crashing-program").path]
  }()

  /// With `CRASHPADCTL_MATRIX` every combination; otherwise every kind, with the others taking turns.
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
    return kinds.enumerated().map { index, kind in
      CapturedCrash(
        kind: kind, threads: counts[index % 3], company: Company.allCases[index / 3 % 4],
        place: places(kind)[index % places(kind).count], program: program)
    }
  }

  private static func places(_ kind: String) -> [String] {
    switch kind {
    // What workers of libdispatch block, raise(3) does not deliver.
    case "two-threads", "raise": ["main"]
    case "stack-overflow": ["main", "other"]
    default: ["main", "queue"]
    }
  }

  /// Leaves in the folder `name`: the database `db`, `core`, the program's output, and `status` and `status-alone`, the
  /// exit status with the handler and without.
  ///
  /// - Returns: whether there is a core. A breakpoint does not happen again when the backtracer has had it, so the program
  ///   goes on, with the handler and without.
  func happen(in folder: TemporaryFolder) throws -> Bool {
    let backtrace =
      company == .backtracer ? "enable=yes,color=no,interactive=no,threads=crashed,limit=4" : "enable=no"
    let handler = [.before, .after].contains(company) ? "--other-handler \(company.rawValue)" : ""
    let result = try Tool.shell(
      """
      ln -s '\(program)' program 2>/dev/null
      mkdir '\(name)' && cd '\(name)' || exit
      export SWIFT_BACKTRACE=\(backtrace)
      arguments='\(kind) --threads \(threads) --in \(place) \(handler)'
      mkdir cores && cd cores
      ulimit -c "$(ulimit -H -c)"
      ../../program $arguments --database ../db --crashed-stack 33554432 >../output 2>../errors
      echo $? >../status
      cd ..
      test -z "$(ls cores)" || mv cores/* core
      ulimit -c 0
      ../program $arguments >/dev/null 2>&1
      echo $? >status-alone
      """, in: folder)
    let hasCore = folder.exists("\(name)/core")
    try #require(hasCore || (kind, company) == ("trap", .backtracer), "\(name): \(result.errorText)")
    return hasCore
  }

  /// The one dump, by its path in the folder.
  func dump(in folder: TemporaryFolder) throws -> String {
    let place = "\(name)/db/pending-serialized-ios-dump"
    let names = try folder.names(in: place)
    try #require(names.count == 1 && !names[0].hasSuffix(".locked"), "\(name): \(names)")
    return "\(place)/\(names[0])"
  }

  /// The thread that the program said would crash.
  func crashedThread(in folder: TemporaryFolder) throws -> UInt64 {
    let output = String(decoding: try folder.bytes(of: "\(name)/output"), as: UTF8.self)
    return try #require(output.split(separator: "\n").first?.split(separator: " ").last.flatMap { UInt64($0) })
  }

  func text(_ file: String, in folder: TemporaryFolder) throws -> String {
    String(decoding: try folder.bytes(of: "\(name)/\(file)"), as: UTF8.self)
  }
}
