// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadEvents
import CrashpadFiles
import SystemPackage

/// `--mapping`: the name of a built-in mapping, or a file that modifies one.
struct MappingArgument: ExpressibleByArgument, Sendable {
  let text: String

  init(_ mapping: EventMapping) { text = mapping.rawValue }

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    text = argument
  }

  var mapping: EventMapping? { EventMapping(rawValue: text) }
  var defaultValueDescription: String { text }

  static let names = EventMapping.allCases.map(\.rawValue)
}

extension EventForm {
  init(_ argument: MappingArgument) throws {
    if let mapping = argument.mapping {
      self = .mapping(mapping)
      return
    }
    let file = try InputFile(FilePath(argument: argument.text))
    self = .file(try file.withBytes { try MappingFile($0) })
  }
}
