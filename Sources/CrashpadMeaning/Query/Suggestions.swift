// SPDX-License-Identifier: Apache-2.0
/// Suggestions for mistyped names.
package enum Suggestions {
  /// Returns at most three names, the nearest first. Words with at most `shortest` bytes get no suggestions.
  static func names(like text: String, shortest: Int = 3) -> [String] {
    let word = Array(text.uppercased().utf8.prefix(64))
    guard word.count > shortest else { return [] }
    var found: [(name: String, distance: Int)] = []
    var seen: Set<String> = []
    for row in MeaningTable.all where row.kind != .message && row.kind != .kernelTriage {
      for name in [row.name] + ([.terminationCode, .function].contains(row.kind) ? [] : row.aliases)
      where seen.insert(name).inserted {
        let letters = Array(name.uppercased().utf8)
        if abs(letters.count - word.count) > word.count / 4 + 1 { continue }
        let distance = distance(word, letters)
        if distance <= max(1, word.count / 4) { found.append((name, distance)) }
      }
    }
    return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
  }

  /// The number of bytes to insert, delete, replace, or swap with a neighbor.
  package static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var rows = [Array(0...b.count)]
    for i in 1..<a.count + 1 {
      var row = [i]
      for j in 1..<b.count + 1 {
        var least = min(row[j - 1] + 1, rows[i - 1][j] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { least = min(least, rows[i - 2][j - 2] + 1) }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
