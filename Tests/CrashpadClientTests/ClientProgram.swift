// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

/// A database of one test, and programs that use it.
struct ClientProgram {
  let folder: TemporaryFolder
  var database: URL { folder.url("db") }
  var pendingDumps: URL { database.appending(path: "pending-serialized-ios-dump") }

  init() throws { folder = try TemporaryFolder() }

  /// The folder of the products: beside the test bundle.
  static let products = URL(fileURLWithPath: Tool.path).deletingLastPathComponent()

  struct Outcome {
    let lines: [String]
    let errors: String
    /// That of a signal is 128 more than its number.
    let status: Int32
  }

  /// Runs the program with these steps to its end.
  func run(_ steps: String...) throws -> Outcome { try run(steps) }

  func run(_ steps: [String]) throws -> Outcome {
    let program = Self.products.appending(path: "client-program").path
    let words = ([program, database.path] + steps).map { "'\($0)'" }.joined(separator: " ")
    let result = try Tool.shell("ulimit -c 0; SWIFT_BACKTRACE=enable=no exec \(words)", in: folder)
    return Outcome(
      lines: result.text.split(separator: "\n").map(String.init), errors: result.errorText, status: result.status)
  }

  /// Names of the pending dumps, hidden ones too, without the uuids.
  func dumpNames() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: pendingDumps.path).map {
      $0.replacing(#/@[0-9a-f-]{36}/#, with: "@UUID")
    }.sorted()
  }

  func reports(in state: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: database.appending(path: state), includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "dmp" }.sorted { $0.path < $1.path }
  }

  func pendingDumpFiles() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: pendingDumps, includingPropertiesForKeys: nil)
      .filter { !$0.lastPathComponent.hasPrefix(".") && $0.pathExtension != "locked" }
      .sorted { $0.path < $1.path }
  }
}

/// The text of a dump or a report.
struct DumpFacts {
  let snapshot: ProcessSnapshot
  let isComplete: Bool
  private let dump: Dump

  init(_ file: URL) throws {
    dump = Dump(try DumpInput(FilePath(file.path)))
    snapshot = try #require(dump.snapshot)
    isComplete = snapshot.isComplete
  }

  private func bytes(_ content: SnapshotBytes) -> [UInt8] {
    dump.file.withBytes { snapshot.bytes(of: content, in: $0) }
  }
  private func text(_ content: SnapshotBytes) -> String { String(decoding: bytes(content), as: UTF8.self) }

  var annotations: [String: String] {
    Dictionary(snapshot.annotations.map { (text($0.name), text($0.value)) }) { $1 }
  }

  /// The identities of all modules, by name.
  var objects: [String: (type: UInt16, value: [UInt8])] {
    var objects: [String: (type: UInt16, value: [UInt8])] = [:]
    for object in snapshot.modules.flatMap(\.annotationObjects) {
      objects[text(object.name)] = (object.type, bytes(object.value))
    }
    return objects
  }

  func object(_ name: String) -> String? { objects[name].map { String(decoding: $0.value, as: UTF8.self) } }

  /// Messages of all modules.
  var messages: [String] { snapshot.modules.flatMap(\.messages).map { text($0) } }

  /// The bytes that the dump has of an address.
  func memory(at address: UInt64, count: Int) -> [UInt8]? {
    for region in snapshot.extraMemory
    where address >= region.address && address + UInt64(count) <= region.address + UInt64(region.content.count) {
      return Array(bytes(region.content).dropFirst(Int(address - region.address)).prefix(count))
    }
    return nil
  }
}
