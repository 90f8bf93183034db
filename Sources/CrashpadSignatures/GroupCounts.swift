// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The counts of one signature: how many crashes it has, by day, version, device and system.
package struct GroupCounts: Sendable, Hashable {
  /// The properties that the crashes of a group share.
  package struct Key: Sendable, Hashable {
    package let id: String
    package let text: String
    package let raw: String
    package let isNamed: Bool
    package let flags: [String]

    package init(_ signature: Signature) {
      self.init(
        id: signature.id, text: signature.text, raw: signature.raw, isNamed: signature.isNamed,
        flags: signature.flags.map(\.rawValue))
    }

    init(id: String, text: String, raw: String, isNamed: Bool, flags: [String]) {
      self.id = id
      self.text = text
      self.raw = raw
      self.isNamed = isNamed
      self.flags = flags
    }

    /// Whether the signature tells more than another one: names, or more parts.
    func tellsMore(than other: Key) -> Bool {
      isNamed == other.isNamed ? separators > other.separators : isNamed
    }

    /// Whether two signatures can't be of one crash, though its forms may lack symbols or memory: both have names, and as many parts,
    /// and the names differ.
    func contradicts(_ other: Key) -> Bool {
      isNamed && other.isNamed && separators == other.separators && id != other.id
    }

    /// The number of its parts but one: see `Signature.separator`.
    private var separators: Int { text.unicodeScalars.count { $0 == "·" } }
  }

  package struct Example: Sendable, Hashable {
    package let id: String
    package let input: String

    /// In the order of bytes, which is that of an index: texts of equal characters may have different bytes.
    func precedes(_ other: Example) -> Bool {
      id.utf8.elementsEqual(other.id.utf8)
        ? input.utf8.lexicographicallyPrecedes(other.input.utf8) : id.utf8.lexicographicallyPrecedes(other.id.utf8)
    }
  }

  /// Crashes of one day with one version.
  package struct Day: Sendable, Hashable {
    /// Days since 1970.
    package let number: Int
    package let version: String?
  }

  /// Crashes of one day on one device.
  package struct DeviceDay: Sendable, Hashable {
    /// Days since 1970.
    package let number: Int
    package let device: String
  }

  package internal(set) var count = 0
  /// The number of further reports of these crashes, which are not counted.
  package internal(set) var twins = 0
  /// The number of copies of these reports, and of their other forms, which are not counted either.
  package internal(set) var copies = 0
  /// The accounts by which further reports of counted crashes are recognized.
  package internal(set) var accounts: Set<CrashAccount> = []
  /// Reports that may be of a crash that is counted elsewhere, and how often each is there: that is known when all are.
  package internal(set) var waiting = KeyedTable<WaitingReport, Int>()
  package internal(set) var days = KeyedTable<Day, Int>()
  package internal(set) var deviceDays = KeyedTable<DeviceDay, Int>()
  /// Seconds since 1970.
  package internal(set) var first: Int64?
  package internal(set) var last: Int64?
  /// The number of crashes of each.
  package internal(set) var versions: [String: Int] = [:]
  /// The same by program; the empty name stands for one that is not known.
  package internal(set) var releases: [String: [String: Int]] = [:]
  package internal(set) var devices: [String: Int] = [:]
  package internal(set) var systems: [String: Int] = [:]
  package internal(set) var example: Example?
  package internal(set) var installations = Installations()
  /// For each client the times of crashes soon after a start, in order.
  package internal(set) var quick: [String: [Int64]] = [:]

  package init() {}

  package mutating func add(_ facts: CrashFacts) {
    let account = CrashAccount(facts)
    if facts.mayBeForm || account.map({ $0.role != .captured }) ?? false {
      waiting[WaitingReport(facts), default: 0] += 1
      return
    }
    if let account { accounts.insert(account) }
    count(facts)
  }

  mutating func count(_ facts: CrashFacts) {
    count += 1
    addTime(facts.time)
    if let day = facts.time.flatMap(Self.day) {
      days[Day(number: day, version: facts.version), default: 0] += 1
      if let device = facts.device { deviceDays[DeviceDay(number: day, device: device), default: 0] += 1 }
    }
    if let version = facts.version {
      versions[version, default: 0] += 1
      releases[facts.program ?? "", default: [:]][version, default: 0] += 1
    }
    if let device = facts.device { devices[device, default: 0] += 1 }
    if let system = facts.system { systems[system, default: 0] += 1 }
    addExample(Example(id: facts.id, input: facts.input))
    if let client = facts.client { installations.add(client) }
    if facts.isQuick, let client = facts.client, let time = facts.time { addQuick(client, [time]) }
  }

  package mutating func add(_ other: GroupCounts) {
    count += other.count
    twins += other.twins
    copies += other.copies
    accounts.formUnion(other.accounts)
    if waiting.isEmpty { waiting = other.waiting } else { waiting.merge(other.waiting, uniquingKeysWith: +) }
    addTime(other.first)
    addTime(other.last)
    days.merge(other.days, uniquingKeysWith: +)
    deviceDays.merge(other.deviceDays, uniquingKeysWith: +)
    versions.merge(other.versions, uniquingKeysWith: +)
    for (program, versions) in other.releases {
      releases[program, default: [:]].merge(versions, uniquingKeysWith: +)
    }
    devices.merge(other.devices, uniquingKeysWith: +)
    systems.merge(other.systems, uniquingKeysWith: +)
    if let example = other.example { addExample(example) }
    installations.add(other.installations)
    for (client, times) in other.quick { addQuick(client, times) }
  }

  /// The counts alone.
  var withoutAccounts: GroupCounts {
    var cell = self
    cell.accounts = []
    cell.waiting = KeyedTable()
    return cell
  }

  /// From 1990 to 2100: the clocks of damaged dumps would make a chart of centuries.
  static let knownDays = 7305..<47482

  /// The day of a time in seconds since 1970; nil of one that no clock should have.
  private static func day(_ time: Int64) -> Int? {
    // Rounded down, without a subtraction that a time near Int64.min would overflow.
    let (quotient, remainder) = time.quotientAndRemainder(dividingBy: 86400)
    let day = Int(remainder < 0 ? quotient - 1 : quotient)
    return knownDays.contains(day) ? day : nil
  }

  mutating func addTime(_ time: Int64?) {
    guard let time else { return }
    first = min(first ?? time, time)
    last = max(last ?? time, time)
  }

  mutating func addExample(_ other: Example) {
    if example.map({ other.precedes($0) }) ?? true { example = other }
  }

  private mutating func addQuick(_ client: String, _ times: [Int64]) {
    guard times.count == 1 else {
      quick[client] = ((quick[client] ?? []) + times).sorted()
      return
    }
    // One crash after the other, mostly in the order of their times.
    let index = quick[client]?.lastIndex { $0 <= times[0] }.map { $0 + 1 } ?? 0
    quick[client, default: []].insert(times[0], at: index)
  }

  /// The number of clients that crashed at least three times within an hour, each time soon after the start.
  package var loopingClients: Int {
    quick.values.count { times in
      times.indices.dropLast(2).contains { times[$0 + 2].saturatingDifference(times[$0]) <= 3600 }
    }
  }
}
