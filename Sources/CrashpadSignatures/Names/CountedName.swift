// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Names that the compilers of OCaml and Nim end with a number, which they count up for each definition of the module: each edit
/// changes it.
enum CountedName {
  /// The name of a function of OCaml without its number; nil of other names.
  static func normalized(_ name: NameText) -> String? { isOCaml(name) ? withoutCounter(name.text) : nil }

  /// Whether it is a named function of OCaml: `camlStore__work_166`, `camlStore.work_166` from OCaml 5.1 on. The number of one
  /// without a name, `camlStore__fun_667`, is all that tells it from others.
  private static func isOCaml(_ name: NameText) -> Bool {
    guard name.hasPrefix("caml"), let initial = name.bytes.dropFirst(4).first, (0x41...0x5a).contains(initial) else {
      return false
    }
    return (name.contains("__") || name.contains(".")) && !name.contains("__fun_") && !name.contains(".fun_")
  }

  /// The name without the number at its end: "turn__gear" of Nim's "turn__gear_57".
  static func withoutCounter(_ name: String) -> String {
    let digits = name.utf8.reversed().prefix(while: NameText.isDigit).count
    let end = name.utf8.count - digits
    guard digits > 0, end > 1, Array(name.utf8)[end - 1] == UInt8(ascii: "_") else { return name }
    return String(decoding: name.utf8.prefix(end - 1), as: UTF8.self)
  }
}
