// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import ToolRunner

/// A database directory that can be made any number of times, always the same.
struct DatabasePlan: Sendable {
  struct File: Sendable {
    let path: String
    let bytes: [UInt8]
    var modified: Int
  }

  /// The time of every run.
  static let now = 2_000_000_000
  static let day = 86400

  var folders: [String] = []
  var files: [File] = []
  /// Symbolic links and FIFOs in `pending-serialized-ios-dump/`.
  var hasOthers = false
  var isMissing = false

  mutating func add(_ path: String, _ bytes: [UInt8], age: Int = 100) {
    files.append(File(path: path, bytes: bytes, modified: Self.now - age))
  }

  mutating func addDump(_ name: String, _ bytes: [UInt8], age: Int = 100) {
    add("pending-serialized-ios-dump/" + name, bytes, age: age)
  }

  struct Dump {
    let name: String
    let bytes: [UInt8]
    var isLocked: Bool { name.hasSuffix(".locked") }
    var unlockedName: String { isLocked ? String(name.dropLast(7)) : name }
  }

  var dumps: [Dump] {
    files.compactMap { file in
      let parts = file.path.split(separator: "/")
      return parts.count == 2 && parts[0] == "pending-serialized-ios-dump"
        ? Dump(name: String(parts[1]), bytes: file.bytes) : nil
    }
  }

  mutating func addSettings() { add("settings.dat", Self.settings) }

  /// A report with metadata; with attachments if there are any.
  mutating func addReport(_ number: Int, in state: String = "pending", age: Int = 100, attachments: [String] = []) {
    let id = Self.id(number)
    add("\(state)/\(id).dmp", Self.dump(number), age: age)
    add("\(state)/\(id).meta", Self.metadata(isTried: state == "completed", age: age), age: age)
    for name in attachments { add("attachments/\(id)/\(name)", Array("\(name) of \(number)\n".utf8), age: age) }
  }

  private static func metadata(isTried: Bool = true, isUploaded: Bool = false, age: Int) -> [UInt8] {
    var metadata = ByteList()
    metadata.append(Int32(1))
    metadata.append(Int32(isTried ? 1 : 0))
    metadata.append(Int64(isTried ? now - age : 0))
    metadata.append(Int64(now - age))
    metadata.append(Int64(isUploaded ? 1 : 0))
    return metadata.bytes
  }

  func make(at url: URL) throws {
    let manager = FileManager.default
    if isMissing {
      try manager.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      return
    }
    let parts = [
      ".", "new", "pending", "completed", "attachments", "pending-serialized-ios-dump", "rejected",
    ]
    for name in parts + folders {
      try manager.createDirectory(
        at: url.appending(path: name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    for file in files {
      let path = url.appending(path: file.path)
      try manager.createDirectory(
        at: path.deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Data(file.bytes).write(to: path)
      try manager.setAttributes(
        [
          .posixPermissions: 0o600,
          .modificationDate: Date(timeIntervalSince1970: TimeInterval(file.modified)),
        ], ofItemAtPath: path.path)
    }
    guard hasOthers else { return }
    let dumps = url.appending(path: "pending-serialized-ios-dump")
    try manager.createSymbolicLink(
      atPath: dumps.appending(path: "com.example.app@\(Self.id(90))").path, withDestinationPath: "../settings.dat")
    try manager.createSymbolicLink(
      atPath: dumps.appending(path: "nowhere.locked").path, withDestinationPath: "/nonexistent")
    try manager.createDirectory(at: dumps.appending(path: "a-directory.locked"), withIntermediateDirectories: true)
    unsafe _ = mkfifo(dumps.appending(path: "a-fifo").path, 0o600)
  }

  // MARK: Content

  /// `settings.dat` with a client id, uploads not enabled.
  static let settings: [UInt8] = {
    var bytes = ByteList()
    bytes.append(UInt32(0x4350_6473))
    bytes.append(UInt32(1))
    bytes.append(UInt64(0))
    bytes.append(UInt64(0))
    bytes.append(UInt64(0x1111_2222_3333_4444))
    bytes.append(UInt64(0x5555_6666_7777_8888))
    return bytes.bytes
  }()

  static func id(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  static func dump(_ number: Int) -> [UInt8] {
    var parameters = SynthParameters.tiny(seed: UInt64(number))
    parameters.stackBytes = 512
    parameters.contextRegionsPerThread = 2
    parameters.contextRegionBytes = 64
    return SynthDump(parameters).bytes
  }

  // MARK: Plans

  /// Everything that `process` makes a difference between, but for two crashes under one id: which of them keeps it
  /// depends on which is processed first.
  static let mixed: DatabasePlan = {
    var plan = DatabasePlan()
    let own = "com.example.app@"
    plan.addDump(own + id(1), dump(1))
    plan.addDump("org.example.other@" + id(2), dump(2))
    // A copy under another name: one report.
    plan.addDump("zz.example.copy@" + id(2), dump(2))
    plan.addDump(own + id(3) + ".locked", dump(3), age: 61 * day)
    plan.addDump(own + id(4) + ".locked", [], age: 61 * day)
    plan.addDump(own + id(5) + ".locked", [], age: 3600)
    plan.addDump(own + id(6) + ".locked", dump(6), age: 3600)
    // Expired, but its name without the lock is taken.
    plan.addDump(own + id(7) + ".locked", dump(7), age: 61 * day)
    plan.addDump(own + id(7), dump(7))
    plan.addDump(own + id(8), Array("no dump at all".utf8))
    plan.addDump(own + id(9), Array(dump(9).prefix(dump(9).count * 2 / 3)))
    plan.addDump(own + id(10), [])
    plan.addDump("no-uuid-in-the-name", dump(12))
    plan.addDump("no-uuid-in-the-name-of-the-copy", dump(12))
    // The name in rejected/ is taken too.
    plan.add("rejected/\(own + id(8))", Array("an older one".utf8))
    plan.add("rejected/\(own + id(8)).reason", Array("12 bytes\n".utf8))
    plan.addReport(50)
    plan.hasOthers = true
    return plan
  }()

  static let mixedWithSettings: DatabasePlan = {
    var plan = mixed
    plan.addSettings()
    return plan
  }()

  /// Two crashes under one id become two reports; and settings are there.
  static let mixedWithConflicts: DatabasePlan = {
    var plan = mixedWithSettings
    plan.addDump("zz.example.other@" + id(1), dump(11))
    plan.addDump("zz.example.third@" + id(50), dump(13))
    return plan
  }()

  static let mixedWithDamagedSettings: DatabasePlan = {
    var plan = mixed
    plan.add("settings.dat", Array("damaged".utf8))
    return plan
  }()

  /// Reports in all states, with and without what belongs to them, and what was left behind.
  static let reports: DatabasePlan = {
    var plan = DatabasePlan()
    plan.addSettings()
    plan.addReport(50)
    plan.addReport(51, age: 10 * day, attachments: ["log.txt", "state.json"])
    plan.addReport(52, age: 400 * day, attachments: ["old.txt"])
    plan.addReport(60, in: "completed", age: 5 * day)
    plan.addReport(61, in: "completed", age: 20 * day, attachments: ["log.txt"])
    plan.addReport(62, in: "completed", age: 500 * day)
    // Without metadata, without a report, and attachments of no report.
    plan.add("pending/\(id(53)).dmp", dump(53), age: 30 * day)
    plan.add("completed/\(id(63)).meta", Array(repeating: 1, count: 32), age: 30 * day)
    plan.add("attachments/\(id(64))/log.txt", Array("nothing's".utf8), age: 30 * day)
    plan.add("new/\(id(65)).dmp", dump(65), age: 30 * day)
    // Eight bytes of a time long ago.
    plan.add("pending/\(id(54)).lock", [0, 0, 0, 0x60, 0, 0, 0, 0], age: 30 * day)
    plan.add("completed/\(id(60)).lock", [0, 0, 0, 0x60, 0, 0, 0, 0], age: 30 * day)
    plan.add("rejected/no-dump", Array("no dump".utf8), age: 100 * day)
    plan.add("rejected/no-dump.reason", Array("7 bytes\n".utf8), age: 100 * day)
    plan.addDump("locked.locked", dump(66), age: 3600)
    return plan
  }()

  /// Reports that a run uploaded and did not move, because it died.
  static let uploaded: DatabasePlan = {
    var plan = DatabasePlan()
    plan.addSettings()
    for number in 50...52 {
      plan.add("pending/\(id(number)).dmp", dump(number))
      plan.add("pending/\(id(number)).meta", metadata(isUploaded: true, age: 100) + Array("bp-\(number)".utf8))
    }
    plan.addReport(60, in: "completed", age: 5 * day)
    return plan
  }()

  /// Not even the directory.
  static let nothing: DatabasePlan = {
    var plan = DatabasePlan()
    plan.isMissing = true
    return plan
  }()

  /// A few plain dumps.
  static func plain(_ count: Int) -> DatabasePlan {
    var plan = DatabasePlan()
    for number in 1...count { plan.addDump("com.example.app@\(id(number))", dump(number % 40 + 100)) }
    plan.addSettings()
    return plan
  }
}

/// Little-endian bytes.
private struct ByteList {
  var bytes: [UInt8] = []

  mutating func append(_ value: some FixedWidthInteger) {
    for place in 0..<(value.bitWidth / 8) { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
  }
}
