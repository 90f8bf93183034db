// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Hides personal data in texts whose length may change: those of a report, and those of events.
package final class PersonalText {
  /// A text without personal data, and the sizes of its parts that were replaced.
  struct Hidden {
    var text: String
    var removed: [Int] = []
  }

  private struct Key: Hashable {
    let text: String
    let place: TextPlace
  }

  private let redactor: TextRedactor
  /// The numbers of the UUIDs that were replaced, by their lowercase text.
  private var numbers: [[UInt16]: Int] = [:]
  /// Reports name the same functions in all threads.
  private var known: [Key: Hidden] = [:]
  private static let maximumKnown = 4096

  init(_ redactor: TextRedactor) { self.redactor = redactor }

  /// For texts that belong together: a name of a user that one has in a path is hidden in all.
  package convenience init(_ policy: RedactionPolicy = RedactionPolicy(), learning texts: [String]) {
    let collector = UserNameCollector()
    let learning = TextRedactor(policy: policy, collector: collector)
    for text in texts { learning.learn(Array(text.utf8)) }
    var policy = policy
    policy.userNames = collector.names.sorted().map(UserName.init)
    self.init(TextRedactor(policy: policy, collector: collector))
  }

  /// The text without personal data.
  package func hidden(_ text: String) -> String { hidden(text, .free, limit: TextRedactor.maximumLength).text }

  /// The name of a function without personal data.
  package func hidden(symbol: String) -> String { hidden(symbol, .symbol, limit: TextRedactor.maximumLength).text }

  /// The version without personal data.
  package func hidden(version: String) -> String { hidden(version, .version, limit: TextRedactor.maximumLength).text }

  func hidden(_ text: String, _ place: TextPlace, limit: Int) -> Hidden {
    if text.utf8.count > limit { return replaced(text, place, limit: limit) }
    let key = Key(text: text, place: place)
    if let hidden = known[key] { return hidden }
    let hidden = replaced(text, place, limit: limit)
    if known.count < Self.maximumKnown { known[key] = hidden }
    return hidden
  }

  private func replaced(_ text: String, _ place: TextPlace, limit: Int) -> Hidden {
    let bytes = Array(text.utf8)
    let pieces = unsafe redactor.pieces(
      of: ByteRange(offset: 0, count: bytes.count), bytes.span.bytes, limit: limit, place)
    guard pieces.contains(where: \.isHidden) else { return Hidden(text: text) }
    var result = bytes
    var hidden = Hidden(text: "")
    for piece in pieces where piece.isHidden {
      let range = piece.range.offset..<piece.range.end
      let units = bytes[range].map(UInt16.init)
      // An earlier redaction left it.
      if DeviceIDs.isPlaceholder(units[...]) || units.allSatisfy({ $0 == Unit.star }) { continue }
      let isUUID = DeviceIDs.isUUID(units[...])
      result.replaceSubrange(
        range, with: isUUID ? placeholder(units) : [UInt8](repeating: UInt8(ascii: "*"), count: range.count))
      hidden.removed.append(range.count)
    }
    hidden.text = String(decoding: result, as: UTF8.self)
    return hidden
  }

  /// The UUID of zeros with the number of this one.
  private func placeholder(_ uuid: [UInt16]) -> [UInt8] {
    let next = numbers.count + 1
    let number = numbers[uuid.map(lowercase), default: next]
    numbers[uuid.map(lowercase)] = number
    return Array(DeviceIDs.placeholder(number).utf8)
  }
}
