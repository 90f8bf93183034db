// SPDX-License-Identifier: Apache-2.0
/// Symbol files of the modules of `crash.idump`, in the layouts that people keep them in, and ones that must not be used.
extension Samples {
  private static let exampleID = "9B1AE976E7EF38D22D328799DDFD58520"
  private static let loaderID = "09D8AC97140D614B21AF0C00F43D07870"

  private static func text(_ lines: String...) -> [UInt8] { Array((lines.joined(separator: "\n") + "\n").utf8) }

  static let symbolFiles: [String: [UInt8]] = [
    // The first frame is in two calls that were inlined.
    "symbols/Example/\(exampleID)/Example.sym": text(
      "MODULE iOS arm64 \(exampleID) Example",
      "FILE 0 /src/app/cart.cpp", "FILE 1 /src/app/checkout.cpp", "FILE 2 /src/app/main.cpp",
      "INLINE_ORIGIN 0 Price::operator+=(Price const&)", "INLINE_ORIGIN 1 Cart::total() const",
      "FUNC 8f000 2000 0 main", "8f000 2000 7 2",
      "FUNC a1700 60 0 checkout(Cart&)", "INLINE 0 40 1 1 a1700 60", "INLINE 1 12 0 0 a1708 10",
      "a1700 8 11 0", "a1708 58 88 0",
      "FUNC 90000 10000 0 Store::open(char const*)", "90000 10000 0 1",
      "FUNC f0000 8000 0 Worker::loop()", "f0000 8000 131 1"),
    // Only what a library exports.
    "symbols/dyld.sym": text("MODULE iOS arm64 \(loaderID) dyld", "PUBLIC 1000 0 dyld_start"),

    "another-build/Example.sym": text(
      "MODULE iOS arm64 00112233445566778899AABBCCDDEEFF0 Example", "FUNC 0 320000 0 wrong"),
    "no-id/Example.sym": text("MODULE iOS arm64 000000 Example", "FUNC 0 320000 0 wrong"),
    "no-symbols/Example.sym": text("This is no symbol file."),
    "damaged/Example.sym": text(
      "MODULE iOS arm64 \(exampleID) Example", "FUNC xyz 60 0 lost", "FUNC a1700 60 0 kept\u{1b}[31m(int)",
      "a1700 60 3 9"),
    "mangled/Example.sym": text("MODULE iOS arm64 \(exampleID) Example", "FUNC a1700 60 0 _ZN4Cart3addERK4Item"),

    // Each function was called by itself, until the stack's memory ends.
    "recursion/Example.sym": text(
      "MODULE iOS arm64 \(exampleID) Example", "FILE 0 /src/app/tree.cpp", "FUNC 0 320000 0 Tree::visit(Node*)",
      "0 320000 21 0", "STACK CFI INIT 0 320000 .cfa: sp 16 + .ra: .cfa 8 - ^ 0 * 4303075836 +"),
    // A function that the kernel was to return to, and one that calls nothing.
    "endless/Example.sym": text(
      "MODULE iOS arm64 \(exampleID) Example", "FUNC 0 320000 0 spin",
      "STACK CFI INIT 0 320000 .cfa: sp .ra: 4303075836"),
  ]
}
