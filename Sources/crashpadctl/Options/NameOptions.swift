// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadSymbolication

/// The options for the names of functions.
struct NameOptions: OptionTable {
  var fullNames = false
  var noDemangle = false

  mutating func rows(_ row: inout OptionRows) {
    row.flag(
      &fullNames, "--full-names",
      "Print Swift's names with types, modules and specializations; text has their short form otherwise.")
    row.flag(&noDemangle, "--no-demangle", "Print the names mangled, as the symbols have them.")
  }

  func validate() throws {
    if fullNames, noDemangle { throw ValidationError("--full-names and --no-demangle exclude each other.") }
  }

  /// The form of names. JSON always has full names, because programs compare them.
  func form(isText: Bool) -> NameForm {
    if noDemangle { return .mangled }
    return isText && !fullNames ? .simplified : .full
  }
}
