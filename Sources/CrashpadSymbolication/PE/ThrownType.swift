// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadSnapshot

/// The type of the object that a program of Microsoft's C++ compiler threw, from the description that the compiler made of it.
///
/// Source: Microsoft, vcruntime/ehdata.h (ThrowInfo, CatchableTypeArray, CatchableType, TypeDescriptor).
package struct ThrownType {
  /// Up to `count` bytes of the process from an address on; nil if the first one is not known.
  private let read: (_ address: UInt64, _ count: Int) -> [UInt8]?
  private let isWide: Bool
  /// The start of the module, to which the places in 64-bit programs are relative; 0 in 32-bit ones.
  private let base: UInt64

  /// Such as "std::runtime_error", or the compiler's own form of a name that is not plain; nil if the description is not known.
  package static func name(
    _ exception: ExceptionSnapshot, _ architecture: CPUArchitecture,
    _ read: @escaping (_ address: UInt64, _ count: Int) -> [UInt8]?
  ) -> String? {
    let codes = exception.codes
    guard exception.kind == .windows, exception.code == 0xe06d_7363, codes.count >= 3,
      (0x1993_0520...0x1993_0522).contains(codes[0]), codes[2] != 0
    else { return nil }
    let isWide = !architecture.hasNarrowAddresses
    let base = isWide ? codes.count > 3 ? codes[3] : 0 : 0
    if isWide, base == 0 { return nil }
    return ThrownType(read: read, isWide: isWide, base: base).name(at: codes[2])
  }

  private func name(at info: UInt64) -> String? {
    guard let list = place(in: info &+ 12), let count = word(list), (1...64).contains(count),
      // The first type is that of the object, the others are its bases.
      let type = place(in: list &+ 4), let descriptor = place(in: type &+ 4)
    else { return nil }
    let start = descriptor &+ (isWide ? 16 : 8)
    guard let bytes = read(start, 512), let end = bytes.firstIndex(of: 0), bytes.first == UInt8(ascii: "."),
      bytes[..<end].allSatisfy({ (0x21..<0x7f).contains($0) })
    else { return nil }
    return Self.plain(String(decoding: bytes[..<end], as: UTF8.self))
  }

  private func word(_ address: UInt64) -> UInt32? {
    guard let bytes = read(address, 4), bytes.count == 4 else { return nil }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The address that a word of the description has.
  private func place(in address: UInt64) -> UInt64? {
    word(address).flatMap { $0 == 0 ? nil : base &+ UInt64($0) }
  }

  /// ".?AVruntime_error@std@@" is "std::runtime_error". Templates and other names with parts of their own stay as they are.
  static func plain(_ name: String) -> String {
    if let known = builtIn[name] { return known }
    for prefix in [".?AV", ".?AU", ".?AT", ".?AW4"] where name.hasPrefix(prefix) && name.hasSuffix("@@") {
      let parts = name.dropFirst(prefix.count).dropLast(2).split(separator: "@", omittingEmptySubsequences: false)
      guard parts.allSatisfy({ $0.first.map { $0.isLetter || $0 == "_" } ?? false }) else { break }
      return parts.reversed().joined(separator: "::")
    }
    return name
  }

  private static let builtIn = [
    ".H": "int", ".I": "unsigned int", ".J": "long", ".K": "unsigned long", ".D": "char", ".E": "unsigned char",
    ".F": "short", ".G": "unsigned short", ".M": "float", ".N": "double", "._N": "bool", "._J": "long long",
    "._K": "unsigned long long", "._W": "wchar_t", ".PEBD": "const char *", ".PEAD": "char *", ".PBD": "const char *",
    ".PAD": "char *", ".PEB_W": "const wchar_t *", ".PB_W": "const wchar_t *",
  ]
}
