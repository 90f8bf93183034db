// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Runs the crashing program, with the handler that is linked into it.
struct Crasher {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let tool = URL(fileURLWithPath: Tool.path).deletingLastPathComponent()
    try FileManager.default.createSymbolicLink(
      at: folder.url("program"), withDestinationURL: tool.appending(path: "crashing-program"))
  }

  /// `./program ARGUMENTS --database db` in the folder, inside of `wrapper` (a command that ends where the program's
  /// stands), if there is one.
  func run(_ arguments: String, database: String = "db", wrapper: String = "", limit: Int = 120) throws -> Tool.Outcome
  {
    try Tool.shell(
      "ulimit -c 0; export SWIFT_BACKTRACE=enable=no; \(wrapper) ./program \(arguments) --database \(database)",
      in: folder, limit: limit)
  }

  /// The names of pending dumps.
  func dumps(database: String = "db") throws -> [String] {
    let place = "\(database)/pending-serialized-ios-dump"
    return folder.exists(place) ? try folder.names(in: place) : []
  }

  /// The output of `inspect` for the only dump, after `validate` found no error in it.
  func dump(database: String = "db") throws -> CapturedDump {
    let names = try dumps(database: database)
    try #require(names.count == 1 && !names[0].hasSuffix(".locked"), "\(names)")
    return try inspect("\(database)/pending-serialized-ios-dump")
  }

  /// - Parameter path: a dump, or the directory that has it alone: `inspect` walks no stacks of dumps that it finds in one,
  ///   which saves most of its time.
  func inspect(_ path: String) throws -> CapturedDump {
    let validation = try Tool.run(["validate", path], in: folder)
    #expect(validation.status == 0, "\(validation.text)\(validation.errorText)")
    let inspection = try Tool.run(["inspect", "--format", "json", path], in: folder)
    return CapturedDump(json: try JSONDocument(inspection.output))
  }
}

struct CapturedDump {
  let json: JSONDocument

  var signal: UInt64? { json["exception"]["code"].hex }
  var isComplete: Bool { json["complete"].bool == true }
  var threads: [JSONDocument] { json["threads"].array }
  /// The finding codes, each once.
  var findings: Set<String> { Set(json["findings"].array.compactMap { $0["code"].string }) }
  var notes: [String] { json["capture"]["notes"].array.compactMap(\.string) }

  /// Threads with a program counter and a stack.
  var wholeThreads: [JSONDocument] {
    threads.filter {
      ($0["registers"]["rip"].hex ?? $0["registers"]["pc"].hex) != nil && ($0["stack"]["bytes"].int ?? 0) > 0
    }
  }
}
