public import ArgumentParser
import CrashpadCore
import DumpInterpretation
import FileSystem
public import Snapshot
import SystemPackage

enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
  case text
  case json
}

enum ArchitectureArgument: String, ExpressibleByArgument, CaseIterable {
  case arm64
  case x86_64
  case guess

  /// The architecture that was named; nil for a guess.
  var architecture: CPUArchitecture? { CPUArchitecture(rawValue: rawValue) }
}

extension UUIDBytes: ExpressibleByArgument {
  public init?(argument: String) { self.init(text: argument) }
  public var defaultValueDescription: String { text }
}

/// `NAME=VALUE`
struct AnnotationArgument: ExpressibleByArgument {
  let name: String
  let value: String

  init?(argument: String) {
    guard let separator = argument.firstIndex(of: "="), separator > argument.startIndex else { return nil }
    // Dumps have text in their annotations.
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

/// The name of an input in messages.
func displayName(_ argument: String) -> String {
  argument == "-" ? "<standard input>" : Wording.printable(argument)
}

/// Standard input can be read once.
func checkInputs(_ arguments: [String]) throws {
  if arguments.count(where: { $0 == "-" }) > 1 { throw ValidationError("Standard input, -, can be named only once.") }
}

enum ArchitectureHelp {
  static let text: ArgumentHelp =
    "Architecture of the registers; guess infers it from the system information."
}
