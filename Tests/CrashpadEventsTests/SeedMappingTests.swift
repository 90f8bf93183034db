// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import Testing

@testable import CrashpadEvents

/// The form of the tutorial: names, order of members, and the text of the reason.
struct SeedMappingTests {
  @Test func `The crash and the end of the session are two lines with members in order`() throws {
    let stack = """
      (\\n\\t0   CoreFoundation                      0x00000001803f25e4 __exceptionPreprocess + 236\
      \\n\\t1   Shop                                0x0000000100004a10 $s4Shop8checkoutyyF + 16\
      \\n\\t2   Shop                                0x0000000100001c08 Shop + 7176\
      \\n\\t3   ???                                 0x0000000000001234 0x0 + 4660\\n)
      """
    let properties =
      #""$lib_version":"9.9","$os":"iOS","$app_version":"2.7","$os_version":"18.4.1","$lib":"iOS""#
    let model = #""$model":"iPhone17,1","$manufacturer":"Apple","#
    let tail = #""time":1700000012345,"distinct_id":"anna"}"#
    let reason =
      #""$app_crashed_reason":"Exception name: SignalExceptionHandler\n Exception reason: Signal 11 was raised.\n Exception stack: "#
      + stack + "\","
    #expect(
      try SampleEvent.lines(.seed, SampleEvent.active) == [
        "{\"properties\":{\(model)\(reason)\(properties)},\"event\":\"$AppCrashed\",\(tail)\n",
        "{\"properties\":{\(model)\(properties),\"$event_duration\":12.345},\"event\":\"$AppEnd\",\(tail)\n",
      ])
  }

  @Test func `The session ends only of an app that was active`() throws {
    func count(_ change: (inout SampleEvent.Options) -> Void) throws -> Int {
      var options = SampleEvent.Options()
      change(&options)
      return try SampleEvent.lines(.seed, options).count
    }
    #expect(try count { _ in } == 1)
    #expect(try count { $0.assumesForeground = true } == 2)
    #expect(try count { $0.annotations.append(("application_state", "background")) } == 1)
    #expect(
      try count {
        $0.annotations.append(("application_state", "inactive"))
        $0.assumesForeground = true
      } == 1)
    #expect(try count { $0.annotations.append(("foreground", "yes")) } == 2)
    #expect(try count { $0.role = "Foreground" } == 2)
    #expect(try count { $0.role = "Background" } == 1)
    #expect(try count { $0.role = "Non UI" } == 1)
    #expect(try count { $0.system = .linux } == 2)
    #expect(try count { $0.system = .macos } == 1)
    #expect(
      try count {
        $0.system = .linux
        $0.annotations.append(("foreground", "no"))
      } == 1)
  }

  @Test func `The duration is that of the session, never negative, and absent without a start`() throws {
    func duration(_ change: (inout SampleEvent.Options) -> Void) throws -> Int64? {
      var options = SampleEvent.active
      change(&options)
      return try SampleEvent.event(options).sessionEnd?.duration
    }
    #expect(try duration { _ in } == 12_345)
    #expect(try duration { $0.start = 1_700_000_500 } == 0)
    #expect(try duration { $0.start = nil } == nil)
    #expect(try duration { $0.annotations.append(("session-start", "1700000010.5")) } == 1845)
    #expect(try duration { $0.annotations.append(("session-start", "1700000010500")) } == 1845)
    #expect(try duration { $0.annotations.append(("session-start", "yesterday")) } == 12_345)
  }

  @Test func `Numbers have at most three decimals, and no more than they need`() {
    for (value, text) in [
      (12_345, "12.345"), (12_300, "12.3"), (12_000, "12"), (5, "0.005"), (0, "0"), (-1500, "-1.5"), (60, "0.06"),
    ] {
      #expect(String(decoding: EventValue.thousandths(Int64(value)).line, as: UTF8.self) == text + "\n")
    }
  }

  @Test(arguments: [
    (
      "*** Terminating app due to uncaught exception 'NSRangeException', reason: 'it''s gone'\n*** First throw call stack:\n(0x1)",
      "NSRangeException", "it''s gone"
    ),
    (
      "*** Terminating app due to uncaught exception 'NSRangeException', reason: 'no 'x' at 0x1f'\nterminating due to "
        + "uncaught exception of type NSException\nabort() called", "NSRangeException", "no 'x' at 0x1f"
    ),
    (
      "*** Terminating app due to uncaught exception 'E', reason: 'cut off\nabort() called", "E", "cut off"
    ),
    ("uncaught exception of type std::out_of_range: no such key", "std::out_of_range", "no such key"),
    ("terminating due to uncaught exception of type int", "int", ""),
    ("terminate called after throwing an instance of 'Refusal'\n  what():  no stock", "Refusal", "no stock"),
    ("Fatal error: Error raised at top level: Shop.Refusal.noStock\n", "Shop.Refusal.noStock", "Shop.Refusal.noStock"),
    ("Fatal error: Index out of range", "SignalExceptionHandler", "Signal 11 was raised."),
  ])
  func `The name and reason of an error are those of the runtime's message`(
    message: String, name: String, reason: String
  )
    throws
  {
    var options = SampleEvent.Options()
    options.message = message
    let exception = try SampleEvent.event(options).exception
    #expect(exception.name == name)
    #expect(exception.reason == reason)
  }

  @Test func `A signal has the number of its system`() throws {
    func reason(_ kind: ExceptionSnapshot.Kind, _ code: UInt32, _ info: UInt32, _ codes: [UInt64]) throws -> String {
      var options = SampleEvent.Options()
      var exception = ExceptionSnapshot(kind: kind, threadID: 77, code: code)
      (exception.info, exception.codes) = (info, codes)
      options.exception = exception
      return try SampleEvent.event(options).exception.reason
    }
    #expect(try reason(.linuxSignal, 7, 2, []) == "Signal 7 was raised.")
    #expect(try reason(.softSignal, 0x10003, 6, [0x10003, 6, 0]) == "Signal 6 was raised.")
    #expect(try reason(.mach, 1, 2, [1, 2, 0]) == "Signal 10 was raised.")
    #expect(try reason(.mach, 6, 1, [6, 1, 0]) == "Signal 5 was raised.")
    #expect(try reason(.mach, 10, 0, [10, 6 << 24, 0]) == "Signal 6 was raised.")
    #expect(try reason(.windows, 0xc000_0005, 0, [0, 0x10]).hasPrefix("EXCEPTION_ACCESS_VIOLATION"))
  }

  @Test func `A dump without a crash and a report of something else give no events`() {
    func crash(_ kind: ExceptionSnapshot.Kind, _ code: UInt32) -> CrashEvent? {
      var options = SampleEvent.Options()
      options.exception = ExceptionSnapshot(kind: kind, threadID: 77, code: code)
      return SampleEvent.crash(options)
    }
    #expect(crash(.linuxSignal, 11) != nil)
    #expect(crash(.linuxSignal, .max) == nil)
    #expect(crash(.mach, 0x4350_7378) == nil)
    #expect(crash(.windows, 0x0517_a7ed) == nil)
    for kind in ReportSnapshot.Kind.allCases {
      var options = SampleEvent.Options()
      options.report = ReportSnapshot(kind: kind)
      #expect((SampleEvent.crash(options) != nil) == (kind == .crash))
    }
    var options = SampleEvent.Options()
    var report = ReportSnapshot(kind: .crash)
    report.isNonFatal = true
    options.report = report
    #expect(SampleEvent.crash(options) == nil)
  }

  @Test func `The user is named by annotations, then by the installation, then by the dump`() throws {
    var options = SampleEvent.Options()
    options.client = UUIDBytes(high: 1, low: 2)
    #expect(try SampleEvent.event(options).distinctID == "anna")
    options.annotations = [("anonymous_id", "a1")]
    #expect(try SampleEvent.event(options).distinctID == "a1")
    options.annotations = []
    #expect(try SampleEvent.event(options).distinctID == "00000000-0000-0001-0000-000000000002")
    #expect(try SampleEvent.event(options).identity == .client)
    options.client = .zero
    #expect(try SampleEvent.event(options).distinctID == SampleEvent.id.text)
    #expect(try SampleEvent.event(options).identity == .dump)
  }
}
