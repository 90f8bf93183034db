// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing

@testable import CrashpadDatabase
@testable import CrashpadFiles
import ToolRunner

@Suite("DatabaseRepair, random damage")
struct RandomDamageTests {
  /// `CRASHPADCTL_DAMAGES` says how many databases; 10 take less than a second.
  private static let seeds =
    1...(ProcessInfo.processInfo.environment["CRASHPADCTL_DAMAGES"].flatMap(UInt64.init)
    ?? UInt64(Soak.times(10, or: 4)))

  @Test(
    "Whatever the damage: no report's bytes are lost, the plan is kept, and the second repair has nothing to do",
    arguments: seeds)
  func anyDamage(_ seed: UInt64) throws {
    var random = Generator(state: seed)
    let scratch = try ScratchDatabase.healthy()
    for number in 0..<12 {
      let id = UUIDBytes(high: 0xabcd_ef00_0000_4000 | UInt64(number) << 32, low: 0x8000_0000_0000_000a)
      try scratch.addReport(id, in: number % 2 == 0 ? "pending" : "completed")
      try scratch.write(
        Array("MDMP \(Bool.random(using: &random) ? number : 0)".utf8),
        to: "\(number % 2 == 0 ? "pending" : "completed")/\(id.text).dmp")
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        try Self.damage(id, number % 2 == 0 ? "pending" : "completed", scratch, &random)
      }
    }
    if Bool.random(using: &random) { try scratch.write([1], to: "settings.dat") }
    if Bool.random(using: &random) { try FileManager.default.removeItem(at: scratch.url("new")) }
    scratch.setPermissions("", [0o700, 0o755, 0o770][Int.random(in: 0..<3, using: &random)])

    let before = try scratch.content()
    let dry = try scratch.repair(isDryRun: true)
    #expect(try scratch.content() == before, "seed \(seed)")
    let first = try scratch.repair()
    #expect(dry.done.map(Self.pathAndRule) == first.done.map(Self.pathAndRule), "seed \(seed)")
    let after = try scratch.content()
    #expect(
      DatabaseRepairTests.reports(in: after) == DatabaseRepairTests.reports(in: before),
      "seed \(seed)")
    // A lock of an unknown owner stays, and with it what is behind it.
    let mended = DatabaseRules.repairable.map { "[\($0.code)]" }
    let left = scratch.found().filter { line in mended.contains { line.hasSuffix($0) } }
    let busy = first.notDone.compactMap { $0.split(separator: "/").last?.prefix(36).lowercased() }
    #expect(first.notDone.allSatisfy { $0.hasSuffix(" busy") }, "seed \(seed)")
    #expect(left.filter { line in !busy.contains { line.lowercased().contains($0) } } == [], "seed \(seed)")
    let second = try scratch.repair()
    #expect(second.done == [], "seed \(seed)")
    #expect(try scratch.content() == after, "seed \(seed)")
  }

  private static func pathAndRule(_ line: String) -> [Substring] {
    line.split(separator: " ").filter { !$0.hasPrefix("settings.dat.") && $0 != "->" }
  }

  private static func damage(
    _ id: UUIDBytes, _ state: String, _ scratch: ScratchDatabase, _ random: inout Generator
  ) throws {
    let other = state == "pending" ? "completed" : "pending"
    let name = "\(state)/\(id.text)"
    let upper = "\(state)/\(id.text.uppercased())"
    let manager = FileManager.default
    func bytes(_ name: String) -> [UInt8] { (try? scratch.bytes(of: name)) ?? [] }
    let mixed = "\(state)/\(id.text.prefix(4).uppercased())\(id.text.dropFirst(4))"
    let uploaded = Sample.metadata(attributes: 1, id: "srv\(Int.random(in: 0..<2, using: &random))")
    switch Int.random(in: 0..<18, using: &random) {
    case 0: try? manager.removeItem(at: scratch.url(name + ".meta"))
    case 1: try scratch.write(Array(bytes(name + ".meta").prefix(7)), to: name + ".meta")
    case 2: try scratch.write([3] + bytes(name + ".meta").dropFirst(), to: name + ".meta")
    case 3: try? manager.moveItem(at: scratch.url(name + ".dmp"), to: scratch.url(upper + ".dmp"))
    case 4: try? manager.moveItem(at: scratch.url(name + ".meta"), to: scratch.url(upper + ".meta"))
    case 5: try? manager.copyItem(at: scratch.url(name + ".dmp"), to: scratch.url("\(other)/\(id.text).dmp"))
    case 6: try scratch.write(Array("MDMP other".utf8), to: "\(other)/\(id.text).dmp")
    case 7: try scratch.write(Sample.metadata(attributes: 1, id: "srv"), to: "\(other)/\(id.text).meta")
    case 8: try scratch.write(ScratchDatabase.crashpadLock(Sample.now - 4 * Sample.day), to: name + ".lock")
    case 9: try scratch.write(ScratchDatabase.markedLock(), to: name + ".lock")
    case 10: try scratch.write(ScratchDatabase.crashpadLock(Sample.now - 4), to: name + ".lock")
    case 11: try? manager.copyItem(at: scratch.url(name + ".dmp"), to: scratch.url(upper + ".dmp"))
    case 12: try scratch.write(uploaded, to: name + ".meta")
    case 13: try scratch.write(uploaded, to: upper + ".meta")
    case 14: try? manager.moveItem(at: scratch.url(name + ".dmp"), to: scratch.url(mixed + ".dmp"))
    case 15: try? manager.copyItem(at: scratch.url(name + ".dmp"), to: scratch.url(mixed + ".dmp"))
    case 16:
      try? manager.copyItem(at: scratch.url(name + ".dmp"), to: scratch.url("\(other)/\(id.text.uppercased()).dmp"))
    default: try scratch.write([1], to: "attachments/\(id.text)/log")
    }
  }

  /// SplitMix64.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = state
      word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
      return word ^ word >> 31
    }
  }
}
