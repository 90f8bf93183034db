// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// Documents of the Elastic Common Schema, one for the crash and one for the end of the session.
enum ElasticMapping {
  /// The version of the schema that the fields are from.
  private static let version = "9.0.0"

  static func values(_ event: CrashEvent) -> [EventValue] {
    let labels = EventMember(
      "labels", [EventMember("signature_id", event.signature?.id), EventMember("signature", event.signature?.text)])
    var values = [
      document(
        event, action(event, "app-crash", ["process"], ["end", "error"], event.id.text, nil), [error(event), labels])
    ]
    if let end = event.sessionEnd {
      let duration = end.duration.map { EventTime.nanoseconds(milliseconds: $0) }
      let members = action(event, "session-end", ["session"], ["end"], event.derivedID("session-end").text, duration)
      values.append(document(event, members, []))
    }
    return values
  }

  private static func document(_ event: CrashEvent, _ members: EventMember?, _ more: [EventMember?]) -> EventValue {
    .members(
      [
        EventMember("@timestamp", EventTime.rfc3339(milliseconds: event.time)),
        EventMember("ecs", [EventMember("version", version)]), EventMember("message", event.exception.title),
        members,
      ] + more + [
        process(event), EventMember("host", hosts(event)),
        device(event),
        EventMember(
          "service",
          [
            EventMember("name", event.appName), EventMember("version", event.appVersion),
            EventMember("environment", event.environment),
          ]),
        EventMember("user", [EventMember("id", event.identity == .annotation ? event.distinctID : nil)]),
      ])
  }

  private static func action(
    _ event: CrashEvent, _ name: String, _ categories: [String], _ types: [String], _ id: String, _ duration: Int64?
  ) -> EventMember? {
    EventMember(
      "event",
      [
        EventMember("kind", "event"), EventMember("category", .array(categories.map { .text($0) })),
        EventMember("type", .array(types.map { .text($0) })), EventMember("action", name), EventMember("id", id),
        EventMember("dataset", "crashpadctl.events"), EventMember("duration", duration),
      ])
  }

  private static func error(_ event: CrashEvent) -> EventMember? {
    let exception = event.exception
    let isSignal = exception.kind == .signal
    return EventMember(
      "error",
      [
        EventMember("id", event.id.text), EventMember("type", exception.type),
        EventMember("message", isSignal ? exception.message ?? exception.reason : exception.reason),
        EventMember("code", exception.signal.map { String($0) }),
        EventMember("stack_trace", event.frames.isEmpty ? nil : StackForm.trace(event.frames)),
      ])
  }

  private static func process(_ event: CrashEvent) -> EventMember? {
    EventMember(
      "process",
      [
        EventMember("pid", event.processID.map { Int64($0) }),
        EventMember("name", event.executable.map(lastPathComponent)),
        EventMember("executable", event.executable),
        EventMember("start", event.start.map { EventTime.rfc3339(milliseconds: $0) }),
        EventMember("end", EventTime.rfc3339(milliseconds: event.time)),
        EventMember(
          "thread",
          [
            EventMember("id", event.threadID.flatMap { Int64(exactly: $0) }), EventMember("name", event.threadName),
          ]),
      ])
  }

  private static func hosts(_ event: CrashEvent) -> [EventMember?] {
    [
      EventMember("architecture", event.architecture == .unknown ? nil : event.architecture.rawValue),
      EventMember(
        "os",
        [
          EventMember("type", osType(event.operatingSystem)), EventMember("name", event.os),
          EventMember("version", event.osVersion),
          EventMember("kernel", event.operatingSystem == .linux ? event.osBuild : nil),
        ]),
    ]
  }

  private static func device(_ event: CrashEvent) -> EventMember? {
    EventMember(
      "device",
      [
        EventMember("id", event.identity == .client ? event.distinctID : nil),
        EventMember("model", [EventMember("identifier", event.model)]),
        EventMember("manufacturer", event.manufacturer),
      ])
  }

  private static func osType(_ system: OperatingSystem) -> String? {
    switch system {
    case .ios: "ios"
    case .macos: "macos"
    case .linux: "linux"
    case .android: "android"
    case .windows: "windows"
    case .fuchsia, .unknown: nil
    }
  }
}
