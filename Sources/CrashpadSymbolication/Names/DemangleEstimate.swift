// SPDX-License-Identifier: Apache-2.0
/// Estimates an upper bound for the length of a demangled name, without demangling it.
///
/// Names refer back to their own parts by number, in the order in which the parts were complete. A part therefore
/// contains only references that precede the first reference to it or to a part with a higher number, which limits how
/// often sizes can double.
struct SubstitutionEstimate {
  /// The maximum size of each numbered part.
  private var sizes: [Int] = []
  /// The size of all references so far.
  private var size = 0
  private static let limit = 1 << 40

  /// - Parameters:
  ///   - number: the number of the part. Names have fewer parts than bytes, so `byteCount` limits it.
  ///   - count: the number of repetitions here.
  ///   - position: the size of the name before the reference, without references.
  ///   - byteCount: the size of the whole name.
  private mutating func refer(to number: Int, count: Int, at position: Int, _ byteCount: Int) {
    guard number < byteCount else { return }
    if number >= sizes.count {
      // Parts with lower numbers are complete too when this one is referred to.
      let sum = min(Self.limit, position + size)
      sizes += repeatElement(sum, count: number + 1 - sizes.count)
    }
    let (product, overflow) = sizes[number].multipliedReportingOverflow(by: count)
    size = overflow ? Self.limit : min(Self.limit, size + min(Self.limit, product))
  }

  /// Estimates an Itanium name: `S_`, `S0_`, `SZ_` refer to parts; `T_`, `T0_` … refer to template arguments.
  static func cxx(_ bytes: [UInt8]) -> Int {
    var text = SubstitutionEstimate()
    // The same estimate for template parameters: each stands for arguments, which precede the first parameter.
    var parameters = SubstitutionEstimate()
    var parameterCount = 0
    var argumentSize = 0
    var index = 0
    while index < bytes.count {
      let letter = bytes[index]
      index += 1
      guard letter == UInt8(ascii: "S") || letter == UInt8(ascii: "T") else { continue }
      let start = index
      var number = 0
      while index < bytes.count, let digit = digit36(bytes[index]), number < 1 << 20 {
        number = number * 36 + digit
        index += 1
      }
      guard index < bytes.count, bytes[index] == UInt8(ascii: "_") else {
        index = start
        continue
      }
      if letter == UInt8(ascii: "T") {
        if parameterCount == 0 { argumentSize = start + text.size }
        parameterCount += 1
      } else {
        number = index == start ? 0 : number + 1
        text.refer(to: number, count: 1, at: start, bytes.count)
        parameters.refer(to: number, count: 1, at: parameterCount, bytes.count)
      }
    }
    let size = bytes.count + text.size
    let (product, overflow) = argumentSize.multipliedReportingOverflow(by: parameterCount + parameters.size)
    return overflow ? limit : min(limit, size + min(limit, product))
  }

  private static func digit36(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte) - 48
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(byte) - 55
    default: nil
    }
  }
}
