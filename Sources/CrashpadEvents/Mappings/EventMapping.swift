// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The forms in which events are written. Each is a list of JSON values, one a line.
package enum EventMapping: String, Sendable, CaseIterable {
  /// `$AppCrashed` and `$AppEnd` of a small analytics SDK, with the properties that every event of an app has.
  case seed
  /// The events of Sensors Analytics' SDK for iOS.
  case sensors
  /// A request of OpenTelemetry's protocol for logs, as JSON.
  case otel
  /// Documents of the Elastic Common Schema.
  case ecs
  /// Envelopes with an update of a session, for Sentry's release health: three lines each.
  case sentrySession = "sentry-session"

  package func values(_ event: CrashEvent, _ reporter: CrashEvent.Reporter) -> [EventValue] {
    switch self {
    case .seed: SeedMapping.values(event, reporter)
    case .sensors: SensorsMapping.values(event, reporter)
    case .otel: [OpenTelemetryMapping.value(event, reporter)]
    case .ecs: ElasticMapping.values(event)
    case .sentrySession: SentryMapping.values(event)
    }
  }

  /// The path of an event's name; nil for the forms that have no names to choose.
  var namePointer: [String]? {
    switch self {
    case .seed, .sensors: ["event"]
    case .ecs: ["event", "action"]
    case .otel, .sentrySession: nil
    }
  }
}

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

/// Times as the forms want them.
enum EventTime {
  /// "2026-03-14T14:09:26.500Z"; years that have no four digits give the nearest that has.
  static func rfc3339(milliseconds: Int64) -> String {
    let time = min(max(milliseconds, 0), 253_402_300_799_999)
    let rest = Int(time % 86_400_000)
    let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { decimal($0, width: 2) }
    let day = CivilDate(daysSince1970: Int(time / 86_400_000)).text
    return "\(day)T\(clock.joined(separator: ":")).\(decimal(rest % 1000, width: 3))Z"
  }

  static func nanoseconds(milliseconds: Int64) -> Int64 {
    let (product, overflow) = max(0, milliseconds).multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .max : product
  }
}
