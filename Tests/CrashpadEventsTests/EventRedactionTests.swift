// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Foundation
import Testing
import ToolRunner

@testable import CrashpadEvents

struct EventRedactionTests {
  private static let secret = "k3yv4lu3"

  /// An event whose every member is set, and whose every text has a secret.
  private static func full() -> CrashEvent {
    var frame = EventFrame(address: 1)
    (frame.image, frame.symbol, frame.name, frame.file) = (secret, secret, secret, secret)
    (frame.imageOffset, frame.symbolOffset, frame.line) = (1, 1, 1)
    let exception = CrashException(
      kind: .objectiveC, name: secret, reason: secret, signal: 6, title: secret, message: secret, isHang: false)
    return CrashEvent(
      id: SampleEvent.id, time: 1, start: 1, exception: exception, frames: [frame],
      signature: CrashEvent.Signature(id: "1cd71d2dc4660632", text: secret),
      sessionEnd: CrashEvent.SessionEnd(duration: 1), sessionID: secret, distinctID: secret, identity: .annotation,
      anonymousID: secret, loginID: secret, appName: secret, appID: secret, appVersion: secret, appBuild: secret,
      buildID: "00112233", environment: secret, os: secret, operatingSystem: .ios, osVersion: secret, osBuild: secret,
      timeZoneOffset: 1, model: secret, manufacturer: secret, architecture: .arm64, processID: 1, executable: secret,
      threadID: 1, threadName: secret)
  }

  /// The values by their places, and the places without one.
  private static func leaves(_ value: Any, _ path: String = "") -> (texts: [String: String], empty: [String]) {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional || mirror.displayStyle == .collection, mirror.children.isEmpty {
      return ([:], [path])
    }
    if mirror.children.isEmpty || value is UUIDBytes { return ([path: "\(value)"], []) }
    var result: (texts: [String: String], empty: [String]) = ([:], [])
    for child in mirror.children {
      let part = leaves(child.value, mirror.displayStyle == .optional ? path : "\(path).\(child.label ?? "")")
      result.texts.merge(part.texts) { first, _ in first }
      result.empty += part.empty
    }
    return result
  }

  @Test func `Every member of an event is without its secret, or is left out for a reason`() {
    let before = Self.leaves(Self.full())
    #expect(before.empty.isEmpty, "set in the sample, and decide in redacted(_:)")
    let hide = { (text: String) in text.replacingOccurrences(of: Self.secret, with: "*") }
    let after = Self.leaves(Self.full().redacted(EventHiding(text: hide, symbol: hide, version: hide)))
    #expect(after.empty.sorted() == [".anonymousID", ".loginID", ".sessionID"])
    #expect(after.texts.values.allSatisfy { !$0.contains(Self.secret) })
    let changed: Set<String> = [".id", ".distinctID", ".identity"]
    for (path, text) in before.texts where !changed.contains(path) && !after.empty.contains(path) {
      #expect(after.texts[path] == hide(text), "\(path)")
    }
  }

  @Test func `The ids of a redacted event are the same each time, and tell nothing`() throws {
    let hiding = EventHiding(text: { $0 }, symbol: { $0 }, version: { $0 })
    let event = try SampleEvent.event()
    let redacted = event.redacted(hiding)
    #expect(redacted.id == event.redacted(hiding).id)
    #expect(redacted.id != event.id)
    #expect(redacted.distinctID == redacted.id.text)
    #expect(redacted.identity == .dump)
  }

  @Test func `A report without a model has none in its event`() throws {
    let folder = try TemporaryFolder()
    let report = """
      Process:             Shop [321]
      Identifier:          com.example.shop
      Code Type:           ARM-64

      Exception Type:  EXC_CRASH (SIGABRT)
      Triggered by Thread:  0

      Application Specific Information:
      *** Terminating app due to uncaught exception 'E', reason: 'none for jane@example.org at 192.168.17.23, token=abc'
      terminating due to uncaught exception of type NSException

      Thread 0 Crashed:
      0   Shop                        \t0x0000000104a05a10 f + 320 (/Users/jane/src/f.c:12)

      """
    try folder.write(Array(report.utf8), to: "a.crash")
    let plain = try Tool.shell("crashpadctl events a.crash", in: folder).text
    #expect(!plain.contains("$model"))
    #expect(plain.contains("reason: none for jane@example.org at 192.168.17.23, token=abc\\n"))
    let redacted = try Tool.shell("crashpadctl events --redact a.crash", in: folder).text
    #expect(redacted.contains("reason: none for **************** at *************, token=***\\n"))
    let document = try Tool.shell("crashpadctl events --redact --mapping ecs a.crash", in: folder).text
    #expect(!document.contains("jane") && document.contains("f.c"))
  }
}
