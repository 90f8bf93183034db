// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// `ExportLogsServiceRequest` of the OpenTelemetry protocol in its JSON form, with the events `app.crash` and `session.end`.
///
/// The conventions want the attributes of the app that crashed on the event: the resource is the program that reports it.
enum OpenTelemetryMapping {
  static func value(_ event: CrashEvent, _ reporter: CrashEvent.Reporter) -> EventValue {
    var records = [
      record("app.crash", severity: (21, "FATAL"), crash(event) + app(event) + process(event), event)
    ]
    if let end = event.sessionEnd {
      let duration = end.duration.map {
        EventMember("crashpadctl.session.duration", .object([EventMember("doubleValue", .thousandths($0))]))
      }
      let members = [text("session.id", event.session), duration]
      records.append(record("session.end", severity: (9, "INFO"), members + app(event), event))
    }
    let resource = attributes([text("service.name", reporter.name), text("service.version", reporter.version)])
    let scope = EventValue.members([EventMember("name", reporter.name), EventMember("version", reporter.version)])
    let logs = EventValue.members([EventMember("scope", scope), EventMember("logRecords", .array(records))])
    return .members([
      EventMember(
        "resourceLogs",
        .array([
          .members([
            EventMember("resource", .members([EventMember("attributes", resource)])),
            EventMember("scopeLogs", .array([logs])),
          ])
        ]))
    ])
  }

  private static func record(
    _ name: String, severity: (number: Int64, text: String), _ members: [EventMember?], _ event: CrashEvent
  ) -> EventValue {
    .members([
      // 64-bit numbers are strings in the JSON form.
      EventMember("timeUnixNano", String(EventTime.nanoseconds(milliseconds: event.time))),
      EventMember("severityNumber", severity.number), EventMember("severityText", severity.text),
      EventMember("eventName", name), EventMember("attributes", attributes(members)),
    ])
  }

  private static func attributes(_ members: [EventMember?]) -> EventValue {
    .array(
      members.compactMap { member in
        member.map { .members([EventMember("key", $0.name), EventMember("value", $0.value)]) }
      })
  }

  private static func text(_ name: String, _ text: String?) -> EventMember? {
    text.map { EventMember(name, .object([EventMember("stringValue", .text($0))])) }
  }

  private static func integer(_ name: String, _ value: (some BinaryInteger)?) -> EventMember? {
    value.map { EventMember(name, .object([EventMember("intValue", .text(String($0)))])) }
  }

  // MARK: Attributes

  private static func crash(_ event: CrashEvent) -> [EventMember?] {
    let exception = event.exception
    let isSignal = exception.kind == .signal
    let message =
      isSignal ? [exception.title, exception.message].compactMap(\.self).joined(separator: ": ") : exception.reason
    return [
      text("app.crash.id", event.id.text),
      text("exception.type", exception.type),
      text("exception.message", message),
      text("exception.stacktrace", event.frames.isEmpty ? nil : StackForm.trace(event.frames)),
      text("session.id", event.session), text("crashpadctl.signature.id", event.signature?.id),
      text("crashpadctl.signature.text", event.signature?.text),
    ]
  }

  private static func app(_ event: CrashEvent) -> [EventMember?] {
    [
      text("service.name", event.appName), text("service.version", event.appVersion),
      text("app.build_id", event.buildID),
      text("app.installation.id", event.identity == .client ? event.distinctID : nil),
      text("user.id", event.identity == .annotation ? event.distinctID : nil),
      text("deployment.environment.name", event.environment), text("os.name", event.os),
      text("os.type", osType(event.operatingSystem)), text("os.version", event.osVersion),
      text("os.build_id", event.osBuild), text("device.model.identifier", event.model),
      text("device.manufacturer", event.manufacturer), text("host.arch", architecture(event.architecture)),
    ]
  }

  private static func process(_ event: CrashEvent) -> [EventMember?] {
    [
      integer("process.pid", event.processID), text("process.executable.path", event.executable),
      // Attributes hold signed numbers.
      integer("thread.id", event.threadID.flatMap { Int64(exactly: $0) }), text("thread.name", event.threadName),
    ]
  }

  private static func osType(_ system: OperatingSystem) -> String? {
    switch system {
    case .ios, .macos: "darwin"
    case .linux, .android: "linux"
    case .windows: "windows"
    case .fuchsia, .unknown: nil
    }
  }

  private static func architecture(_ architecture: CPUArchitecture) -> String? {
    switch architecture {
    case .arm64: "arm64"
    case .x86_64: "amd64"
    case .x86: "x86"
    case .arm: "arm32"
    case .ppc64: "ppc64"
    case .riscv64, .loongarch64, .mips, .mips64, .unknown: nil
    }
  }
}
