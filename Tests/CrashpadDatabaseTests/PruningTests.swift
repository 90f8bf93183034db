// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Foundation
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadDatabase

@Suite("PruneRules")
struct PruneRulesTests {
  private static let day: Int64 = 86400
  /// 2026-11-21 12:00:00 UTC
  private static let now: Int64 = 1_795_262_400

  private static func report(
    _ id: UInt64, created: Int64, size: Int = 0, attachments: [Int] = [], _ state: ReportState = .completed
  ) -> Report {
    let id = UUIDBytes(high: 0, low: id)
    return Report(
      id: id, state: state, fileName: DatabaseLayout.report(id), size: size,
      attachments: attachments.enumerated().map {
        Report.Attachment(name: FileName(literal: "a").appending("\($0.offset)"), size: $0.element)
      },
      metadata: .file(ReportMetadata(creationTime: created)), modified: 0)
  }

  private static func pruned(_ rules: PruneRules, _ reports: [Report]) -> [UInt64] {
    rules.decide(reports, now: now).filter(\.isPruned).map(\.report.id.low)
  }

  private static func only(age: Int64? = nil, size: UInt64? = nil, count: Int? = nil, pending: Bool = false)
    -> PruneRules
  {
    PruneRules(maximumAge: age, maximumSize: size, maximumCount: count, keepsPending: pending)
  }

  @Test("The defaults are a year and 128 MiB")
  func defaults() {
    #expect(PruneRules() == Self.only(age: 31_536_000, size: 134_217_728))
  }

  @Test(
    "The time from which reports are kept",
    arguments: [
      // Whole days, as Crashpad has them.
      (0, now, 1_795_219_200), (day, now, 1_795_132_800), (365 * day, now, 1_763_683_200),
      // At midnight, one second before, one second behind.
      (day, 1_795_219_200, 1_795_132_800), (day, 1_795_219_199, 1_795_046_400), (day, 1_795_219_201, 1_795_132_800),
      // Longer than a day: never later than the whole day says, never earlier than the next.
      (day + 1, now, 1_795_132_800), (36 * 3600, now, 1_795_132_800), (36 * 3600 + 1, now, 1_795_046_400),
      // Some hours.
      (1, now, now - 1), (3600, now, now - 3600), (day - 1, now, now - day + 1),
      // Before 1970 the division goes towards zero, as in C.
      (30000 * day, now, -796_694_400), (day, 1, 0), (2 * day, 1, -86400), (day, 0, -86400),
      (.max, now, now - .max + (.max - now) % day), (.max, -2, .min),
    ] as [(Int64, Int64, Int64)])
  func creationLimit(_ age: Int64, _ now: Int64, _ limit: Int64) {
    #expect(Self.only(age: age).creationLimit(now: now) == limit)
  }

  @Test("A longer age never keeps less, from an hour on")
  func ageIsMonotonic() {
    var last = Int64.max
    for age in stride(from: Int64(3600), to: 5 * Self.day, by: 599) {
      let limit = Self.only(age: age).creationLimit(now: Self.now) ?? .max
      #expect(limit <= last)
      #expect(limit <= Self.now - age)
      last = limit
    }
  }

  @Test("A report of the very second from which reports are kept stays")
  func ageBoundary() {
    let limit = Self.only(age: Self.day).creationLimit(now: Self.now) ?? 0
    let reports = [-1, 0, 1].map { Self.report(UInt64($0 + 1), created: limit + $0) }
    #expect(Self.pruned(Self.only(age: Self.day), reports) == [0])
    #expect(Self.pruned(Self.only(), reports) == [])
    #expect(Self.pruned(Self.only(age: 0), [Self.report(1, created: Self.now + 1000)]) == [])
  }

  @Test(
    "Each report counts in whole KiB, rounded up",
    arguments: [
      (0, 0), (1, 1), (1023, 1), (1024, 1), (1025, 2), (2048, 2), (2049, 3),
    ])
  func rounding(_ bytes: Int, _ kibibytes: UInt64) {
    #expect(Self.only().decide([Self.report(1, created: 0, size: bytes)], now: 0)[0].kibibytes == kibibytes)
  }

  @Test("Attachments count with their report, before the rounding")
  func attachments() {
    let report = Self.report(1, created: 0, size: 1000, attachments: [20, 5])
    #expect(Self.only().decide([report], now: 0)[0].kibibytes == 2)
  }

  @Test("Sizes that no file has do not overflow")
  func hugeSizes() {
    let reports = (0..<4).map { Self.report($0, created: 0, size: .max, attachments: [.max, .max]) }
    #expect(Self.pruned(PruneRules(maximumAge: nil), reports) == [0, 1, 2, 3])
  }

  @Test(
    "Reports are kept up to the size limit, to the KiB",
    arguments: [
      (3 * 1024, []), (3 * 1024 - 1, [1]), (2 * 1024, [1]), (2047, [2, 1]), (1024, [2, 1]), (1023, [3, 2, 1]),
      (0, [3, 2, 1]),
    ] as [(UInt64, [UInt64])])
  func sizeBoundary(_ limit: UInt64, _ expected: [UInt64]) {
    let reports = [2, 1, 3].map { Self.report($0, created: Int64($0), size: 1000) }
    #expect(Self.pruned(Self.only(size: limit), reports) == expected)
  }

  @Test("A report that is too big takes the older ones with it, and those beyond another limit count too")
  func sizeIsRunning() {
    let reports = [
      Self.report(4, created: Self.now, size: 1024), Self.report(3, created: Self.now - 1, size: 5000),
      Self.report(2, created: Self.now - 2, size: 1), Self.report(1, created: Self.now - 400 * Self.day),
    ]
    #expect(Self.pruned(Self.only(size: 4096), reports) == [3, 2, 1])
    let decisions = Self.only(age: 365 * Self.day, size: 4096, count: 1).decide(reports, now: Self.now)
    #expect(decisions.map(\.kibibytes) == [1, 6, 7, 7])
    #expect(
      decisions.last?.reasons == [
        .size(kibibytes: 7, limit: 4), .age(limit: Self.now / Self.day * Self.day - 365 * Self.day),
        .count(number: 4, limit: 1),
      ])
  }

  @Test("The newest are kept up to a number", arguments: [(0, 4), (1, 3), (3, 1), (4, 0), (9, 0)])
  func count(_ limit: Int, _ expected: Int) {
    let reports = (0..<4).map { Self.report($0, created: -Int64($0)) }
    #expect(Self.pruned(Self.only(count: limit), reports) == Array((0..<4).suffix(expected)))
  }

  @Test("Reports of the same time are ordered by id, whatever the order was")
  func ties() {
    let reports = (0..<6).map { Self.report($0, created: 7) }
    for _ in 0..<20 {
      #expect(Self.pruned(Self.only(count: 2), reports.shuffled()) == [2, 3, 4, 5])
    }
    let twice = [Self.report(1, created: 7), Self.report(1, created: 7, .pending)]
    #expect(Self.only(count: 1).decide(twice, now: 0).map(\.report.state) == [.pending, .completed])
  }

  @Test("Pending reports stay if they are to, and count all the same")
  func keepPending() {
    let reports = [
      Self.report(4, created: 4, size: 1024, .pending), Self.report(3, created: 3, size: 1024, .pending),
      Self.report(2, created: 2, size: 1024, .completed), Self.report(1, created: 1, size: 1024, .pending),
    ]
    let decisions = Self.only(size: 1024, count: 1, pending: true).decide(reports, now: Self.now)
    #expect(decisions.filter(\.isPruned).map(\.report.id.low) == [2])
    #expect(decisions.filter(\.isKeptAsPending).map(\.report.id.low) == [3, 1])
    #expect(decisions.map(\.kibibytes) == [1, 2, 3, 4])
  }

  // MARK: Against another implementation

  /// The behavior of Crashpad's code, one condition after the other, without our types.
  private static func naive(_ reports: [Report], days: Int64, kibibytes: UInt64, now: Int64) -> Set<UUIDBytes> {
    let limit = ((now - days * 86400) / 86400) * 86400
    var left = reports
    var measured: UInt64 = 0
    var gone: Set<UUIDBytes> = []
    while let newest = left.max(by: { $0.creationTime < $1.creationTime }) {
      left.removeAll { $0.id == newest.id }
      measured += UInt64(newest.totalSize + 1023) / 1024
      let tooBig = measured > kibibytes
      let tooOld = newest.creationTime < limit
      if tooBig || tooOld { gone.insert(newest.id) }
    }
    return gone
  }

  @Test("Random databases lose the reports that Crashpad's rule says")
  func randomDatabases() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(state: seed)
    var goneInAll = 0
    for _ in 0..<Soak.times(500, or: 200) {
      let days = Int64.random(in: 0...800, using: &random)
      let kibibytes = UInt64.random(in: 0...300, using: &random)
      let now = Self.now + Int64.random(in: 0..<86400, using: &random)
      let limit = (now - days * 86400) / 86400 * 86400
      var times: Set<Int64> = []
      let reports = (0..<UInt64.random(in: 0...40, using: &random)).map { id in
        var time: Int64
        repeat {
          time =
            Bool.random(using: &random)
            ? limit + Int64.random(in: -30...30, using: &random)
            : now - Int64.random(in: -9...99_999_999, using: &random)
        } while !times.insert(time).inserted
        return Self.report(
          id, created: time, size: Int.random(in: 0...20_000, using: &random),
          attachments: (0..<Int.random(in: 0...2, using: &random)).map { _ in .random(in: 0...3000, using: &random) },
          Bool.random(using: &random) ? .pending : .completed)
      }
      let rules = Self.only(age: days * 86400, size: kibibytes * 1024)
      let gone = Set(rules.decide(reports.shuffled(using: &random), now: now).filter(\.isPruned).map(\.report.id))
      #expect(gone == Self.naive(reports, days: days, kibibytes: kibibytes, now: now), "seed \(seed)")
      goneInAll += gone.count
    }
    #expect(goneInAll > 0, "seed \(seed)")
  }
}

/// xorshift64*, so that a printed seed makes the same databases again.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    if state == 0 { state = 1 }
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 2_685_821_657_736_338_717
  }
}

@Suite("Pruning a database")
struct PruningTests {
  private let files: DatabaseFiles

  init() throws { files = try DatabaseFiles() }

  @Test("A report goes with metadata and attachments, and nothing else goes")
  func prune() throws {
    let id = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
    try files.report(id, in: "pending", created: 100)
    try files.write("attachments/\(id)/log", bytes: 10)
    try files.report("2b4e28ba-2fa1-41d2-883f-0016d3cca427", in: "completed", created: 200)
    let before = try files.all()
    let decisions = PruneRules(maximumCount: 1).decisions(try files.database.pruneReports(), now: 300)
    let pruned = decisions.filter(\.isPruned)
    #expect(pruned.map(\.report.id.text) == [id])
    let session = try DatabaseSession(files.database, now: 300)
    for decision in pruned { #expect(session.prune(decision.report.file) == .removed) }
    session.close()
    #expect(try files.all() == before.filter { !$0.contains(id) })
  }

  @Test("Rejected dumps get what reports and waiting dumps leave of the size, the newest first")
  func rejected() throws {
    let id = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
    try files.report(id, in: "completed", created: 100)
    let report = try #require(try files.database.pruneReports().first)
    let kibibytes = (report.size + 1023) / 1024
    try files.write("pending-serialized-ios-dump/a@\(id)", bytes: 2000)
    for (name, time) in [("old", 1000), ("young", 3000), ("middle", 2000)] {
      try files.write("rejected/\(name)", bytes: 1000, modified: time)
      try files.write("rejected/\(name).reason", bytes: 10, modified: time)
    }
    func others(_ limit: UInt64?, gone: Set<FileName> = []) throws -> OtherDumps {
      let rules = PruneRules(maximumAge: nil, maximumSize: limit.map { $0 * 1024 })
      let decisions = rules.decisions(try files.database.pruneReports(), now: 300)
      let kept = decisions.filter { !$0.isPruned }.map(\.report.size.kibibytes).reduce(0, +)
      return files.database.otherDumps(rules, keptKibibytes: kept, gone: gone)
    }
    #expect(try others(nil).surplus == [])
    #expect(try others(kibibytes + 5).surplus == [])
    #expect(try others(kibibytes + 4).surplus.map(\.name.text) == ["old"])
    #expect(try others(kibibytes + 4, gone: [FileName(literal: "young")]).surplus == [])
    let found = try others(kibibytes + 3)
    #expect(found.waitingCount == 1 && found.waitingSize == 2000 && found.rejected.count == 3)
    #expect(found.surplus.map(\.name.text) == ["middle", "old"])
    let before = try files.all()
    let session = try DatabaseSession(files.database, now: 300)
    for dump in found.surplus { #expect(session.prune(dump) == .removed) }
    session.close()
    #expect(try files.all() == before.filter { !$0.contains("middle") && !$0.contains("old") })
    // A limit that the report alone exceeds: no rejected dump stays beside a waiting one.
    #expect(try others(1).surplus.map(\.name.text) == ["young"])
  }

  @Test("A report with damaged or without metadata is as old as its file")
  func withoutMetadata() throws {
    let ids = (1...3).map { "\($0)b4e28ba-2fa1-41d2-883f-0016d3cca427" }
    for (id, time) in zip(ids, [1_000_000, 2_000_000, 3_000_000]) {
      try files.write("pending/\(id).dmp", bytes: 5, modified: time)
    }
    try files.write("pending/\(ids[1]).meta", bytes: 5)
    let reports = try files.database.pruneReports()
    let limit: Int64 = 23 * 86400
    let rules = PruneRules(maximumAge: 86400)
    #expect(rules.creationLimit(now: limit + 86400) == limit)
    #expect(rules.decisions(reports, now: limit + 86400).filter(\.isPruned).map(\.report.id.text) == [ids[0]])
    #expect(PruneRules().decisions(reports, now: 4_000_000).allSatisfy { !$0.isPruned })
  }

  @Test("A report with a held lock stays")
  func busy() throws {
    let id = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
    try files.report(id, in: "completed", created: 100)
    try files.lock("completed/\(id).lock", time: 1000)
    let report = try #require(try files.database.pruneReports().first)
    let state = LockState.unknown(since: 1000)
    #expect(files.database.predictPruning(of: report.file, removingExpiredLocks: false, now: 2000) == .busy(state))
    #expect(files.database.predictPruning(of: report.file, removingExpiredLocks: true, now: 2000) == .busy(state))
    let expired = 1000 + LockExpiry.timeToLive
    #expect(files.database.predictPruning(of: report.file, removingExpiredLocks: true, now: expired) == .removed)
    let before = try files.all()
    let session = try DatabaseSession(files.database, now: 2000)
    #expect(session.prune(report.file) == .busy(state))
    session.close()
    #expect(try files.all() == before)
  }

  @Test("A report that was moved meanwhile stays, and comes once where it is listed")
  func moved() throws {
    let id = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
    try files.report(id, in: "pending", created: 100)
    let report = try #require(try files.database.pruneReports().first)
    for end in ["dmp", "meta"] {
      try FileManager.default.moveItem(
        at: files.url("pending/\(id).\(end)"), to: files.url("completed/\(id).\(end)"))
    }
    let before = try files.all()
    let session = try DatabaseSession(files.database, now: 2000)
    #expect(session.prune(report.file) == .changed)
    session.close()
    #expect(try files.all() == before)
    #expect(try files.database.pruneReports().map(\.state) == [.completed])
  }
}

extension PruneRules {
  fileprivate func decide(_ reports: [Report], now: Int64) -> [PruneDecision] {
    var list = PruneList()
    for report in reports { list.append(PruneReport(report)) }
    list.sort()
    return decisions(list, now: now)
  }

  fileprivate func decisions(_ list: PruneList, now: Int64) -> [PruneDecision] {
    var decisions: [PruneDecision] = []
    decide(list, now: now) { decisions.append($0) }
    return decisions
  }
}

extension CrashDatabase {
  fileprivate func pruneReports() throws -> PruneList { try reportsToPrune().list }
}
