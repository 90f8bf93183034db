// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Our pruning beside Crashpad's own: `CRASHPAD_PRUNE_TOOL` names a program that runs `PruneCrashReportDatabase`:
///
///     prune_tool DATABASE [--days N] [--size KIB]
///
/// and prints a line `deleted=<uuid>` for each report. Without an option it takes `PruneCondition::GetDefault()`.
@Suite("Crashpad's pruning", .enabled(if: Peers.pruneTool != nil, "CRASHPAD_PRUNE_TOOL names no program"))
struct SharedPruneTests {
  struct Limits: CustomTestStringConvertible, Sendable {
    var days: Int?
    var kibibytes: Int?

    var testDescription: String { "days \(days.map(String.init) ?? "-"), KiB \(kibibytes.map(String.init) ?? "-")" }

    var peerArguments: String {
      (days.map { " --days \($0)" } ?? "") + (kibibytes.map { " --size \($0)" } ?? "")
    }

    var arguments: String {
      if days == nil && kibibytes == nil { return "" }
      return " --max-age \(days.map { "\($0)d" } ?? "none") --max-size \(kibibytes.map { "\($0)KiB" } ?? "none")"
    }
  }

  private static let limits =
    [nil, 0, 1, 30, 365, 30000].flatMap { days in
      [nil, 0, 1, 7, 100].map { Limits(days: days, kibibytes: $0) }
    }

  @Test("The same reports go", arguments: limits)
  func pruned(_ limits: Limits) throws {
    let folder = try TemporaryFolder()
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    let now = Int(Date().timeIntervalSince1970)
    try writeDatabase("a", limits, now: now, &random, in: folder)
    let copied = try Tool.shell("cp -a a b", in: folder)
    #expect(copied.status == 0)
    let peer = try Tool.shell("'\(Peers.pruneTool ?? "")' a\(limits.peerArguments)", in: folder)
    let end = Int(Date().timeIntervalSince1970)
    // Both go by the same day, or nothing can be said.
    guard now / 86400 == end / 86400 else { return }
    let own = try Tool.shell("crashpadctl prune -d b --pending\(limits.arguments) --now \(now)", in: folder)
    #expect(peer.status == 0 && own.status == 0, "seed \(seed)")
    let theirs = peer.outputLines.filter { $0.hasPrefix("deleted=") }.map { String($0.dropFirst(8)) }.sorted()
    let ours = own.outputLines.filter { !$0.isEmpty }.map { line in
      String(line.split(separator: "/").last?.prefix(36) ?? "")
    }
    #expect(ours.sorted() == theirs, "seed \(seed)")
    let left = try ["a", "b"].map { try FileManager.default.subpathsOfDirectory(atPath: folder.url($0).path).sorted() }
    #expect(left[0] == left[1], "seed \(seed)")
  }

  /// Reports around the limits. No two have the same time: Crashpad leaves their order open.
  private func writeDatabase(
    _ name: String, _ limits: Limits, now: Int, _ random: inout SplitMix64, in folder: TemporaryFolder
  ) throws {
    for part in ["new", "pending", "completed", "attachments"] {
      try FileManager.default.createDirectory(
        at: folder.url("\(name)/\(part)"), withIntermediateDirectories: true)
    }
    let limit = (now - (limits.days ?? 365) * 86400) / 86400 * 86400
    var times: Set<Int> = []
    for _ in 0..<random.between(0, 25) {
      var time: Int
      repeat {
        time = random.oneIn(2) ? limit + random.between(-20, 20) : now - random.between(-1000, 70_000_000)
      } while !times.insert(time).inserted
      var digits = random.bytes(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      for index in [10, 8, 6, 4] { digits.insert("-", at: index) }
      let id = digits.joined()
      let state = random.oneIn(2) ? "pending" : "completed"
      let size = random.oneIn(3) ? 1024 * random.between(0, 3) + random.between(-1, 1) : random.below(20_000)
      try folder.write([UInt8](repeating: 0, count: max(0, size)), to: "\(name)/\(state)/\(id).dmp")
      var metadata: [UInt8] = [1] + [UInt8](repeating: 0, count: 15)
      metadata += (0..<8).map { UInt8(truncatingIfNeeded: time >> (8 * $0)) } + [UInt8](repeating: 0, count: 8)
      try folder.write(metadata, to: "\(name)/\(state)/\(id).meta")
      for number in 0..<random.below(3) {
        try folder.write([UInt8](repeating: 0, count: random.below(3000)), to: "\(name)/attachments/\(id)/\(number)")
      }
    }
  }
}
