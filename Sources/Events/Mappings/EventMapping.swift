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

  /// Where an event's name stands; nil of the forms that have no names to choose.
  var namePointer: [String]? {
    switch self {
    case .seed, .sensors: ["event"]
    case .ecs: ["event", "action"]
    case .otel, .sentrySession: nil
    }
  }
}

/// What a run writes: one of the forms, or one with changes.
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
    let days = time / 86_400_000
    let rest = time % 86_400_000
    // Eras of 400 years that begin in March, as the leap day is their last.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let civilMonth = month < 10 ? month + 3 : month - 9
    let year = yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0)
    let clock = [(rest / 3_600_000), (rest / 60_000 % 60), (rest / 1000 % 60)].map { padded($0, 2) }
    return
      "\(padded(year, 4))-\(padded(civilMonth, 2))-\(padded(day, 2))T\(clock.joined(separator: ":")).\(padded(rest % 1000, 3))Z"
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  static func nanoseconds(milliseconds: Int64) -> Int64 {
    let (product, overflow) = max(0, milliseconds).multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .max : product
  }
}
