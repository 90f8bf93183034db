// SPDX-License-Identifier: Apache-2.0
/// The part of an option that a parser needs to know before it reads a value: its names, and where its value stands.
struct OptionShape {
  enum Kind {
    case flag
    /// One value: `--output PATH`, `--output=PATH`, `-o PATH`, `-oPATH`.
    case option
    /// An option that takes every word up to the next option.
    case optionList
    /// One word.
    case argument(isRequired: Bool)
    /// Several words, or at least one.
    case arguments(isRequired: Bool)
    /// All words from the first one that is no option of the command, with `--` if it stands there.
    case rest
    /// All words after `--`.
    case afterTerminator
  }

  /// With their hyphens, in the order of the help; none for an argument.
  let names: [String]
  /// The names that the option had in earlier versions. They are accepted, but not shown: scripts may have them.
  let formerNames: [String]
  /// The name of the value in the help; empty for a flag.
  let valueName: String
  let kind: Kind
  /// The value of an option whose own value may be missing.
  var bare: Bare?

  /// A word after the option that it does not accept is not its value.
  struct Bare {
    let value: String
    let accepts: (String) -> Bool
  }

  /// - Parameter spelling: the option as the help has it: `-o, --output <path>`, `--quiet` or `<dumps>`. Former names stand
  ///   behind the word "formerly": `--max-input-size <size>, formerly --pipe-limit`.
  init(_ spelling: StaticString, _ kind: Kind, bare: Bare? = nil) {
    var names: [String] = []
    var formerNames: [String] = []
    var isFormer = false
    var valueName = ""
    for word in spelling.description.utf8.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") })
    {
      switch word.first {
      case UInt8(ascii: "<"): valueName = String(Substring(word.dropFirst().dropLast()))
      case UInt8(ascii: "-"):
        if isFormer { formerNames.append(String(Substring(word))) } else { names.append(String(Substring(word))) }
      default: isFormer = true
      }
    }
    self.init(names: names, formerNames: formerNames, valueName: valueName, kind, bare: bare)
  }

  init(names: [String], formerNames: [String] = [], valueName: String = "", _ kind: Kind, bare: Bare? = nil) {
    self.names = names
    self.formerNames = formerNames
    self.valueName = valueName
    self.kind = kind
    self.bare = bare
  }
}
