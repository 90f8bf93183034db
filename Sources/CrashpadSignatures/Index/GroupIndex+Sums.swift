// SPDX-License-Identifier: Apache-2.0
extension GroupIndex {
  /// The crashes of the index, of the sums that it keeps: the time depends on the number of groups. Only dumps of which
  /// some may be of one crash are looked at one by one.
  ///
  /// - Parameters:
  ///   - hasDays: whether to read how many crashes each day has, of each version and, with a look at each dump, on each
  ///     device.
  ///   - hasInstallations: whether to read which installations the crashes came from, which takes a look at each dump.
  package func part(hasDays: Bool, hasInstallations: Bool) throws -> CrashGroups.Part {
    var part = CrashGroups.Part()
    // Sums and rows have to be those of one moment.
    try file.reading {
      part.failed = try failures()
      var cells = try sums(hasDays: hasDays)
      try addTimes(&cells)
      try addExamples(&cells)
      try addQuick(&cells)
      if hasDays { try addDeviceDays(&cells) }
      if hasInstallations { try addInstallations(&cells) }
      try addSeparate(&cells)
      part.add(cells, try signatures())
    }
    return part
  }

  private func sums(hasDays: Bool) throws -> [Int64: GroupCounts] {
    var cells: [Int64: GroupCounts] = [:]
    let facts = ["crash", "version", "device", "system"] + (hasDays ? ["day", "unversioned"] : [])
    let select = try file.prepare("SELECT signature, name, part, count FROM sums WHERE fact = ?")
    for fact in facts {
      try select.bind([.text(fact)])
      while try select.step() {
        guard let signature = select.number(0), let name = select.text(1), let count = select.number(3) else {
          continue
        }
        cells[signature, default: GroupCounts()].add(
          fact, name: name, part: select.text(2) ?? "", count: Int(clamping: count))
      }
    }
    return cells
  }

  private func addTimes(_ cells: inout [Int64: GroupCounts]) throws {
    // Each with an order of its own, as SQLite goes to one end of an index at a time.
    let select = try file.prepare(
      """
      SELECT (SELECT min(time) FROM dumps WHERE signature = ?1 AND NOT separate),
        (SELECT max(time) FROM dumps WHERE signature = ?1 AND NOT separate)
      """)
    for signature in cells.keys {
      try select.bind([.number(signature)])
      guard try select.step() else { continue }
      cells[signature]?.addTime(select.number(0))
      cells[signature]?.addTime(select.number(1))
    }
  }

  private func addExamples(_ cells: inout [Int64: GroupCounts]) throws {
    let select = try file.prepare(
      """
      SELECT coalesce(report, path), path FROM dumps WHERE signature = ? AND NOT separate
      ORDER BY coalesce(report, path), path LIMIT 1
      """)
    for signature in cells.keys {
      try select.bind([.number(signature)])
      guard try select.step(), let id = select.text(0), let path = select.text(1) else { continue }
      cells[signature]?.addExample(GroupCounts.Example(id: id, input: path))
    }
  }

  /// Adds the dumps of which some may be of one crash.
  private func addSeparate(_ cells: inout [Int64: GroupCounts]) throws {
    let select = try file.prepare("SELECT \(Self.columns) FROM dumps WHERE separate AND signature IS NOT NULL")
    while try select.step() { cells[select.number(0) ?? 0, default: GroupCounts()].add(Self.facts(select)) }
  }

  private func addDeviceDays(_ cells: inout [Int64: GroupCounts]) throws {
    let select = try file.prepare(
      """
      SELECT signature, time / 86400, device, count(*) FROM dumps
      WHERE NOT separate AND signature IS NOT NULL AND device IS NOT NULL AND time >= ? AND time < ?
      GROUP BY signature, time / 86400, device
      """)
    let days = GroupCounts.knownDays
    try select.bind([.number(Int64(days.lowerBound) * 86400), .number(Int64(days.upperBound) * 86400)])
    while try select.step() {
      guard let signature = select.number(0), let day = select.number(1), let device = select.text(2),
        let count = select.number(3)
      else { continue }
      cells[signature]?.add(GroupCounts.DeviceDay(number: Int(day), device: device), Int(clamping: count))
    }
  }

  private func addInstallations(_ cells: inout [Int64: GroupCounts]) throws {
    let select = try file.prepare(
      """
      SELECT signature, client, count(*) FROM dumps
      WHERE NOT separate AND signature IS NOT NULL AND client IS NOT NULL GROUP BY signature, client
      """)
    while try select.step() {
      guard let signature = select.number(0), let client = select.text(1), let count = select.number(2) else {
        continue
      }
      cells[signature]?.installations.add(client, crashes: Int(clamping: count))
    }
  }

  private func addQuick(_ cells: inout [Int64: GroupCounts]) throws {
    let select = try file.prepare(
      """
      SELECT signature, client, time FROM dumps
      WHERE quick AND NOT separate AND signature IS NOT NULL AND client IS NOT NULL AND time IS NOT NULL
      ORDER BY signature, client, time
      """)
    while try select.step() {
      guard let signature = select.number(0), let client = select.text(1), let time = select.number(2) else { continue }
      cells[signature]?.quick[client, default: []].append(time)
    }
    // Names that are the same text in other bytes are one client.
    for signature in cells.keys { cells[signature]?.sortQuick() }
  }
}

extension GroupCounts {
  fileprivate mutating func add(_ day: DeviceDay, _ count: Int) { deviceDays[day, default: 0] += count }

  fileprivate mutating func sortQuick() { for client in quick.keys { quick[client]?.sort() } }

  /// Adds a row of `sums`.
  fileprivate mutating func add(_ fact: String, name: String, part: String, count: Int) {
    switch fact {
    case "crash": self.count += count
    case "version":
      versions[name, default: 0] += count
      releases[part, default: [:]][name, default: 0] += count
    case "device": devices[name, default: 0] += count
    case "system": systems[name, default: 0] += count
    default:
      guard let number = Int(name) else { return }
      days[Day(number: number, version: fact == "day" ? part : nil), default: 0] += count
    }
  }
}
