import ArgumentParser
import CrashpadSymbolication

/// The options for the names of functions.
struct NameOptions: ParsableArguments {
  @Flag(
    name: .customLong("full-names"),
    help: "Print Swift's names with types, modules and specializations; text has their short form otherwise.")
  var fullNames = false

  @Flag(name: .customLong("no-demangle"), help: "Print the names mangled, as the symbols have them.")
  var noDemangle = false

  func validate() throws {
    if fullNames, noDemangle { throw ValidationError("--full-names and --no-demangle exclude each other.") }
  }

  /// The form of names. JSON always has full names, because programs compare them.
  func form(isText: Bool) -> NameForm {
    if noDemangle { return .mangled }
    return isText && !fullNames ? .simplified : .full
  }
}
