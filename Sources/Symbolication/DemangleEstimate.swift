/// How long a demangled name can become at most, roughly: without demangling it.
///
/// Names refer back to their own parts by number, in the order in which those were complete. So a part holds only references
/// that stand before it is first referred to, or a later one is: that bounds how often they can double.
struct SubstitutionEstimate {
  /// At most so long is the part of each number.
  private var sizes: [Int] = []
  /// Of all references so far.
  private var size = 0
  private static let limit = 1 << 40

  /// - Parameters:
  ///   - number: of the part. Names have fewer parts than bytes, so `byteCount` bounds it.
  ///   - count: how often it is repeated here.
  ///   - position: what the name before the reference amounts to without references.
  ///   - byteCount: of the whole name.
  private mutating func refer(to number: Int, count: Int, at position: Int, _ byteCount: Int) {
    guard number < byteCount else { return }
    if number >= sizes.count {
      // Those with lower numbers are complete too, whenever they are referred to.
      let sum = min(Self.limit, position + size)
      sizes += repeatElement(sum, count: number + 1 - sizes.count)
    }
    let (product, overflow) = sizes[number].multipliedReportingOverflow(by: count)
    size = overflow ? Self.limit : min(Self.limit, size + min(Self.limit, product))
  }

  /// Of an Itanium name: `S_`, `S0_`, `SZ_` refer to parts; `T_` and its kind to template arguments.
  static func cxx(_ bytes: [UInt8]) -> Int {
    var text = SubstitutionEstimate()
    // The same sum of template parameters: each stands for arguments, which come before the first parameter.
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
