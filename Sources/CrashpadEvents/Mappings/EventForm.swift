// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The output of a run: one of the forms, or one with changes.
package enum EventForm: Sendable {
  case mapping(EventMapping)
  case file(MappingFile)

  /// The lines of one dump, each with its line feed.
  package func lines(_ event: CrashEvent, _ reporter: CrashEvent.Reporter) -> [[UInt8]] {
    switch self {
    case .mapping(let mapping): mapping.values(event, reporter).map(\.line)
    case .file(let file): file.values(event, reporter).map(\.line)
    }
  }
}
