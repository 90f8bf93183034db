// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadDemangle
internal import Glibc

/// The form in which names of functions are printed.
package enum NameForm: Sendable {
  /// As in the symbols.
  case mangled
  /// Demangled, with the types of arguments, modules, contexts and specializations.
  case full
  /// Like `full`, but Swift names as `swift demangle --simplified` prints them: `Store.load(_:)` instead of
  /// `App.Store.load(Swift.String) throws -> [Swift.Int]?`
  case simplified
}

/// Converts symbols to the names in the source: Swift, C++ and Rust. Caches the results.
///
/// The demanglers:
///
/// | Language | Demangler | Same output as |
/// |---|---|---|
/// | Swift | that of Swift's runtime, which every Swift program has; sugar by ``SwiftSugar`` | `swift demangle` |
/// | C++ | LLVM's, from libc++abi's archive (127 KB; the package has 0.7 MB) | `llvm-cxxfilt` of the same version |
/// | Rust | our own, 645 lines | `rustc-demangle` without hashes |
///
/// Alternatives for C++, tested with 503,995 names of LLVM, clang, Qt, Ceph, WebKit and Swift's toolchain: libiberty
/// fails for 1,805 names that LLVM 19 demangles. libstdc++ 12 fails for 3,514, which a guard withholds because it never
/// returns from some damaged names. LLVM fails for 192 names that those two demangle: here they are passed to libstdc++
/// if the guard permits. libLLVMDemangle is equivalent to libc++abi and also supports Rust, but its package
/// (llvm-14-dev) has 272 MB and depends on as much again.
///
/// CPU time for 100,000 real names: C++ 0.10 s (libstdc++ 0.13), Swift 0.19 s simplified and 0.26 s in full.
///
/// A damaged or hostile name must not take more than milliseconds, although a few dozen bytes can represent gigabytes.
/// The C++ demangler that `make build` links stops at 1 MiB of memory, after 1 ms. The others are called only if the
/// estimated size of the result is at most ``maximumEstimate``; none of 891,122 Swift names exceeds it.
package struct Demangler: Sendable {
  private let form: NameForm
  private var known: [String: String] = [:]
  /// The stacks of a program have some thousand functions; a caller with more names requests each of them once.
  private static let capacity = 1 << 16

  /// The end of the name of a stub through which a program calls another file's function, as other tools print it.
  static let stubSuffix = "@plt"

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

  /// Longer symbols, in bytes, are left mangled: a demangler needs up to 400 bytes of stack per byte. The longest of
  /// 1,400,000 symbols in LLVM, Qt, Ceph, rustc and Swift's toolchain has 1,897 bytes.
  package static let maximumLength = 4096
  /// Names whose estimated length in bytes is larger are left mangled by the demanglers without their own limit.
  static let maximumEstimate = 1 << 24

  /// Returns the demangled name; nil if `symbol` is not mangled, damaged, or over a limit.
  ///
  /// Suffixes of optimizers are kept, in C++ as `(.cold)`. Hashes in Rust names are removed. Objective-C names are not
  /// mangled.
  package static func demangle(_ symbol: String, _ form: NameForm = .full) -> String? {
    guard form != .mangled, mayBeMangled(symbol), symbol.utf8.count <= maximumLength else { return nil }
    if symbol.hasSuffix(stubSuffix) {
      return demangle(String(symbol.dropLast(stubSuffix.count)), form).map { $0 + stubSuffix }
    }
    var bytes = Array(symbol.utf8)
    guard !bytes.contains(0) else { return nil }
    // LLVM's outlined functions have C names, with an additional underscore in Mach-O files and their DWARF.
    if bytes.starts(with: "_OUTLINED_FUNCTION_".utf8) { return String(symbol.dropFirst()) }
    if isSwift(bytes) { return swift(bytes, form) }
    // Mach-O files put an underscore before every C name, and blocks are named after their function.
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

  private static let swiftPrefixes = SwiftEstimate.prefixes + ["__T0", "_@__swiftmacro_"].map { Array($0.utf8) }

  private static func isSwift(_ bytes: [UInt8]) -> Bool {
    // The first two bytes decide for nearly all names.
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
    // The runtime returns a name that it can't demangle unchanged.
    guard let name, !name.utf8.elementsEqual(bytes) else { return nil }
    return form == .simplified ? name : SwiftSugar.applied(to: name)
  }

  // MARK: C++

  private static func cxx(_ bytes: [UInt8]) -> String? {
    guard let block = blockSuffix(bytes) else { return function(bytes) }
    // The wording of LLVM.
    return function(Array(bytes.prefix(block))).map { "invocation function for block in \($0)" }
  }

  private static func function(_ bytes: [UInt8]) -> String? {
    let isBounded = crashpadctl_cxx_demangler() == CRASHPADCTL_CXX_LINKED
    let isShort = SubstitutionEstimate.cxx(bytes) <= maximumEstimate
    if isBounded || isShort, let name = unsafe text(of: bytes, { unsafe crashpadctl_demangle_cxx($0) }) { return name }
    // LLVM 19 supports neither GCC's `srSt7is_sameIT_iE5value` without the N of newer versions, nor transaction clones.
    guard isShort, !mayLoop(bytes) else { return nil }
    return unsafe text(of: bytes) { unsafe crashpadctl_demangle_libstdcxx($0) }
  }

  /// Whether libstdc++ 12 may never return: it loops for some names with `sr`, which introduces a name's scope in an
  /// expression: `_ZSfIXsrU`, `_Z1fIXsr1aIT_E1bUs`. With only substitutions and template parameters after `sr`, none of
  /// 600,000 damaged names made it loop.
  private static func mayLoop(_ bytes: [UInt8]) -> Bool {
    bytes.indices.dropLast(2).contains { index in
      bytes[index] == UInt8(ascii: "s") && bytes[index + 1] == UInt8(ascii: "r")
        && bytes[index + 2] != UInt8(ascii: "S") && bytes[index + 2] != UInt8(ascii: "T")
    } || bytes.suffix(2).elementsEqual("sr".utf8)
  }

  /// The start of the suffix `_block_invoke`, optionally followed by a number.
  private static func blockSuffix(_ bytes: [UInt8]) -> Int? {
    let suffix = Array("_block_invoke".utf8)
    var end = bytes.count
    while end > 0, bytes[end - 1] >= UInt8(ascii: "0"), bytes[end - 1] <= UInt8(ascii: "9") { end -= 1 }
    if end < bytes.count, end > 0, [UInt8(ascii: "_"), UInt8(ascii: ".")].contains(bytes[end - 1]) { end -= 1 }
    guard end > suffix.count, bytes[..<end].suffix(suffix.count).elementsEqual(suffix) else { return nil }
    return end - suffix.count
  }

  /// The result of `demangle` for the bytes, passed with a terminating zero.
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
