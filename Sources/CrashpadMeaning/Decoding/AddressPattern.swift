// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The likely origin of an address, judged by its bits.
package struct AddressPattern: Sendable {
  package let row: CodeMeaning
  package let facts: [DecodedFact]

  /// Nil if the address has no known pattern. Without a platform, the patterns of both processors count.
  ///
  /// - Parameters:
  ///   - intended: the address without its upper bits, where the report has it.
  ///   - addressBits: the number of bits of an address of the program: 39 on iOS, 47 elsewhere.
  package init?(
    _ address: UInt64, on platform: CodeMeaning.Platform = .any, intended: UInt64? = nil, addressBits: UInt64 = 47
  ) {
    func row(_ name: String) -> CodeMeaning? { CodeMeaning.addresses.first { $0.name == "address \(name)" } }
    var facts: [DecodedFact] = []
    let found: CodeMeaning?
    let isCanonical = address.isCanonical
    if address < 0x1000 {
      found = row("null")
      facts = [DecodedFact("offset", "\(address) bytes")]
    } else if address >= Self.negative {
      found = row("negative")
      facts = [DecodedFact("value", "\(Int64(bitPattern: address))")]
    } else if Self.repeats(0x55, in: address) {
      found = row("scribble-freed")
    } else if Self.repeats(0xaa, in: address) {
      found = row("scribble-new")
    } else if address & ~0xff == 0xbbad_be00 && address >= 0xbbad_beef {
      found = row("webkit-crash")
    } else if address == 0x4000_0000_0000_bad0 {
      found = row("swift-bad-object")
    } else if let text = Self.text(address) {
      found = row("text")
      facts = [DecodedFact("text", "\"\(text)\"")]
    } else if platform != .x86_64, address >> 56 != 0, address >> 56 < 0x10, address >> 47 & 0x1ff == 0 {
      found = row("tagged")
      facts = [
        DecodedFact("tag", hex(address >> 56)), DecodedFact("address", hex(address & 0xff_ffff_ffff_ffff)),
      ]
    } else if platform != .x86_64, !isCanonical, address >> 48 != 0 {
      // A signature is in the bits above those of an address: a number without any of them was not signed. A check that fails
      // leaves two bits of it; other numbers may be anything, unless the system says what they are.
      let isSigned = intended != nil || address >> 48 & ~0x6060 == 0
      found = row(isSigned ? "signed" : "high bits")
      facts = [
        DecodedFact(
          isSigned ? "address" : "without them", hex(intended ?? address & (1 << addressBits - 1)))
      ]
    } else if isCanonical, address >> 47 != 0, address & ~0xfff != Self.vsyscall {
      found = row("kernel")
    } else if !isCanonical, platform == .x86_64 {
      found = row("non-canonical")
    } else {
      return nil
    }
    guard let found else { return nil }
    self.row = found
    self.facts = facts
  }

  /// The first address that is a small negative number.
  private static let negative: UInt64 = 0xffff_ffff_ffff_f000

  /// The page of code that Linux gives to programs in the kernel's half.
  private static let vsyscall: UInt64 = 0xffff_ffff_ff60_0000

  /// Whether all middle bytes are `byte`. The low bytes may differ, because a field of a scribbled object lies a
  /// little after the pattern, and the high bytes may have lost bits to pointer authentication.
  private static func repeats(_ byte: UInt64, in address: UInt64) -> Bool {
    let pattern = byte &* 0x01_0101_0101
    return address >> 16 & 0xff_ffff_ffff == pattern
  }

  /// An instruction word of arm64 as four printable characters in memory order; nil if it is another.
  static func word(_ word: UInt64) -> String? {
    guard word >> 32 == 0 else { return nil }
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    guard bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) else { return nil }
    return bytes.count { (0x61...0x7a).contains($0 | 0x20) } >= 3 ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// Seven or eight printable characters in memory order. Six characters would match
  /// addresses of Linux programs, 0x5555….
  private static func text(_ address: UInt64) -> String? {
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) }
    while bytes.last == 0 { bytes.removeLast() }
    guard bytes.count >= 7, bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) else { return nil }
    let letters = bytes.count { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) }
    return letters * 4 >= bytes.count * 3 ? String(decoding: bytes, as: UTF8.self) : nil
  }
}
