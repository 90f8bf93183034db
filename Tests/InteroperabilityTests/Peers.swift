// SPDX-License-Identifier: Apache-2.0
import Foundation
import ToolRunner

/// Other programs that read minidumps. A part of the tests runs where its program is installed.
enum Peers {
  /// Debian's LLDB; `LLDB` names another. The one of a Swift toolchain may not start.
  static let lldb: String? = program(
    environment: "LLDB", ["lldb", "lldb-14", "lldb-15", "lldb-16", "lldb-17", "lldb-18", "lldb-19"], check: "--version")

  /// Breakpad's `minidump_dump` and `minidump_stackwalk`; `MINIDUMP_DUMP` and `MINIDUMP_STACKWALK` name others.
  static let minidumpDump: String? = program(environment: "MINIDUMP_DUMP", ["minidump_dump"], check: nil)
  static let minidumpStackwalk: String? = program(environment: "MINIDUMP_STACKWALK", ["minidump_stackwalk"], check: nil)

  /// A Python that can import the package `minidump` of PyPI; `MINIDUMP_PYTHON` names one.
  static let python: String? = program(environment: "MINIDUMP_PYTHON", ["python3"], check: "-c 'import minidump'")

  /// Crashpad's `crashpad_database_util`, and a program `report_tool DB command` that calls Crashpad's database and prints
  /// `key=value` lines; `CRASHPAD_DATABASE_UTIL` and `CRASHPAD_REPORT_TOOL` name them.
  static let databaseUtil: String? = program(environment: "CRASHPAD_DATABASE_UTIL", [], check: nil)
  static let reportTool: String? = program(environment: "CRASHPAD_REPORT_TOOL", [], check: nil)

  /// A program that runs Crashpad's own pruning, see `SharedPruneTests`; only `CRASHPAD_PRUNE_TOOL` names one.
  static let pruneTool: String? = program(environment: "CRASHPAD_PRUNE_TOOL", [], check: nil)

  /// Crashpad's own converter, see `CrashpadConverterTests`; only `CRASHPAD_IOS_CONVERTER` names one.
  static let crashpadConverter: String? = program(environment: "CRASHPAD_IOS_CONVERTER", [], check: nil)

  /// Crashpad's own uploads, see `UploaderTests`; only `CRASHPAD_UPLOADER` names one.
  static let crashpadUploader: String? = program(environment: "CRASHPAD_UPLOADER", [], check: nil)

  private static func program(environment: String, _ names: [String], check: String?) -> String? {
    let variables = ProcessInfo.processInfo.environment
    // /usr/bin first: a toolchain in front of it brings its own lldb.
    let folders = ["/usr/bin"] + (variables["PATH"] ?? "").split(separator: ":").map(String.init)
    var candidates: [String] = []
    for name in names { candidates += folders.map { "\($0)/\(name)" } }
    if let path = variables[environment] { candidates = [path] }
    return candidates.first { path in
      guard FileManager.default.isExecutableFile(atPath: path) else { return false }
      guard let check else { return true }
      return (try? Tool.shell("'\(path)' \(check)", in: TemporaryFolder()).status) == 0
    }
  }
}
