// SPDX-License-Identifier: Apache-2.0
/// `$AppCrashed`, and `$AppEnd` behind it.
enum SeedMapping {
  static func values(_ event: CrashEvent, _ reporter: CrashEvent.Reporter) -> [EventValue] {
    let crash = EventMember("$app_crashed_reason", .text(reason(event)))
    var values = [value("$AppCrashed", properties(event, reporter, crash, nil), event)]
    if let end = event.sessionEnd {
      let duration = EventMember("$event_duration", thousandths: end.duration)
      values.append(value("$AppEnd", properties(event, reporter, nil, duration), event))
    }
    return values
  }

  private static func reason(_ event: CrashEvent) -> String {
    "Exception name: \(event.exception.name)\n Exception reason: \(event.exception.reason)\n Exception stack: "
      + StackForm.printedArray(event.frames)
  }

  private static func properties(
    _ event: CrashEvent, _ reporter: CrashEvent.Reporter, _ crash: EventMember?, _ duration: EventMember?
  ) -> EventValue {
    .members([
      EventMember("$model", event.model), EventMember("$manufacturer", event.manufacturer), crash,
      EventMember("$lib_version", reporter.version), EventMember("$os", event.os),
      EventMember("$app_version", event.appVersion), EventMember("$os_version", event.osVersion),
      EventMember("$lib", event.os), duration,
    ])
  }

  private static func value(_ name: String, _ properties: EventValue, _ event: CrashEvent) -> EventValue {
    .members([
      EventMember("properties", properties), EventMember("event", name), EventMember("time", event.time),
      EventMember("distinct_id", event.distinctID),
    ])
  }
}
