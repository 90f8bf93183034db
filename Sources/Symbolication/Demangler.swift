internal import CDemangle
internal import Glibc

/// How names of functions are printed.
package enum NameForm: Sendable {
  /// As the symbols have them.
  case mangled
  /// Demangled, with the types of arguments, modules, contexts and specializations.
  case full
  /// As `full`, but Swift's names as `swift demangle --simplified` prints them: `Store.load(_:)` in place of
  /// `App.Store.load(Swift.String) throws -> [Swift.Int]?`
  case simplified
}

/// Turns the symbols that compilers make back into names as in the source: Swift, C++ and Rust. It caches its answers.
///
/// The demanglers:
///
/// | Language | Demangler | Text is equal to |
/// |---|---|---|
/// | Swift | that of Swift's runtime, which every Swift program has; sugar by ``SwiftSugar`` | `swift demangle` |
/// | C++ | LLVM's, from libc++abi's archive (127 KB; the package has 0.7 MB) | `llvm-cxxfilt` of the same version |
/// | Rust | our own, 645 lines | `rustc-demangle` without hashes |
///
/// The other candidates for C++, on 503,995 names of LLVM, clang, Qt, Ceph, WebKit and Swift's toolchain: libiberty leaves
/// 1,805 mangled that LLVM 19 reads; libstdc++ 12 left 3,514 behind a guard, as it never returns from some damaged names.
/// LLVM leaves 192 that they read: those are libstdc++'s here, if the guard lets it have them. libLLVMDemangle reads the same
/// as libc++abi and Rust too, but its package (llvm-14-dev) has 272 MB and needs as much again.
///
/// CPU time for 100,000 real names: C++ 0.10 s (libstdc++ 0.13), Swift 0.19 s simplified and 0.26 s in full.
///
/// A damaged or hostile name must not cost more than milliseconds, since a few dozen bytes can stand for gigabytes. The C++
/// demangler that `make build` links stops at 1 MiB of memory, after 1 ms. The others are called only if an estimate of the
/// result is below ``maximumEstimate``; of 891,122 Swift names that refuses none.
package struct Demangler: Sendable {
  private let form: NameForm
  private var known: [String: String] = [:]
  /// A program has some thousand functions in its stacks; a caller with more asks for each of them once.
  private static let capacity = 1 << 16

  package init(_ form: NameForm = .full) { self.form = form }

  /// The demangled name, or `symbol` itself if it is not mangled, damaged, or over a limit.
  package mutating func name(_ symbol: String) -> String {
    guard form != .mangled, Self.mayBeMangled(symbol) else { return symbol }
    if let name = known[symbol] { return name }
    let name = Self.demangle(symbol, form) ?? symbol
    if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
    known[symbol] = name
    return name
  }

  /// Symbols longer than this, in bytes, are left mangled: a demangler needs up to 400 bytes of stack for each byte. The
  /// longest of 1,400,000 in LLVM, Qt, Ceph, rustc and Swift's toolchain has 1,897.
  package static let maximumLength = 4096
  /// Names that might become longer than this, in bytes, are left mangled by the demanglers that have no limit of their own.
  static let maximumEstimate = 1 << 24

  /// The demangled name; nil if `symbol` is not mangled, damaged, or over a limit.
  ///
  /// Suffixes of optimizers stay, in C++ as `(.cold)`. Hashes in Rust's names are removed. Objective-C's names are not mangled.
  package static func demangle(_ symbol: String, _ form: NameForm = .full) -> String? {
    guard form != .mangled, mayBeMangled(symbol), symbol.utf8.count <= maximumLength else { return nil }
    var bytes = Array(symbol.utf8)
    guard !bytes.contains(0) else { return nil }
    // LLVM's outlined functions have C names, with an underscore in Mach-O files and their DWARF.
    if bytes.starts(with: "_OUTLINED_FUNCTION_".utf8) { return String(symbol.dropFirst()) }
    if isSwift(bytes) { return swift(bytes, form) }
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

  private static func swift(_ bytes: [UInt8], _ form: NameForm) -> String? {
    var bytes = bytes
    if bytes[0] == UInt8(ascii: "_"), bytes.starts(with: "__T".utf8) || bytes.starts(with: "_@".utf8) {
      bytes.removeFirst()
    }
    return SwiftEstimate.size(of: bytes) <= maximumEstimate ? runtimeName(bytes, form) : nil
  }

  private static func runtimeName(_ bytes: [UInt8], _ form: NameForm) -> String? {
    let name = unsafe text(of: bytes) {
      form == .simplified
        ? unsafe _swift_backtrace_demangle($0, bytes.count, nil, nil)
        : unsafe swift_demangle($0, bytes.count, nil, nil, 0)
    }
    // A name that the runtime can't demangle comes back as it was.
    guard let name, !name.utf8.elementsEqual(bytes) else { return nil }
    return form == .simplified ? name : SwiftSugar.applied(to: name)
  }

  // MARK: C++

  private static func cxx(_ bytes: [UInt8]) -> String? {
    guard let block = blockSuffix(bytes) else { return function(bytes) }
    // As LLVM has it.
    return function(Array(bytes.prefix(block))).map { "invocation function for block in \($0)" }
  }

  private static func function(_ bytes: [UInt8]) -> String? {
    let isBounded = crashpadctl_cxx_demangler() == CRASHPADCTL_CXX_LINKED
    let isShort = SubstitutionEstimate.cxx(bytes) <= maximumEstimate
    if isBounded || isShort, let name = unsafe text(of: bytes, { unsafe crashpadctl_demangle_cxx($0) }) { return name }
    // LLVM 19 can't read GCC's `srSt7is_sameIT_iE5value` without the N of newer ones, nor transaction clones.
    guard isShort, !mayLoop(bytes) else { return nil }
    return unsafe text(of: bytes) { unsafe crashpadctl_demangle_libstdcxx($0) }
  }

  /// libstdc++ 12 never returns from some names with `sr`, which says in an expression what a name is looked up in:
  /// `_ZSfIXsrU`, `_Z1fIXsr1aIT_E1bUs`. Of 600,000 damaged names with only substitutions and template parameters behind it,
  /// none kept it.
  private static func mayLoop(_ bytes: [UInt8]) -> Bool {
    bytes.indices.dropLast(2).contains { index in
      bytes[index] == UInt8(ascii: "s") && bytes[index + 1] == UInt8(ascii: "r")
        && bytes[index + 2] != UInt8(ascii: "S") && bytes[index + 2] != UInt8(ascii: "T")
    } || bytes.suffix(2).elementsEqual("sr".utf8)
  }

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
