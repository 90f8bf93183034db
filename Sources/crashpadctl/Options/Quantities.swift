// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadBytes
import CrashpadText
import Glibc

/// An option's value with a unit.
protocol QuantityArgument: ExpressibleByArgument, CustomStringConvertible, Sendable, Equatable {
  /// Throws `BadQuantity`.
  init(_ text: String, unit: QuantityUnit) throws(BadQuantity)
}

extension QuantityArgument {
  init?(argument: String) {
    guard let quantity = try? Self(argument, unit: .optional) else { return nil }
    self = quantity
  }
}

/// A duration: a number with a unit (`90d`, `1.5h`, `500ms`), several of them (`1d12h`), or a number of seconds.
struct DurationArgument: QuantityArgument {
  /// The duration in seconds, rounded down.
  var seconds: Int64 { milliseconds / 1000 }
  let milliseconds: Int64

  init(milliseconds: Int64) { self.milliseconds = milliseconds }

  init(seconds: Int64) { self.init(milliseconds: seconds * 1000) }

  init(_ text: String, unit: QuantityUnit) throws(BadQuantity) {
    let amounts = try Quantity.amounts(text, Self.units, unit, example: "1.5h")
    guard let milliseconds = Quantity.sum(amounts, bare: 1000), milliseconds <= Double(Int64.max / 2) else {
      throw .outOfRange
    }
    self.init(milliseconds: Int64(milliseconds))
  }

  /// The units in milliseconds. A month has 30 days, a year 365.
  private static let units: [String: Double] = [
    "ms": 1, "s": 1000, "sec": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000,
    "w": 7 * 86_400_000, "mo": 30 * 86_400_000, "y": 365 * 86_400_000,
  ]

  var description: String { milliseconds % 1000 == 0 ? TextFormat.shortDuration(seconds) : "\(milliseconds)ms" }
}

/// A size: a number with a unit (`512KiB`, `1.5G`), or a number of bytes. `K`, `KiB` and so on are powers of 1024,
/// `KB` and so on powers of 1000, as in GNU tools. Case does not matter.
struct SizeArgument: QuantityArgument {
  let bytes: UInt64

  init(bytes: UInt64) { self.bytes = bytes }

  init(_ text: String, unit: QuantityUnit) throws(BadQuantity) {
    if unit == .optional, let bytes = UInt64(text) {
      self.init(bytes: bytes)
      return
    }
    let amounts = try Quantity.amounts(text.lowercased(), Self.units, unit, example: "1.5GiB")
    guard amounts.count == 1 else { throw .malformed(example: "1.5GiB", units: Quantity.names(Self.units)) }
    guard let bytes = Quantity.sum(amounts, bare: 1), bytes < 0x1p64 else { throw .outOfRange }
    self.init(bytes: UInt64(bytes))
  }

  private static let units: [String: Double] = {
    var units: [String: Double] = ["b": 1]
    for (power, letter) in ["k", "m", "g", "t"].enumerated() {
      units[letter] = pow(1024, Double(power + 1))
      units[letter + "ib"] = pow(1024, Double(power + 1))
      units[letter + "b"] = pow(1000, Double(power + 1))
    }
    return units
  }()

  /// The size in one word, as it may be typed.
  var description: String { TextFormat.size(bytes).filter { $0 != " " } }
}

/// Whether a number may have no unit. Options that delete require one: 90 would mean seconds,
/// but the user probably means days.
enum QuantityUnit {
  case optional
  case required
}

enum BadQuantity: Error, CustomStringConvertible {
  /// `suggestions` are quantities that the user may have meant.
  case unitMissing(suggestions: [String])
  case malformed(example: String, units: String)
  case outOfRange

  var description: String {
    switch self {
    case .unitMissing(let suggestions): "A unit is missing: type \(suggestions.joined(separator: " or "))."
    case .malformed(let example, let units): "Type a number with a unit, as in \(example); the units are \(units)."
    case .outOfRange: "The value is too large."
    }
  }
}

/// `none`, or a quantity with its unit, for options that delete.
struct LimitArgument<Bound: Sendable & CustomStringConvertible>: Sendable, CustomStringConvertible {
  /// Nil for no limit.
  let bound: Bound?

  init(_ bound: Bound?) { self.bound = bound }

  var description: String { bound?.description ?? "none" }
}

extension LimitArgument where Bound: QuantityArgument {
  /// Throws `BadQuantity`.
  @Sendable static func parse(_ text: String) throws -> Self {
    text == "none" ? Self(nil) : Self(try Bound(text, unit: .required))
  }
}

extension LimitArgument: ExpressibleByArgument where Bound: ExpressibleByArgument {
  init?(argument: String) {
    if argument == "none" {
      self.init(nil)
    } else if let bound = Bound(argument: argument) {
      self.init(bound)
    } else {
      return nil
    }
  }
}

private enum Quantity {
  /// The numbers in `text` with their units; the unit is nil for a number that stands alone.
  static func amounts(
    _ text: String, _ units: [String: Double], _ unit: QuantityUnit, example: String
  ) throws(BadQuantity) -> [(number: Double, unit: Double?)] {
    let malformed = BadQuantity.malformed(example: example, units: names(units))
    var amounts: [(number: Double, unit: Double?)] = []
    var rest = text[...]
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
      rest = rest.dropFirst(digits.count)
      let name = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(name.count)
      guard digits.first?.isNumber == true, digits.last?.isNumber == true, let number = Double(digits) else {
        throw malformed
      }
      if name.isEmpty {
        guard amounts.isEmpty, rest.isEmpty else { throw malformed }
        // Zero needs no unit.
        guard unit == .optional || number == 0 else { throw .unitMissing(suggestions: suggestions(text, units)) }
        return [(number, nil)]
      }
      guard let factor = units[String(name)] else { throw malformed }
      amounts.append((number, factor))
    }
    guard !amounts.isEmpty else { throw malformed }
    return amounts
  }

  /// The sum; nil if it is not a finite number.
  static func sum(_ amounts: [(number: Double, unit: Double?)], bare: Double) -> Double? {
    let sum = amounts.reduce(0) { $0 + $1.number * ($1.unit ?? bare) }
    return sum.isFinite ? sum : nil
  }

  private static func suggestions(_ number: String, _ units: [String: Double]) -> [String] {
    units["d"] != nil ? ["\(number)d for days", "\(number)h for hours"] : ["\(number)MiB", "\(number)GiB"]
  }

  /// The names of the units, such as "ms, s, m, h, d, w, mo and y".
  static func names(_ units: [String: Double]) -> String {
    units["d"] != nil ? "ms, s, m, h, d, w, mo and y" : "B, KiB, MiB, GiB and TiB"
  }
}
