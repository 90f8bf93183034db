// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("PendingDump and PendingDumpLock")
struct PendingDumpTests {
  private let id = "01234567-89ab-4def-8123-456789abcdef"
  private let day: Int64 = 86_400
  private let sixtyDays: Int64 = 5_184_000

  private func dump(_ name: String, modified: Int64 = 0, isOwned: Bool = false) throws -> PendingDump {
    PendingDump(name: try #require(FileName(name)), size: 1, modified: modified, isOwned: isOwned)
  }

  // MARK: Names

  @Test("A name is taken apart at its last @, and .locked is no part of it")
  func names() throws {
    let uuid = try #require(UUIDBytes(text: id))
    let cases: [(String, bundleID: String?, uuid: UUIDBytes?, isLocked: Bool, unlocked: String)] = [
      ("com.a@\(id)", "com.a", uuid, false, "com.a@\(id)"),
      ("com.a@\(id).locked", "com.a", uuid, true, "com.a@\(id)"),
      ("com.a@b@\(id).locked", "com.a@b", uuid, true, "com.a@b@\(id)"),
      ("@\(id)", "", uuid, false, "@\(id)"), ("\(id)", nil, uuid, false, id), ("\(id).locked", nil, uuid, true, id),
      ("com.a@\(id.uppercased())", "com.a", uuid, false, "com.a@\(id.uppercased())"),
      ("com.a@\(id)x", "com.a", nil, false, "com.a@\(id)x"), ("com.a@", "com.a", nil, false, "com.a@"),
      ("com.a@\(id.filter { $0 != "-" })", "com.a", nil, false, "com.a@\(id.filter { $0 != "-" })"),
      ("com.a@x\(id)", "com.a", nil, false, "com.a@x\(id)"), ("x\(id)", nil, nil, false, "x\(id)"),
      ("com.a", nil, nil, false, "com.a"), ("@", "", nil, false, "@"),
      ("com.a@\(id).lock", "com.a", nil, false, "com.a@\(id).lock"),
      ("com.a@\(id).LOCKED", "com.a", nil, false, "com.a@\(id).LOCKED"),
      ("com.a@\(id).locked.locked", "com.a", nil, true, "com.a@\(id).locked"),
      ("x.locked", nil, nil, true, "x"), (".locked", nil, nil, false, ".locked"),
      ("..locked", nil, nil, true, "..locked"),
      ("com.locked@\(id)", "com.locked", uuid, false, "com.locked@\(id)"),
    ]
    for (name, bundleID, uuid, isLocked, unlocked) in cases {
      let dump = try dump(name)
      #expect(dump.bundleID == bundleID, "\(name)")
      #expect(dump.uuid == uuid, "\(name)")
      #expect(dump.isLocked == isLocked, "\(name)")
      #expect(dump.unlockedName.text == unlocked, "\(name)")
    }
  }

  @Test("Names that are not UTF-8")
  func bytes() throws {
    let name = try #require(FileName(bytes: [0xff, 0x40] + Array(id.utf8) + Array(".locked".utf8)))
    let dump = PendingDump(name: name, size: 0, modified: 0, isOwned: false)
    #expect(dump.bundleID == "\u{fffd}")
    #expect(dump.uuid?.text == id)
    #expect(dump.isLocked)
    // Twelve bytes less three, that would be as many as a UUID has if each bad byte became three.
    let bad = try #require(FileName(bytes: [0x40] + [UInt8](repeating: 0xff, count: 12)))
    #expect(PendingDump(name: bad, size: 0, modified: 0, isOwned: false).uuid == nil)
  }

  @Test("A dump belongs to a bundle if its name begins with it and an @")
  func belonging() throws {
    let dump = try dump("com.ab@\(id).locked")
    #expect(dump.belongs(to: "com.ab"))
    for other in ["com.a", "com.abc", "om.ab", "", "com.ab@", "com.AB", "com.ab@\(id)"] {
      #expect(!dump.belongs(to: other), "\(other)")
    }
    let at = try self.dump("com.a@b@\(id)")
    #expect(at.belongs(to: "com.a@b"))
    #expect(at.belongs(to: "com.a"), "as Crashpad compares")
    #expect(!at.belongs(to: "b"))
    #expect(try self.dump("@\(id)").belongs(to: ""))
    #expect(try !self.dump("com.ab").belongs(to: "com.ab"))
  }

  // MARK: The rule

  private typealias Decision = PendingDumpLock.Decision

  @Test("The rule at each boundary: a second before, at it, a second after")
  func boundaries() throws {
    let now: Int64 = 2_000_000_000
    let own = "com.a@\(id).locked"
    let foreign = "com.ab@\(id).locked"
    let cases: [(String, age: Int64, Decision)] = [
      (own, -1, .fromFuture(by: .matchingBundle, until: now + 1 + day)),
      (own, 0, .locked(by: .matchingBundle, until: now + day)),
      (own, 1, .locked(by: .matchingBundle, until: now - 1 + day)),
      (own, day - 1, .locked(by: .matchingBundle, until: now + 1)),
      (own, day, .expired(by: .matchingBundle)), (own, day + 1, .expired(by: .matchingBundle)),
      (own, sixtyDays - 1, .expired(by: .matchingBundle)), (own, sixtyDays, .expired(by: .anyBundle)),
      (own, sixtyDays + 1, .expired(by: .anyBundle)),
      (foreign, -1, .fromFuture(by: .anyBundle, until: now + 1 + sixtyDays)),
      (foreign, 0, .locked(by: .anyBundle, until: now + sixtyDays)),
      (foreign, day - 1, .locked(by: .anyBundle, until: now - day + 1 + sixtyDays)),
      (foreign, day, .locked(by: .anyBundle, until: now - day + sixtyDays)),
      (foreign, day + 1, .locked(by: .anyBundle, until: now - day - 1 + sixtyDays)),
      (foreign, sixtyDays - 1, .locked(by: .anyBundle, until: now + 1)),
      (foreign, sixtyDays, .expired(by: .anyBundle)), (foreign, sixtyDays + 1, .expired(by: .anyBundle)),
    ]
    for (name, age, expected) in cases {
      let decision = PendingDumpLock.decide(
        try dump(name, modified: now - age), bundleIDs: ["com.b", "com.a"], now: now)
      #expect(decision == expected, "\(name), \(age) s old")
      let owned = try dump(name, modified: now - age, isOwned: true)
      #expect(PendingDumpLock.decide(owned, bundleIDs: ["com.a"], now: now) == .owned)
    }
  }

  @Test("A dump without .locked is not locked, whatever else is true of it")
  func notLocked() throws {
    for modified in [Int64.min, 0, Int64.max] {
      for isOwned in [false, true] {
        let dump = try dump("com.a@\(id)", modified: modified, isOwned: isOwned)
        #expect(PendingDumpLock.decide(dump, bundleIDs: ["com.a"], now: 0) == .notLocked)
      }
    }
  }

  @Test("Without bundles of one's own, only the long rule is there")
  func noBundles() throws {
    let dump = try dump("com.a@\(id).locked", modified: 0)
    #expect(PendingDumpLock.decide(dump, bundleIDs: [], now: day) == .locked(by: .anyBundle, until: sixtyDays))
    #expect(PendingDumpLock.decide(dump, bundleIDs: [], now: sixtyDays) == .expired(by: .anyBundle))
  }

  @Test("The ends of time make no trouble")
  func extremes() throws {
    let times: [Int64] = [.min, .min + 1, .min + day, .min + sixtyDays, -1, 0, 1, .max - sixtyDays, .max - 1, .max]
    for modified in times {
      for now in times {
        for (bundleIDs, timeToLive, rule) in [
          (["com.a"], day, PendingDumpLock.Rule.matchingBundle), ([], sixtyDays, .anyBundle),
        ] {
          let decision = PendingDumpLock.decide(
            try dump("com.a@\(id).locked", modified: modified), bundleIDs: bundleIDs, now: now)
          // In numbers that do not end: twice as wide.
          let age = Int128(now) - Int128(modified)
          let until = Int64(clamping: Int128(modified) + Int128(timeToLive))
          let expected: Decision =
            if age < 0 { .fromFuture(by: rule, until: until) } else if age < Int128(timeToLive) {
              .locked(by: rule, until: until)
            } else { .expired(by: age >= Int128(sixtyDays) ? .anyBundle : rule) }
          #expect(decision == expected, "\(modified), \(now), \(rule)")
        }
      }
    }
  }
}
