internal import CDemangle
internal import Glibc

/// Turns the symbols that compilers make back into names that people wrote: Swift, C++ and Rust. It remembers what it was
/// asked, so whoever asks often keeps one.
public struct Demangler: Sendable {
  private var known: [String: String] = [:]
  /// A program has some thousand functions in its stacks; what asks for more goes through them once.
  private static let capacity = 1 << 16

  public init() {}

  /// The name that people wrote, or `symbol` itself if it is not mangled, or not as any of these do.
  public mutating func name(_ symbol: String) -> String {
    guard Self.mayBeMangled(symbol) else { return symbol }
    if let name = known[symbol] { return name }
    let name = Self.demangle(symbol) ?? symbol
    if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
    known[symbol] = name
    return name
  }

  /// Symbols longer than this are left as they are. Compilers shorten theirs before: the longest of 360,000 in LLVM, LLDB and
  /// Swift's libraries has 860 bytes, and a deeper one costs stack.
  public static let maximumLength = 4096
  /// Names that might become longer than this are left as they are: a few dozen bytes can stand for gigabytes, as
  /// substitutions double what they refer to.
  static let maximumEstimate = 1 << 24

  /// The name that people wrote; nil if `symbol` is not mangled, damaged, or too much.
  ///
  /// Suffixes that optimizers add stay, in C++ as `[clone .cold]`. Of Rust's names the hashes go. Objective-C's names are
  /// those that people wrote already.
  public static func demangle(_ symbol: String) -> String? {
    guard mayBeMangled(symbol), symbol.utf8.count <= maximumLength else { return nil }
    var bytes = Array(symbol.utf8)
    guard !bytes.contains(0) else { return nil }
    if isSwift(bytes) { return swift(bytes) }
    // Mach-O files put an underscore before every name of C, and blocks are named after their function.
    let underscores = bytes.prefix { $0 == UInt8(ascii: "_") }.count
    guard underscores >= 1, underscores <= 4, bytes.count > underscores else { return nil }
    bytes.removeFirst(underscores - 1)
    switch bytes[1] {
    case UInt8(ascii: "Z"): return RustLegacySymbol.demangle(bytes) ?? cxx(bytes)
    case UInt8(ascii: "R"): return underscores <= 2 ? RustSymbol.demangle(bytes) : nil
    default: return nil
    }
  }

  private static func mayBeMangled(_ symbol: String) -> Bool {
    switch symbol.utf8.first {
    case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "@"): true
    default: false
    }
  }

  // MARK: Swift

  private static let swiftPrefixes: [[UInt8]] = [
    "$s", "$S", "$e", "_$s", "_$S", "_$e", "_T0", "__T0", "@__swiftmacro_", "_@__swiftmacro_",
  ].map { Array($0.utf8) }

  private static func isSwift(_ bytes: [UInt8]) -> Bool {
    // Nearly all names are told by their first two bytes.
    guard bytes.count > 1 else { return false }
    switch (bytes[0], bytes[1]) {
    case (UInt8(ascii: "_"), UInt8(ascii: "Z")): return false
    case (UInt8(ascii: "$"), UInt8(ascii: "s")): return true
    default: return swiftPrefixes.contains { bytes.starts(with: $0) }
    }
  }

  private static func swift(_ bytes: [UInt8]) -> String? {
    var bytes = bytes
    if bytes[0] == UInt8(ascii: "_"), bytes.starts(with: "__T".utf8) || bytes.starts(with: "_@".utf8) {
      bytes.removeFirst()
    }
    guard SubstitutionEstimate.swift(bytes) <= maximumEstimate else { return nil }
    // What it can't demangle it gives back as it was.
    let name = unsafe text(of: bytes) { unsafe swift_demangle($0, bytes.count, nil, nil, 0) }
    return name.flatMap { $0.utf8.elementsEqual(bytes) ? nil : $0 }
  }

  // MARK: C++

  private static func cxx(_ bytes: [UInt8]) -> String? {
    guard SubstitutionEstimate.cxx(bytes) <= maximumEstimate, !mayLoop(bytes) else { return nil }
    if let block = blockSuffix(bytes) {
      let function = unsafe text(of: Array(bytes.prefix(block))) { unsafe __cxa_demangle($0, nil, nil, nil) }
      // As LLVM has it.
      return function.map { "invocation function for block in \($0)" }
    }
    return unsafe text(of: bytes) { unsafe __cxa_demangle($0, nil, nil, nil) }
  }

  /// libstdc++ 12 never comes back from some expressions in which a name is not resolved, `sr`: `_ZSfIXsrU`, `_ZSfIXsrC`.
  /// Real names have those only in the conditions of templates. Where nothing can begin an expression there is none: neither
  /// `X`, nor a `D` or `A` with what stands behind them in types and bounds, wherever in the name.
  private static func mayLoop(_ bytes: [UInt8]) -> Bool {
    let pairs = bytes.indices.dropLast()
    guard pairs.contains(where: { bytes[$0] == UInt8(ascii: "s") && bytes[$0 + 1] == UInt8(ascii: "r") }) else {
      return false
    }
    return bytes.contains(UInt8(ascii: "X")) || bytes.contains(UInt8(ascii: "Q"))
      || pairs.contains { index in
        switch bytes[index] {
        case UInt8(ascii: "D"): Self.expressionTypes.contains(bytes[index + 1])
        case UInt8(ascii: "A"): !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index + 1])
        default: false
        }
      }
  }

  /// `decltype`, `noexcept`, vectors and what else has an expression behind its `D`.
  private static let expressionTypes = Array("TtOovwBUkKVP_".utf8)

  /// Where `_block_invoke`, perhaps with a number behind it, begins at the end of the name.
  private static func blockSuffix(_ bytes: [UInt8]) -> Int? {
    let suffix = Array("_block_invoke".utf8)
    var end = bytes.count
    while end > 0, bytes[end - 1] >= UInt8(ascii: "0"), bytes[end - 1] <= UInt8(ascii: "9") { end -= 1 }
    if end < bytes.count, end > 0, [UInt8(ascii: "_"), UInt8(ascii: ".")].contains(bytes[end - 1]) { end -= 1 }
    guard end > suffix.count, bytes[..<end].suffix(suffix.count).elementsEqual(suffix) else { return nil }
    return end - suffix.count
  }

  /// What `demangle` makes of the bytes, with a zero behind them.
  private static func text(of bytes: [UInt8], _ demangle: (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?)
    -> String?
  {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      for index in bytes.indices { unsafe buffer[index] = CChar(bitPattern: bytes[index]) }
      unsafe buffer[bytes.count] = 0
      guard let result = unsafe demangle(buffer.baseAddress!) else { return nil }
      defer { unsafe free(result) }
      return unsafe String(cString: result)
    }
  }
}
