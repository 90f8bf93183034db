// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The events and the envelope of Sensors Analytics' SDK for iOS, 4.9.0.
enum SensorsMapping {
  static func values(_ event: CrashEvent, _ reporter: CrashEvent.Reporter) -> [EventValue] {
    let crash = EventMember("app_crashed_reason", .text(reason(event)))
    var values = [value("AppCrashed", crash, isAutomatic: false, event, reporter)]
    if let end = event.sessionEnd {
      let duration = EventMember("event_duration", thousandths: end.duration)
      values.append(value("$AppEnd", duration, isAutomatic: true, event, reporter))
    }
    return values
  }

  /// An error of a language is written as an NSException is; a signal has its name in front of the stack.
  private static func reason(_ event: CrashEvent) -> String {
    let exception = event.exception
    let stack = StackForm.symbolLines(event.frames).joined(separator: "\n")
    if exception.kind == .signal { return "\(exception.reason) \(stack)" }
    return "Exception Reason:\(exception.reason.isEmpty ? exception.name : exception.reason)\nException Stack:\(stack)"
  }

  private static func value(
    _ name: String, _ property: EventMember?, isAutomatic: Bool, _ event: CrashEvent, _ reporter: CrashEvent.Reporter
  ) -> EventValue {
    let library: [EventMember?] = [
      EventMember("$lib", event.os), EventMember("$lib_version", reporter.version),
      EventMember("$lib_method", isAutomatic ? "autoTrack" : "code"), EventMember("$app_version", event.appVersion),
    ]
    let identities: [EventMember?] = [
      EventMember("$identity_login_id", event.loginID), EventMember("$identity_anonymous_id", event.anonymousID),
    ]
    return .members([
      EventMember("_track_id", trackID(event, name)), EventMember("type", "track"), EventMember("event", name),
      EventMember("time", event.time), EventMember("distinct_id", event.distinctID),
      EventMember("anonymous_id", event.anonymousID), EventMember("login_id", event.loginID),
      EventMember("identities", identities), EventMember("lib", library),
      EventMember("properties", properties(event, reporter) + [property]),
    ])
  }

  private static func properties(_ event: CrashEvent, _ reporter: CrashEvent.Reporter) -> [EventMember?] {
    [
      EventMember("$model", event.model), EventMember("$manufacturer", event.manufacturer),
      EventMember("$os", event.os), EventMember("$os_version", event.osVersion), EventMember("$app_id", event.appID),
      EventMember("$app_name", event.appName), EventMember("$app_version", event.appVersion),
      EventMember("$timezone_offset", event.timeZoneOffset), EventMember("$lib", event.os),
      EventMember("$lib_version", reporter.version),
    ]
  }

  /// The SDK takes a random number of 32 bits; this one is the dump's, so that an event that comes twice can be dropped.
  private static func trackID(_ event: CrashEvent, _ name: String) -> Int64 {
    Int64(event.derivedID(name).high >> 32)
  }
}
