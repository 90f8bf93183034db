// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import Foundation
import Glibc
import CrashpadSnapshot
import SystemPackage
import Testing

@testable import CrashpadDatabase
@testable import CrashpadFiles

/// Ids and texts that the tests of check and repair use.
enum Sample {
  static let now: Int64 = 1_700_000_000
  static let day: Int64 = 86_400

  /// In `pending/`, with an attachment.
  static let pending = id("11111111-1111-4111-8111-111111111111")
  /// In `completed/`, uploaded.
  static let completed = id("22222222-2222-4222-8222-222222222222")
  /// Not there.
  static let other = id("abcdef33-3333-4333-8333-333333333333")
  static var upper: String { other.text.uppercased() }

  static func id(_ text: String) -> UUIDBytes {
    guard let id = UUIDBytes(text: text) else { preconditionFailure("no UUID: \(text)") }
    return id
  }

  static let minidump = Array("MDMP and so on".utf8)

  static func metadata(
    creation: Int64 = 1_600_000_000, attempts: Int32 = 0, attempt: Int64 = 0, attributes: UInt8 = 0, id: String = ""
  ) -> [UInt8] {
    ScratchDatabase.little(1, 4) + ScratchDatabase.little(attempts, 4) + ScratchDatabase.little(attempt, 8)
      + ScratchDatabase.little(creation, 8) + [attributes, 0, 0, 0, 0, 0, 0, 0] + Array(id.utf8)
  }

  /// `CPds`, version 1, uploads enabled, a time and a client id.
  static func settings(attempt: Int64 = 0, clientID: UInt8 = 7) -> [UInt8] {
    [0x73, 0x64, 0x50, 0x43, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0] + ScratchDatabase.little(attempt, 8)
      + [UInt8](repeating: clientID, count: 16)
  }

  /// An AppleDouble file with these attributes, as macOS writes it.
  static func appleDouble(_ attributes: [(name: String, value: String)]) -> [UInt8] {
    func big(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let entry = 26 + 12
    var headerSize = entry + 32 + 2 + 36
    for attribute in attributes { headerSize = (headerSize + 3) & ~3 + 11 + attribute.name.utf8.count + 1 }
    var header: [UInt8] = []
    var data: [UInt8] = []
    for (name, value) in attributes {
      while (entry + 70 + header.count) % 4 != 0 { header.append(0) }
      header += big(headerSize + 3 + data.count, 4) + big(value.utf8.count, 4) + [0, 0, UInt8(name.utf8.count + 1)]
      header += Array(name.utf8) + [0]
      data += Array(value.utf8)
    }
    while entry + 70 + header.count < headerSize + 3 { header.append(0) }
    let total = entry + 70 + header.count + data.count
    let finder = [UInt8](repeating: 0, count: 34) + Array("ATTR".utf8) + big(0, 4) + big(total, 4)
    let block = finder + big(headerSize + 3, 4) + big(data.count, 4) + [UInt8](repeating: 0, count: 12) + [0, 0]
    return big(0x0005_1607, 4) + big(0x0002_0000, 4) + [UInt8](repeating: 0x20, count: 16) + big(1, 2)
      + big(9, 4) + big(entry, 4) + big(total - entry, 4) + block + big(attributes.count, 2) + header + data
  }
}

extension ScratchDatabase {
  /// A database with something of everything, and nothing amiss.
  static func healthy() throws -> ScratchDatabase {
    let scratch = try ScratchDatabase()
    try scratch.write(Sample.settings(), to: "settings.dat")
    try scratch.addReport(Sample.pending, attachments: ["log.txt"])
    try scratch.addReport(
      Sample.completed, in: "completed",
      metadata: Sample.metadata(attempts: 1, attempt: 1_600_000_100, attributes: 1, id: "server"))
    let dump = "pending-serialized-ios-dump/com.example@99999999-9999-4999-8999-99999999999"
    try scratch.write([6], to: dump + "1")
    try scratch.write([], to: dump + "2.locked")
    scratch.setModified(dump + "2.locked", Sample.now - Sample.day)
    try scratch.write([1], to: "rejected/com.example@99999999-9999-4999-8999-999999999993")
    try scratch.write([1], to: "rejected/com.example@99999999-9999-4999-8999-999999999993.reason")
    return scratch
  }

  func setPermissions(_ name: String, _ permissions: UInt32) {
    #expect(unsafe chmod(url(name).path, permissions) == 0, "\(name)")
  }

  /// The findings of `DatabaseCheck`: "pending/x.meta [code]", sorted.
  func found(ignoring ignored: Set<String> = []) -> [String] {
    let findings = DatabaseCheck(database, now: Sample.now, ignoring: ignored).run().findings
    return findings.map { "\($0.path) [\($0.rule.code)]" }.sorted()
  }

  /// Every file's bytes by its path; what is no file by a word.
  func content() throws -> [String: [UInt8]] {
    func add(_ folder: Folder, _ prefix: String, to content: inout [String: [UInt8]]) throws {
      for name in try folder.names() {
        let path = prefix + name.escaped
        switch try folder.status(name)?.kind {
        case .regular where name.escaped == name.text: content[path] = try bytes(of: path)
        case .regular: content[path] = try folder.open(name).prefix(1 << 21)
        case .directory:
          content[path + "/"] = []
          try add(folder.folder(name), path + "/", to: &content)
        default: content[path] = Array("special".utf8)
        }
      }
    }
    var content: [String: [UInt8]] = [:]
    try add(Folder(path), "", to: &content)
    return content
  }

  struct Repair: Equatable {
    var done: [String] = []
    var notDone: [String] = []
  }

  /// The changes of `DatabaseRepair`: "removed-lock pending/x.lock -> target [code]".
  func repair(isDryRun: Bool = false, ignoring ignored: Set<String> = []) throws -> Repair {
    let repair = DatabaseRepair(
      database, now: Sample.now, newClientID: Sample.id("cccccccc-cccc-4ccc-8ccc-cccccccccccc"), ignoring: ignored)
    var result = Repair()
    try repair.run(isDryRun: isDryRun) { event in
      switch event {
      case .done(let fact):
        let target = fact.target.map { " -> \($0)" } ?? ""
        result.done.append("\(fact.action.rawValue) \(fact.path)\(target) [\(fact.rule.code)]")
      case .notDone(let path, let obstacle): result.notDone.append("\(path) \(obstacle)")
      }
    }
    return result
  }
}
