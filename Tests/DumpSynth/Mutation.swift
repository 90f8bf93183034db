// SPDX-License-Identifier: Apache-2.0
/// Changes to the structure of a dump: each leaves most of it readable, which is where readers go wrong.
public enum Mutation: CaseIterable, Sendable {
  /// The same record once more, right behind itself: the last one wins.
  case duplicateRecord
  case dropRecord
  /// A subtree taken out and put in front of another record, wherever that stands.
  case moveRecord
  /// A property with a longer or shorter value, with the right length for it.
  case resizeValue
  /// A property with new bytes of the same size: extreme numbers, or noise.
  case rewriteValue
  /// A length field that lies, from one too many to 2^64 - 1.
  case falsifyLength
  /// Another key: one that is known, an unknown one or 0.
  case changeKey
  /// A property where a map or array was, or the other way round.
  case swapKinds
  /// A subtree inside one to twelve maps more; beyond nine below the root Crashpad gives up.
  case wrapDeeper
  /// A start or end command that is missing.
  case dropBracket
  /// An end, start or root command too many.
  case insertBracket
  /// The end of the other kind of container.
  case wrongEnd
  /// A record with an unknown key.
  case insertUnknown
  /// A byte that is no command.
  case insertNoise
  /// Bytes behind the end of the root.
  case appendTrailer

  /// The mutated bytes; the same bytes if there is nothing to apply it to.
  public func apply(to bytes: [UInt8], using random: inout SplitMix64) -> [UInt8] {
    let records = DumpRecords.walk(bytes).records
    let inner = records.filter { $0.depth > 0 && !$0.closes && $0.subtree != nil }
    let properties = records.filter { $0.command == .property }
    guard let any = Self.pick(inner, &random), let subtree = any.subtree,
      let property = Self.pick(properties, &random), let value = property.value
    else { return bytes }
    switch self {
    case .duplicateRecord:
      return Damage.inserting(Array(bytes[subtree]), into: bytes, at: subtree.upperBound)
    case .dropRecord:
      return Damage.replacing(bytes, subtree, with: [])
    case .moveRecord:
      let without = Damage.replacing(bytes, subtree, with: [])
      guard let target = Self.pick(DumpRecords.walk(without).records, &random) else { return without }
      return Damage.inserting(Array(bytes[subtree]), into: without, at: target.start)
    case .resizeValue:
      let sizes = [0, 1, 2, 3, 4, 7, 8, 9, 16, value.count - 1, value.count + 1, value.count + 8, 70_000]
      let size = max(0, sizes[random.below(sizes.count)])
      let kept = Array(bytes[value].prefix(size))
      return Damage.settingValue(bytes, of: property, to: kept + random.bytes(size - kept.count))
    case .rewriteValue:
      var new = [UInt8](repeating: [0x00, 0xff, 0x80][random.below(3)], count: value.count)
      if random.oneIn(3) { new = random.bytes(value.count) }
      return Damage.settingValue(bytes, of: property, to: new)
    case .falsifyLength:
      return Damage.settingLength(bytes, of: property, to: Self.falseLength(for: value, bytes.count, &random))
    case .changeKey:
      guard let keyed = Self.pick(inner.filter { $0.key != nil }, &random) else { return bytes }
      var out = bytes
      out.overwrite(UInt64(Self.key(&random)), width: 2, at: keyed.start + 1)
      return out
    case .swapKinds:
      return Self.swapKinds(bytes, any, subtree, &random)
    case .wrapDeeper:
      return Self.wrap(bytes, any, subtree, levels: random.between(1, 12), &random)
    case .dropBracket:
      guard let bracket = Self.pick(records.filter { $0.opens || $0.closes }, &random) else { return bytes }
      return Damage.replacing(bytes, bracket.start..<bracket.end, with: [])
    case .insertBracket:
      let command = DumpCommand.allCases[random.below(DumpCommand.allCases.count)]
      return Damage.inserting([command.rawValue], into: bytes, at: any.start)
    case .wrongEnd:
      guard let end = Self.pick(records.filter { $0.closes }, &random) else { return bytes }
      return Damage.replacing(bytes, at: end.start, with: [2, 4, 7][random.below(3)])
    case .insertUnknown:
      var builder = DumpBuilder()
      builder.property(number: UInt16(7000 + random.below(50_000)), random.bytes(random.below(300)))
      return Damage.inserting(builder.bytes, into: bytes, at: any.start)
    case .insertNoise:
      let noise = UInt8(random.between(8, 255))
      return Damage.inserting([random.oneIn(2) ? 0 : noise], into: bytes, at: any.start)
    case .appendTrailer:
      return bytes + random.bytes(random.between(1, 64))
    }
  }

  /// `count` mutations of chance one after another; the names are for the message of a failing test.
  public static func several(
    _ count: Int, on bytes: [UInt8], using random: inout SplitMix64
  ) -> (bytes: [UInt8], applied: [Mutation]) {
    var out = bytes
    var applied: [Mutation] = []
    for _ in 0..<count {
      let mutation = allCases[random.below(allCases.count)]
      out = mutation.apply(to: out, using: &random)
      applied.append(mutation)
    }
    return (out, applied)
  }

  // MARK: Parts

  private static func pick(_ list: [DumpRecord], _ random: inout SplitMix64) -> DumpRecord? {
    list.isEmpty ? nil : list[random.below(list.count)]
  }

  private static func key(_ random: inout SplitMix64) -> UInt16 {
    switch random.below(4) {
    case 0: UInt16(truncatingIfNeeded: random.next())
    case 1: [0, 65535, 7000, 2, 999][random.below(5)]
    default: DumpKey.allCases[random.below(DumpKey.allCases.count)].rawValue
    }
  }

  private static func falseLength(
    for value: Range<Int>, _ size: Int, _ random: inout SplitMix64
  ) -> UInt64 {
    let rest = UInt64(size - value.lowerBound)
    let length = UInt64(value.count)
    let choices: [UInt64] = [
      0, length &- 1, length + 1, rest, rest + 1, 1 << 26, 1 << 26 + 1, 1 << 31, 1 << 32, 1 << 63, .max,
      .max - UInt64(value.lowerBound), .max - 10,
    ]
    return choices[random.below(choices.count)]
  }

  private static func swapKinds(
    _ bytes: [UInt8], _ record: DumpRecord, _ subtree: Range<Int>, _ random: inout SplitMix64
  ) -> [UInt8] {
    var builder = DumpBuilder()
    let number = record.key ?? key(&random)
    if record.command == .property {
      if random.oneIn(2) { builder.map(number: number) { _ in } } else { builder.array(number: number) { _ in } }
    } else if random.oneIn(2) {
      builder.property(number: number, random.bytes([0, 1, 4, 8, 16][random.below(5)]))
    } else if record.command == .mapStart {
      builder.array(number: number) { _ in }
    } else {
      builder.map(number: number) { _ in }
    }
    return Damage.replacing(bytes, subtree, with: builder.bytes)
  }

  private static func wrap(
    _ bytes: [UInt8], _ record: DumpRecord, _ subtree: Range<Int>, levels: Int, _ random: inout SplitMix64
  ) -> [UInt8] {
    var builder = DumpBuilder()
    let number = record.key ?? key(&random)
    if record.isInArray { builder.mapStartInArray() }
    let content = record.isInArray ? Array(bytes[subtree.dropFirst().dropLast()]) : Array(bytes[subtree])
    builder.nested(levels: levels, number: number) { $0.raw(content) }
    if record.isInArray { builder.mapEnd() }
    return Damage.replacing(bytes, subtree, with: builder.bytes)
  }
}
