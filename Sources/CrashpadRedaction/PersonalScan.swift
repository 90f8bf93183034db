// SPDX-License-Identifier: Apache-2.0
/// A text to search, and what is known about it.
struct PersonalScan {
  var text: [UInt16]
  let place: TextPlace
  /// The UUIDs of images, which symbols are found by, in lowercase.
  let imageIDs: Set<[UInt16]>
}

/// The role of a text, as far as the search depends on it.
enum TextPlace {
  case free
  /// The name of a function: `Cart.local` is no host there, and `login:` is a part of a selector.
  case symbol
  /// A version has the form of an IP address.
  case version
}

/// Properties of a text, found by one pass, so that most searches can be left out.
struct TextTraits: OptionSet {
  let rawValue: UInt16

  static let digit = TextTraits(rawValue: 1)
  static let at = TextTraits(rawValue: 2)
  static let hyphen = TextTraits(rawValue: 4)
  static let slash = TextTraits(rawValue: 8)
  static let period = TextTraits(rawValue: 16)
  /// At least 11 digits.
  static let longNumber = TextTraits(rawValue: 32)
  /// A separator of a word and its value: an equals sign, a colon, a blank before a digit.
  static let pair = TextTraits(rawValue: 64)
  static let colon = TextTraits(rawValue: 128)
  static let blank = TextTraits(rawValue: 256)
  /// A character that is not ASCII.
  static let foreign = TextTraits(rawValue: 512)

  init(rawValue: UInt16) { self.rawValue = rawValue }

  init(_ text: [UInt16]) {
    var traits: TextTraits = []
    var digits = 0
    for unit in text {
      switch unit {
      case 0x30...0x39: digits += 1
      case 0x40: traits.insert(.at)
      case 0x2d: traits.insert(.hyphen)
      case 0x2f: traits.insert(.slash)
      // Either may be encoded.
      case 0x25: traits.formUnion([.slash, .pair])
      case 0x2e: traits.insert(.period)
      case 0x3d: traits.insert(.pair)
      case 0x20: traits.formUnion([.pair, .blank])
      case 0x3a: traits.formUnion([.pair, .colon])
      case 0x80...: traits.insert(.foreign)
      default: break
      }
    }
    if digits > 0 { traits.insert(.digit) }
    if digits >= 11 { traits.insert(.longNumber) }
    self = traits
  }
}
