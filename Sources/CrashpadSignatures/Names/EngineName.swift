// SPDX-License-Identifier: Apache-2.0
/// Names that compilers of engines make of names in the source.
enum EngineName {
  static func normalized(_ name: NameText) -> String? {
    if name.hasPrefix("kfun:") { return kotlin(name) }
    if name.hasPrefix("Precompiled_") { return dart(name) }
    return nil
  }

  /// `kfun:com.shop.Cart#total(kotlin.Int){}kotlin.Int` is com.shop.Cart.total(kotlin.Int).
  private static func kotlin(_ name: NameText) -> String {
    var name = name
    _ = name.drop(prefix: "kfun:")
    if let brace = name.bytes.firstIndex(of: UInt8(ascii: "{")) { name.bytes.removeSubrange(brace...) }
    while name.drop(suffix: "()") {}
    return NameText(name.bytes.map { $0 == UInt8(ascii: "#") ? UInt8(ascii: ".") : $0 }).text
  }

  /// `Precompiled_Api_fetch_1234`: the number is another in each build.
  private static func dart(_ name: NameText) -> String {
    var name = name
    let digits = name.bytes.reversed().prefix(while: NameText.isDigit).count
    let rest = name.bytes.count - digits
    if digits > 0, rest > 13, name.bytes[rest - 1] == UInt8(ascii: "_") { name.bytes.removeSubrange((rest - 1)...) }
    return name.text
  }
}
