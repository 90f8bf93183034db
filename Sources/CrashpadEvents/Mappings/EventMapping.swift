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
