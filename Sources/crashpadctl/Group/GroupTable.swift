// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadText

/// Groups as a table and as CSV.
struct GroupTable {
  let groups: [CrashGroups.Group]
  let parts: CrashGroups
  /// The ids of the baseline; nil without one.
  let known: Set<String>?
  /// Whether a group may lack its names, so that it is not known to be new.
  let isDoubtful: Bool
  let total: Int

  init(groups: [CrashGroups.Group], parts: CrashGroups, known: Set<String>?, isDoubtful: Bool = false) {
    self.isDoubtful = isDoubtful
    self.groups = groups
    self.parts = parts
    self.known = known
    total = groups.crashCount
  }

  var twins: Int { groups.reduce(0) { $0 + $1.cell.twins } }
  var copies: Int { groups.reduce(0) { $0 + $1.cell.copies } }

  // MARK: Text

  func text(_ style: TextStyle) -> String {
    var table = TextTable([
      ("count", .right), ("share", .right), ("first seen", .left), ("last seen", .left), ("versions", .left),
      ("devices", .left), ("systems", .left), ("id", .left), ("signature", .left), ("example", .left),
    ])
    table.elastic = ["signature": .head, "versions": .head, "devices": .head, "systems": .head, "example": .tail]
    table.droppable = ["example", "devices", "systems", "first seen", "versions", "share", "last seen", "id"]
    // The column that people read.
    table.preferred = ["signature": 48]
    for group in groups {
      table.add([
        grouped(group.cell.count), share(group), day(group.cell.first), day(group.cell.last),
        Self.top(group.cell.versions), Self.top(group.cell.devices), Self.top(group.cell.systems),
        TextFormat.printable(group.id), TextFormat.printable(group.text) + marks(group),
        group.cell.example.map { TextFormat.printable($0.input) } ?? "",
      ])
    }
    var text = groups.isEmpty ? "" : table.text(style)
    // A narrow table cuts them.
    for group in groups where style.width.map({ $0 < 80 }) ?? false && !marks(group).isEmpty {
      text += DisplayWidth.cut("\(TextFormat.printable(group.id)):\(marks(group))", to: style.width ?? .max) + "\n"
    }
    for group in groups where group.cell.loopingClients > 0 {
      let clients = TextFormat.count(group.cell.loopingClients, "installation")
      text +=
        "\(TextFormat.printable(group.id)): \(clients) crashed 3 times or more within an hour, each time within seconds of the start\n"
    }
    let counted =
      hasCrashesAlone ? TextFormat.count(total, "crash", "crashes") : TextFormat.count(total, "report")
    text += "\(counted) in \(TextFormat.count(groups.count, "group"))"
    if twins > 0 { text += "; \(TextFormat.count(twins, "more report")) of the same crashes" }
    if copies > 0 { text += "; \(TextFormat.count(copies, "copy", "copies")) left out" }
    return text
      + (parts.failed > 0 ? "; \(TextFormat.count(parts.failed, "input")) could not be read completely\n" : "\n")
  }

  /// Hangs and exceeded limits have groups too, and need not have ended a process.
  private var hasCrashesAlone: Bool {
    !groups.contains { group in
      switch SignatureParts(group.text).kind.prefix(while: { $0 != ":" && $0 != "[" }) {
      case "hang", "stackshot", "jetsam", "resource": true
      default: false
      }
    }
  }

  private func marks(_ group: CrashGroups.Group) -> String {
    (isNew(group) == true ? " [new]" : "") + (group.newIn.map { " [new in \(TextFormat.printable($0))]" } ?? "")
      + (group.goneSince.map { " [gone since \(TextFormat.printable($0))]" } ?? "")
      + (group.cell.loopingClients > 0 ? " [insta-crash]" : "")
      + (group.cell.twins > 0 ? " [\(TextFormat.count(group.cell.twins, "more report"))]" : "")
  }

  /// Nil without a baseline, and if it is not known.
  func isNew(_ group: CrashGroups.Group) -> Bool? {
    known.flatMap { $0.contains(group.id) ? false : isDoubtful ? nil : true }
  }

  /// "12.5%"
  func share(_ group: CrashGroups.Group) -> String {
    let tenths = Int((1000 * Double(group.cell.count) / Double(max(1, total))).rounded())
    return "\(tenths / 10).\(tenths % 10)%"
  }

  private func day(_ time: Int64?) -> String {
    time.flatMap { TextFormat.rfc3339(Timestamp(seconds: $0)) }.map { String($0.prefix(10)) } ?? "-"
  }

  /// "2.1, 2.0 and 3 more": the most frequent first.
  private static func top(_ counts: [String: Int]) -> String {
    let names = sorted(counts).map { TextFormat.printable($0.name) }
    let shown = Array(names.prefix(2)).joined(separator: ", ")
    return names.count > 2 ? "\(shown) and \(names.count - 2) more" : shown.isEmpty ? "-" : shown
  }

  static func sorted(_ counts: [String: Int]) -> [(name: String, count: Int)] {
    counts.map { ($0.key, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
  }

  // MARK: CSV

  var csv: String {
    var lines = [
      "id,count,share,first,last,versions,devices,systems,new_in,gone_since,insta_crash,signature,example,twins,installations,copies"
    ]
    for group in groups {
      let cell = group.cell
      let values = [
        group.id, String(cell.count), share(group), time(cell.first) ?? "", time(cell.last) ?? "",
        Self.list(cell.versions),
        Self.list(cell.devices), Self.list(cell.systems), group.newIn ?? "", group.goneSince ?? "",
        String(cell.loopingClients), group.text,
        cell.example?.input ?? "", String(cell.twins), String(cell.installations.count), String(cell.copies),
      ]
      lines.append(values.map(Self.quoted).joined(separator: ","))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func list(_ counts: [String: Int]) -> String { sorted(counts).map(\.name).joined(separator: ";") }

  /// As RFC 4180 has it, without what a terminal would obey. A spreadsheet takes a value that begins with one of `=+-@`
  /// for a formula.
  static func quoted(_ text: String) -> String {
    var value = TextFormat.printable(text)
    let isFormula = value.utf8.first.map { "=+-@\t".utf8.contains($0) } ?? false
    if isFormula { value = "'" + value }
    guard value.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return value }
    return "\"" + value.replacing("\"", with: "\"\"") + "\""
  }

  private func time(_ time: Int64?) -> String? { time.flatMap { TextFormat.rfc3339(Timestamp(seconds: $0)) } }
}
