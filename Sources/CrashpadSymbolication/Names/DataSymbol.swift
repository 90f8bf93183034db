// SPDX-License-Identifier: Apache-2.0

/// A variable, constant or table of a program, such as that of the virtual functions of a class.
package struct DataSymbol: Sendable, Hashable {
  /// The name in the symbols.
  package let symbol: String
  /// The demangled name; the same as `symbol` if that is not mangled, or demangling is off.
  package internal(set) var name: String
  /// Its start, relative to the module.
  package let start: UInt64
  /// Whether the address is behind the start of a symbol whose size is not known, so that it may be in other data.
  package let isNearest: Bool

  init(_ symbol: String, start: UInt64, isNearest: Bool) {
    (self.symbol, name, self.start, self.isNearest) = (symbol, symbol, start, isNearest)
  }

  /// The same with another name.
  package func named(_ name: String) -> DataSymbol {
    var copy = self
    copy.name = name
    return copy
  }
}
