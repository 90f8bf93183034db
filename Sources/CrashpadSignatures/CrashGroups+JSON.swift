// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadJSON
internal import CrashpadSnapshot

/// The form in which shards travel: `crashpadctl-group-part/1`. Members and elements stand in the order of their bytes, so that
/// equal content is equal text.
extension CrashGroups {
  package static let partSchema = "crashpadctl-group-part/1"

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("schema", Self.partSchema)
      json.member("rules", (rules ?? .current).rawValue)
      json.array("shards") { json in
        for shard in shards { json.object { write(shard, to: &$0) } }
      }
    }
  }

  private func write(_ shard: Shard, to json: inout JSONWriter) {
    let part = parts[shard] ?? Part()
    json.member("run", shard.run)
    json.member("number", shard.number)
    json.member("total", shard.total)
    json.member("failed", part.failed)
    json.array("cells") { json in
      let keys = part.cells.keys.sorted {
        ($0.id, $0.raw, $0.text, $0.flags.joined()) < ($1.id, $1.raw, $1.text, $1.flags.joined())
      }
      for key in keys { json.object { Self.write(key, part.cells[key] ?? GroupCounts(), to: &$0) } }
    }
  }

  private static func write(_ key: GroupCounts.Key, _ cell: GroupCounts, to json: inout JSONWriter) {
    json.member("id", key.id)
    json.member("text", key.text)
    json.member("raw", key.raw)
    json.member("named", key.isNamed)
    json.member("flags", key.flags)
    json.member("count", cell.count)
    json.member("first", cell.first)
    json.member("last", cell.last)
    for (name, counts) in [("versions", cell.versions), ("devices", cell.devices), ("systems", cell.systems)] {
      json.object(name) { json in
        for (value, count) in counts.sorted(by: { $0.key < $1.key }) { json.member(value, count) }
      }
    }
    json.object("releases") { json in
      for (program, versions) in cell.releases.sorted(by: { $0.key < $1.key }) {
        json.object(program) { json in
          for (version, count) in versions.sorted(by: { $0.key < $1.key }) { json.member(version, count) }
        }
      }
    }
    json.array("days") { json in
      for (day, count) in cell.days.sorted(by: {
        ($0.key.number, $0.key.version ?? "") < ($1.key.number, $1.key.version ?? "")
      }) {
        json.object { json in
          json.member("day", day.number)
          json.member("version", day.version)
          json.member("count", count)
        }
      }
    }
    write(cell.deviceDays, to: &json)
    json.key("example")
    json.object { json in
      json.member("id", cell.example?.id)
      json.member("input", cell.example?.input)
    }
    json.object("quick") { json in
      for (client, times) in cell.quick.sorted(by: { $0.key < $1.key }) {
        json.array(client) { json in for time in times { json.number(time) } }
      }
    }
    json.member("installed", cell.installations.crashCount)
    json.array("installations") { json in
      for digest in cell.installations.digests.sorted() { json.string(hexadecimal(digest, width: 16)) }
    }
    // Most systems write one report of each crash.
    if !cell.accounts.isEmpty {
      json.array("accounts") { json in
        for account in cell.accounts.sorted(by: { $0.sortKey < $1.sortKey }) { json.object { account.write(to: &$0) } }
      }
    }
    if !cell.waiting.isEmpty {
      json.array("waiting") { json in
        for (report, count) in cell.waiting.sorted(by: { $0.key.facts.sortKey < $1.key.facts.sortKey }) {
          json.object { json in
            json.member("reports", count)
            report.facts.write(to: &json)
          }
        }
      }
    }
  }

  private static func write(_ days: KeyedTable<GroupCounts.DeviceDay, Int>, to json: inout JSONWriter) {
    if days.isEmpty { return }
    json.array("device_days") { json in
      for (day, count) in days.sorted(by: { ($0.key.number, $0.key.device) < ($1.key.number, $1.key.device) }) {
        json.object { json in
          json.member("day", day.number)
          json.member("device", day.device)
          json.member("count", count)
        }
      }
    }
  }

  /// The reason why a file is not a part.
  package struct NotAPart: Error { package let reason: String }

  /// A part has some 30 values for each report that another part may be about: enough for a million and a half of them.
  private static let maximumValues = 50_000_000

  package init(_ input: RawSpan) throws(NotAPart) {
    self.init()
    let tree = JSONTree(input, limit: Self.maximumValues)
    if let failure = tree.failure {
      throw NotAPart(
        reason: failure.reason == .tooDeep
          ? "has too many values; make parts of fewer dumps" : "is not JSON: see byte \(failure.offset)")
    }
    guard let root = tree.root, root["schema"]?.string == Self.partSchema else {
      throw NotAPart(reason: "is not a \(Self.partSchema) document; --partial writes one")
    }
    guard let rules = root["rules"]?.integer.flatMap({ Int(exactly: $0) }).flatMap({ RuleVersion(rawValue: $0) }) else {
      throw NotAPart(reason: "was made with a version of the rules that is not known here")
    }
    self.rules = rules
    for shard in root["shards"]?.elements ?? [] {
      guard let run = shard["run"]?.string, let number = Self.count(shard["number"]),
        let total = Self.count(shard["total"]),
        number >= 1, number <= total, total <= 65536
      else { throw NotAPart(reason: "has a shard without a number") }
      var part = Part()
      part.failed = Self.count(shard["failed"]) ?? 0
      for cell in shard["cells"]?.elements ?? [] { try part.read(cell) }
      parts.set(Shard(run: run, number: number, total: total), part)
    }
  }

  /// More than any fleet has; sums of them do not overflow.
  private static let maximumCount = 1 << 36

  package static func count(_ value: JSONValue?) -> Int? {
    value?.integer.flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 && $0 < maximumCount ? $0 : nil }
  }
}

extension CrashGroups.Part {
  fileprivate mutating func read(_ value: JSONValue) throws(CrashGroups.NotAPart) {
    guard let id = value["id"]?.string, let text = value["text"]?.string, let raw = value["raw"]?.string,
      let count = CrashGroups.count(value["count"])
    else { throw CrashGroups.NotAPart(reason: "has a group without an id or a count") }
    var cell = GroupCounts()
    cell.count = count
    cell.first = value["first"]?.integer.flatMap { Int64(exactly: $0) }
    cell.last = value["last"]?.integer.flatMap { Int64(exactly: $0) }
    cell.versions = Self.counts(value["versions"])
    cell.devices = Self.counts(value["devices"])
    cell.systems = Self.counts(value["systems"])
    for (program, versions) in value["releases"]?.members ?? [] { cell.releases[program] = Self.counts(versions) }
    if let example = value["example"], let id = example["id"]?.string, let input = example["input"]?.string {
      cell.example = GroupCounts.Example(id: id, input: input)
    }
    for (client, times) in value["quick"]?.members ?? [] {
      cell.quick[client] = times.elements.compactMap { $0.integer.flatMap { Int64(exactly: $0) } }.sorted()
    }
    for day in value["days"]?.elements ?? [] {
      guard let number = CrashGroups.count(day["day"]), let count = CrashGroups.count(day["count"]) else { continue }
      cell.days[GroupCounts.Day(number: number, version: day["version"]?.string), default: 0] += count
    }
    for day in value["device_days"]?.elements ?? [] {
      guard let number = CrashGroups.count(day["day"]), let device = day["device"]?.string,
        let count = CrashGroups.count(day["count"])
      else { continue }
      cell.deviceDays[GroupCounts.DeviceDay(number: number, device: device), default: 0] += count
    }
    cell.installations = Installations(
      digests: Set((value["installations"]?.strings ?? []).compactMap { UInt64($0, radix: 16) }),
      crashCount: min(CrashGroups.count(value["installed"]) ?? 0, count))
    cell.accounts = Set((value["accounts"]?.elements ?? []).compactMap { CrashAccount($0) })
    for report in value["waiting"]?.elements ?? [] {
      guard let facts = CrashFacts(report), let count = CrashGroups.count(report["reports"]) else { continue }
      cell.waiting[WaitingReport(facts), default: 0] += min(count, 1 << 20)
    }
    let key = GroupCounts.Key(
      id: id, text: text, raw: raw, isNamed: value["named"]?.bool == true, flags: value["flags"]?.strings ?? [])
    cells[key, default: GroupCounts()].add(cell)
  }

  private static func counts(_ value: JSONValue?) -> [String: Int] {
    Dictionary(
      (value?.members ?? []).compactMap { member in CrashGroups.count(member.value).map { (member.key, $0) } },
      uniquingKeysWith: +)
  }
}
