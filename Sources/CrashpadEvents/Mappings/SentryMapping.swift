// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// An update of a session that crashed, in an envelope: its head, the item's head, the payload.
///
/// Sentry takes updates of sessions that began at most five days ago, and needs no start of them.
enum SentryMapping {
  static func values(_ event: CrashEvent) -> [EventValue] {
    [.object([]), .members([EventMember("type", "session")]), payload(event)]
  }

  private static func payload(_ event: CrashEvent) -> EventValue {
    let isHang = event.exception.isHang
    let mechanism = event.sessionEnd == nil ? "anr_background" : "anr_foreground"
    let start = event.sessionEnd?.duration.map { event.time - $0 } ?? event.start ?? event.time
    return .members([
      EventMember("sid", sessionID(event)), EventMember("did", event.distinctID), EventMember("init", .bool(true)),
      EventMember("seq", 0), EventMember("started", EventTime.rfc3339(milliseconds: min(start, event.time))),
      EventMember("timestamp", EventTime.rfc3339(milliseconds: event.time)),
      EventMember("duration", thousandths: event.sessionEnd?.duration),
      EventMember("status", isHang ? "abnormal" : "crashed"),
      EventMember("abnormal_mechanism", isHang ? mechanism : nil), EventMember("errors", 1),
      EventMember("attrs", [EventMember("release", release(event)), EventMember("environment", event.environment)]),
    ])
  }

  /// A UUID: the program's own if it is one.
  private static func sessionID(_ event: CrashEvent) -> String {
    guard let id = event.sessionID else { return event.id.text }
    return UUIDBytes(text: id)?.text ?? event.derivedID(id).text
  }

  /// "com.example.shop@2.7+182"
  private static func release(_ event: CrashEvent) -> String {
    let version = event.appVersion.map { version in
      "@" + version + (event.appBuild.map { $0 == version ? "" : "+" + $0 } ?? "")
    }
    return (event.appID ?? event.appName ?? "unknown") + (version ?? "")
  }
}
