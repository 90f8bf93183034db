// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
import CrashpadCore
import CrashpadText
import DumpInterpretation
import CrashpadFiles
public import CrashpadSnapshot
import SystemPackage

enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
}

extension UUIDBytes: ExpressibleByArgument {
  public init?(argument: String) { self.init(text: argument) }
  public var defaultValueDescription: String { text }
}

/// Throws if a value is not UTF-8: it is compared with text, or written to documents that are text.
func checkText(_ option: String, _ values: [String]) throws {
  for value in values where !ArgumentText.isUnicode(value) {
    throw ValidationError("\(option) takes text in UTF-8; '\(TextFormat.printable(value))' is not.")
  }
}

/// An annotation, as `NAME=VALUE`.
struct AnnotationArgument: ExpressibleByArgument {
  let name: String
  let value: String

  init?(argument: String) {
    guard let separator = argument.firstIndex(of: "="), separator > argument.startIndex else { return nil }
    // Annotations in dumps are text.
    guard ArgumentText.isUnicode(argument) else { return nil }
    name = ArgumentText.repaired(String(argument[..<separator]))
    value = ArgumentText.repaired(String(argument[argument.index(after: separator)...]))
  }
}

extension DumpInput {
  /// Opens a file, or standard input for `-`.
  static func open(_ argument: String) throws -> DumpInput {
    argument == "-" ? try standardInput() : try DumpInput(FilePath(argument: argument))
  }
}

/// Throws if standard input is named more than once, because it can be read only once.
func checkInputs(_ arguments: [String]) throws {
  if arguments.count(where: { $0 == "-" }) > 1 { throw ValidationError("Standard input, -, can be named only once.") }
}
