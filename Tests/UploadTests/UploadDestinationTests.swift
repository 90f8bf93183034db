// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing
import ToolRunner

@testable import CrashpadUpload

@Suite("Presets of servers")
struct UploadDestinationTests {
  static let key = "0123456789abcdef0123456789abcdef"
  static let token = String(repeating: "0123456789abcdef", count: 4)

  static let addresses = [
    ("crashpad=https://h/submit?k=1", "https://h/submit?k=1"),
    ("breakpad=https://user:pass@h:8443/submit", "https://user:pass@h:8443/submit"),
    (
      "sentry=https://\(key)@o1.ingest.example.com/42",
      "https://o1.ingest.example.com/api/42/minidump/?sentry_key=\(key)"
    ),
    ("sentry=https://\(key)@h/42/", "https://h/api/42/minidump/?sentry_key=\(key)"),
    ("sentry=http://\(key)@h:9000/sentry/deep/42", "http://h:9000/sentry/deep/api/42/minidump/?sentry_key=\(key)"),
    ("sentry=https://\(key):0badc0de@h/1", "https://h/api/1/minidump/?sentry_key=\(key)"),
    ("sentry=https://\(key)@[::1]:9000/7", "https://[::1]:9000/api/7/minidump/?sentry_key=\(key)"),
    ("sentry=https://h/api/42/minidump/?sentry_key=\(key)", "https://h/api/42/minidump/?sentry_key=\(key)"),
    ("bugsplat=Fred", "https://fred.bugsplat.com/post/bp/crash/crashpad.php"),
    ("bugsplat=my-db_2", "https://my-db_2.bugsplat.com/post/bp/crash/crashpad.php"),
    ("backtrace=universe/\(token)", "https://submit.backtrace.io/universe/\(token)/minidump"),
    (
      "backtrace=https://submit.backtrace.io/universe/\(token)/minidump",
      "https://submit.backtrace.io/universe/\(token)/minidump"
    ),
    (
      "backtrace=https://u.sp.backtrace.io:6098/post?format=minidump&token=\(token)",
      "https://u.sp.backtrace.io:6098/post?format=minidump&token=\(token)"
    ),
    ("backtrace=https://h/api/post?minidump&token=\(token)", "https://h/api/post?minidump&token=\(token)"),
  ]

  @Test("A preset leads to the documented endpoint", arguments: addresses)
  func endpoint(_ preset: String, _ address: String) throws {
    let destination = try UploadDestination(preset: preset)
    #expect(destination.address.text == address)
    #expect(destination.server.rawValue == preset.prefix { $0 != "=" })
    #expect(UploadFields.minidumpName == "upload_file_minidump")
  }

  static let failures: [(String, UploadDestinationFailure)] = [
    ("", .unknownServer), ("=x", .unknownServer), ("Sentry=x", .unknownServer), ("https://h/p", .unknownServer),
    ("sentry", .noValue(.sentry)), ("sentry=", .noValue(.sentry)), ("bugsplat", .noValue(.bugsplat)),
    ("backtrace=", .noValue(.backtrace)), ("breakpad", .noValue(.breakpad)), ("crashpad=", .noValue(.crashpad)),
    ("crashpad=h/p", .address(.crashpad, .badScheme)), ("breakpad=ftp://h", .address(.breakpad, .badScheme)),
    ("crashpad= https://h", .address(.crashpad, .space(at: 0))),
    ("sentry=\(key)", .address(.sentry, .badScheme)), ("sentry=https://\(key)@/1", .address(.sentry, .noHost)),
    ("sentry=https://\(key)@h/1\n", .address(.sentry, .controlCharacter(at: 44))),
    ("sentry=https://@h/1", .address(.sentry, .badUserInfo(at: 8))),
    ("sentry=https://h/1", .noSentryKey), ("sentry=https://k%41@h/1", .badSentryKey),
    ("sentry=https://\(key)@h", .noSentryProject), ("sentry=https://\(key)@h/", .noSentryProject),
    ("sentry=https://\(key)@h/project", .noSentryProject), ("sentry=https://\(key)@h/1/x", .noSentryProject),
    ("sentry=https://\(key)@h/%31", .noSentryProject), ("sentry=https://\(key)@h/1?a=b", .sentryParameters),
    ("sentry=https://h/api/42/store/?sentry_key=\(key)", .noSentryProject),
    ("sentry=https://h/api/x/minidump/?sentry_key=\(key)", .noSentryProject),
    ("sentry=https://h/api/42/minidump/?sentry_key=", .sentryParameters),
    ("bugsplat=https://fred.bugsplat.com", .badDatabase), ("bugsplat=fred.bugsplat.com", .badDatabase),
    ("bugsplat=a b", .badDatabase), ("bugsplat=-a", .badDatabase), ("bugsplat=\u{e4}", .badDatabase),
    ("bugsplat=" + String(repeating: "a", count: 64), .badDatabase),
    ("backtrace=universe", .badBacktrace), ("backtrace=universe/", .badBacktrace),
    ("backtrace=/\(token)", .badBacktrace),
    ("backtrace=u/\(token)/minidump", .badBacktrace), ("backtrace=u/to ken", .badBacktrace),
    ("backtrace=u?/\(token)", .badBacktrace), ("backtrace=ftp://h/", .address(.backtrace, .badScheme)),
    ("backtrace=https://submit.backtrace.io/", .noBacktraceToken),
    ("backtrace=https://submit.backtrace.io/u", .noBacktraceToken),
    ("backtrace=https://submit.backtrace.io/u/\(token)", .notForMinidumps),
    ("backtrace=https://submit.backtrace.io/u/\(token)/json", .notForMinidumps),
    ("backtrace=https://h/post?format=minidump", .noBacktraceToken),
    ("backtrace=https://h/post?format=minidump&token=", .noBacktraceToken),
    ("backtrace=https://h/post?format=json&token=\(token)", .notForMinidumps),
  ]

  @Test("A preset that names no destination says what is wrong", arguments: failures)
  func failure(_ preset: String, _ failure: UploadDestinationFailure) {
    #expect(throws: failure) { try UploadDestination(preset: preset) }
    #expect(!failure.description.isEmpty)
  }

  @Test("sentry alone takes the DSN of the environment, and what is written wins over it")
  func environment() throws {
    let dsn = "https://\(Self.key)@from.environment/1"
    #expect(try UploadDestination(preset: "sentry", sentryDSN: dsn).displayName == "https://from.environment")
    #expect(try UploadDestination(preset: "sentry=https://k@h/1", sentryDSN: dsn).displayName == "https://h")
    #expect(throws: UploadDestinationFailure.noValue(.sentry)) {
      try UploadDestination(preset: "sentry=", sentryDSN: dsn)
    }
    #expect(throws: UploadDestinationFailure.noValue(.sentry)) {
      try UploadDestination(preset: "sentry", sentryDSN: "")
    }
    #expect(throws: UploadDestinationFailure.noValue(.backtrace)) {
      try UploadDestination(preset: "backtrace", sentryDSN: dsn)
    }
  }

  @Test("No name that is shown and no failure has a secret in it")
  func secrets() throws {
    let secret = "5ec5e7"
    for preset in [
      "crashpad=https://\(secret):\(secret)@h/\(secret)?key=\(secret)", "breakpad=https://\(secret)@h/\(secret)",
      "sentry=https://\(secret):\(secret)@h/1", "backtrace=universe/\(secret)",
      "backtrace=https://h/post?format=minidump&token=\(secret)",
    ] {
      #expect(try !UploadDestination(preset: preset).displayName.contains(secret))
    }
    for preset in [
      "\(secret)=x", "sentry=\(secret)", "sentry=https://\(secret)@h/\(secret)", "sentry=https://\(secret)%@h/1",
      "crashpad=https://h/\(secret)#\(secret)", "backtrace=\(secret)", "bugsplat=\(secret).\(secret)",
    ] {
      let error = #expect(throws: UploadDestinationFailure.self) { try UploadDestination(preset: preset) }
      let failure = try #require(error)
      #expect(!"\(failure)".contains(secret))
    }
  }

  // MARK: Fields

  private func fields(_ values: KeyValuePairs<String, String>) -> UploadFields {
    var fields = UploadFields()
    fields.set(values.map { UploadField($0.key, $0.value) })
    return fields
  }

  /// Four times as many fields take about four times as long, and sixteen times if each of them is sorted in on its own.
  @Test("The time for the fields of a report grows as their number does")
  func growth() throws {
    let breakpad = try UploadDestination(preset: "breakpad=http://h/")
    func time(_ count: Int) -> Int {
      var report = UploadFields()
      // A field that the server refuses, so that the others are chosen one by one.
      report.set((0..<count).map { UploadField("field \($0 &* 7919 % count)", "value") } + [UploadField("uuid", "u")])
      let others = (0..<count).map { UploadField("field \($0 * 2)", "other") }
      return (0..<3).map { _ in
        ProcessorTime.measure {
          var fields = breakpad.fields(of: report)
          fields.set(others)
          #expect(fields.fields.count == count + count / 2)
        }
      }.min()!
    }
    let (few, many) = (time(Soak.times(4000, or: 1000)), time(Soak.times(16_000, or: 4000)))
    #expect(many < few * 9, "\(few) and \(many)")
  }

  private func added(_ preset: String, _ values: KeyValuePairs<String, String>) throws -> [String: String] {
    let report = fields(values)
    let sent = try UploadDestination(preset: preset).fields(of: report).fields
    #expect(sent.map(\.name) == sent.map(\.name).sorted { $0.lexicographicallyPrecedes($1) })
    // The values of the report are sent as they are.
    #expect(
      Set(report.fields).subtracting(sent).allSatisfy { preset.hasPrefix("breakpad") && $0.name == Array("uuid".utf8) })
    var added: [String: String] = [:]
    for field in Set(sent).subtracting(report.fields) {
      added[String(decoding: field.name, as: UTF8.self)] = String(decoding: field.value, as: UTF8.self)
    }
    return added
  }

  static let sentry = "sentry=https://k@h/1"
  static let id = "01234567-89ab-cdef-0123-456789abcdef"

  @Test("Each server gets the fields that it documents")
  func servers() throws {
    let report: KeyValuePairs = ["prod": "App", "ver": "1.2", "guid": Self.id, "channel": "beta", "ptype": "browser"]
    #expect(try added("crashpad=https://h", report) == [:])
    #expect(
      try added("breakpad=https://h", report)
        == ["ProductName": "App", "Version": "1.2", "ReleaseChannel": "beta", "ProcessType": "browser"])
    #expect(
      try added(Self.sentry, report)
        == ["sentry[release]": "App@1.2", "sentry[environment]": "beta", "sentry[user][id]": Self.id])
    #expect(
      try added("bugsplat=Fred", report)
        == ["database": "Fred", "format": "minidump", "product": "App", "version": "1.2"])
    #expect(
      try added("backtrace=u/t", report) == ["format": "minidump", "application": "App", "application.version": "1.2"])
  }

  @Test("A report's own fields win, and nothing is made of what is missing")
  func ownFields() throws {
    #expect(try added("bugsplat=d", ["prod": "App", "product": "mine", "database": "mine", "format": "x"]) == [:])
    #expect(try added(Self.sentry, ["prod": "App"]) == [:])
    #expect(try added(Self.sentry, ["ver": "1"]) == [:])
    #expect(try added(Self.sentry, ["prod": "A", "ver": "1", "sentry[release]": "mine"]) == [:])
    #expect(try added("breakpad=https://h", ["ver": ""]) == ["Version": ""])
    #expect(try added("breakpad=https://h", ["uuid": "x", "prod": "p"]) == ["ProductName": "p"])
    #expect(try UploadDestination(preset: "breakpad=https://h").fields(of: fields(["uuid": "x"])).fields.isEmpty)
  }

  @Test("Sentry gets no value that it would refuse")
  func sentryValues() throws {
    let guid = ["sentry[user][id]": Self.id]
    for version in ["1/2", "1\\2", "1\n2", "1\t2", "", String(repeating: "1", count: 199)] {
      #expect(try added(Self.sentry, ["prod": "A", "ver": "\(version)", "guid": Self.id]) == guid, "\(version)")
    }
    for channel in ["", "None", "a b", "a/b", "a\nb", String(repeating: "a", count: 65)] {
      #expect(try added(Self.sentry, ["channel": "\(channel)", "guid": Self.id]) == guid, "\(channel)")
    }
    #expect(try added(Self.sentry, ["guid": "00000000-0000-0000-0000-000000000000"]) == [:])
    let longest = String(repeating: "1", count: 198)
    #expect(try added(Self.sentry, ["prod": "A", "ver": "\(longest)"]) == ["sentry[release]": "A@\(longest)"])
  }

  // MARK: Forms

  @Test("Product, version and client id go into the URL where Crashpad's own server, BugSplat and Backtrace read them")
  func identification() throws {
    let report = fields(["prod": "A B", "ver": "1+2", "guid": Self.id, "product": "other"])
    let parameters = "product=A%20B&version=1%2B2&guid=\(Self.id)"
    let expected = [
      "crashpad=https://h/s": "https://h/s?\(parameters)",
      "crashpad=https://h/s?key=1": "https://h/s?key=1&\(parameters)",
      "bugsplat=d": "https://d.bugsplat.com/post/bp/crash/crashpad.php?\(parameters)",
      "backtrace=u/t": "https://submit.backtrace.io/u/t/minidump?\(parameters)",
      "breakpad=https://h/s": "https://h/s", Self.sentry: "https://h/api/1/minidump/?sentry_key=k",
    ]
    for (preset, address) in expected {
      #expect(try UploadDestination(preset: preset).address(of: report).text == address)
    }
    #expect(try UploadDestination(url: "https://h").address(of: fields(["ver": ""])).text == "https://h?version=")
  }

  @Test("Only Antenna gets no compressed bodies, and says in an answer with status 200 that it threw a report away")
  func antenna() throws {
    for preset in ["crashpad=https://h", Self.sentry, "bugsplat=d", "backtrace=u/t"] {
      let destination = try UploadDestination(preset: preset)
      #expect(destination.server.takesGzip)
      #expect(destination.rejection(in: Array("Discarded=rule_x".utf8)) == nil)
    }
    let antenna = try UploadDestination(preset: "breakpad=https://h")
    #expect(!antenna.server.takesGzip)
    #expect(antenna.rejection(in: Array("Discarded=rule_unsupported_product\n".utf8)) == "rule_unsupported_product")
    #expect(antenna.rejection(in: Array("Discarded=a\u{1b}[31m".utf8)) == "a")
    #expect(antenna.rejection(in: Array("CrashID=bp-d101d046\n".utf8)) == nil)
    #expect(antenna.rejection(in: []) == nil)
  }
}
