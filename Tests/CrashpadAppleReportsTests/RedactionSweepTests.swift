// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadRedaction
import CrashpadSnapshot
import Foundation
import Testing
import ToolRunner

/// Personal data in each text of each form of report: none of it is in a redacted report.
struct RedactionSweepTests {
  /// A form of personal data: a text that has it, and the part that must not remain.
  struct Form: Sendable, CustomStringConvertible {
    let text: String
    let secret: String
    /// Whether the form is one of free text, which names of functions and images do not have.
    var isProse = false

    init(_ text: String, _ secret: String, isProse: Bool = false) {
      self.text = text
      self.secret = secret
      self.isProse = isProse
    }

    var description: String { text }
  }

  static let forms: [Form] = [
    Form("connect to 192.168.17.23 failed", "192.168.17.23"), Form("peer 203.0.113.9:8443", "203.0.113.9"),
    Form("at [2001:db8::8a2e:370:7334]", "8a2e:370"), Form("::ffff:198.51.100.4", "198.51.100.4"),
    Form("token=k3yv4lu3", "k3yv4lu3"), Form("access_token: Q9w8-e7r6", "Q9w8", isProse: true),
    Form("Authorization: Bearer c0ffee.b4d", "c0ffee.b4d", isProse: true), Form("api_key=zXcV", "zXcV"),
    Form("client_secret=s3same", "s3same"), Form("session id 77881199", "77881199", isProse: true),
    Form("Cookie: crumb=choc1", "choc1", isProse: true), Form("https://h/k?X-Amz-Signature=feed5", "feed5"),
    Form("password=hunter22", "hunter22"), Form("passcode is 24681357", "24681357", isProse: true),
    Form("udid 00008110-001A2B3C4D5E601E", "001A2B3C4D5E601E"),
    Form("of fedcba9876543210fedcba9876543210fedcba98", "fedcba9876543210"),
    Form("IMEI 356938035643809", "356938035643809"), Form("sim 8944110068256270054", "8944110068256270054"),
    Form("Serial Number: F17ABCDEFG12", "F17ABCDEFG12", isProse: true), Form("on C02ZX1ABMD6R", "C02ZX1ABMD6R"),
    Form("en0 00:1A:2b:3C:4d:5E", "3C:4d:5E"), Form("call +49 170 7654321", "7654321"),
    Form("card 4111 1111 1111 1111", "1111 1111"), Form("DE89 3704 0044 0532 0130 00", "0044 0532"),
    Form("mail zoe.quux@example.org", "quux"), Form("lost Quentina's iPhone", "Quentina", isProse: true),
    Form("Xaviers-MacBook-Pro.local", "Xaviers", isProse: true), Form("/Volumes/Zulu Disk/x", "Zulu Disk"),
    Form("/Data/Application/5D3A2B1C-0000-4ABC-8DEF-0123456789AB/x", "5D3A2B1C"),
    Form("com.apple.CoreSimulator.SimDevice.6E4B2B1C-0000-4ABC-8DEF-0123456789AB", "6E4B2B1C"),
    Form("/Users/yolandaq/src/x.c", "yolandaq"), Form("https://vault-7.corp.example/x", "vault-7"),
    Form("latitude=52.520008", "52.520008"), Form("location 52.520008, 13.404954 is off", "52.520008", isProse: true),
    Form("en1 3c22.fb9a.0e41", "fb9a"), Form("for <740f4707 bebcf74f 9b7c25d4 8e335894>", "bebcf74f", isProse: true),
    Form("-----BEGIN PRIVATE KEY-----MIIE-----END PRIVATE KEY-----", "MIIE", isProse: true),
    Form("BEGIN PGP PRIVATE KEY BLOCK-----lQHY-----END PGP PRIVATE KEY BLOCK-----", "lQHY", isProse: true),
    Form("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarj"),
  ]

  /// Reports whose forms the samples do not have. All content is invented.
  static let others: [(name: String, text: String)] = [
    (
      "jetsam",
      """
      {"bug_type":"298","timestamp":"2026-03-14 15:09:26.00 +0100","os_version":"iPhone OS 18.4 (22E240)","incident_id":"5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A90"}
      {
        "crashReporterKey" : "0123456789abcdef0123456789abcdef01234567",
        "product" : "iPhone17,1",
        "incident" : "5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A90",
        "date" : "2026-03-14 15:09:26.00 +0100",
        "build" : "iPhone OS 18.4 (22E240)",
        "memoryStatus" : { "pageSize" : 16384, "memoryPages" : { "active" : 1, "free" : 2 } },
        "largestProcess" : "Demo",
        "processes" : [
          { "name" : "Demo", "pid" : 7, "states" : [ "frontmost" ], "rpages" : 9, "reason" : "per-process-limit" }
        ]
      }
      """
    ),
    (
      "stackshot",
      """
      {"bug_type":"288","timestamp":"2026-03-14 15:09:26.00 +0100","os_version":"iPhone OS 18.4 (22E240)","incident_id":"5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A90"}
      {
        "build" : "iPhone OS 18.4 (22E240)", "product" : "iPhone17,1", "reason" : "user request",
        "incident" : "5C3E0C11-9A2B-4D77-8F10-2B6E0D1F4A90", "crashReporterKey" : "00112233445566778899aabbccddeeff00112233",
        "date" : "2026-03-14 15:09:26.00 +0100",
        "processByPid" : { "7" : { "pid" : 7, "procname" : "Demo", "threadById" : { "11" : {
          "id" : 11, "name" : "worker", "dispatch_queue_label" : "queue", "state" : [ "TH_WAIT" ],
          "userFrames" : [ [ 0, 4096 ] ] } } } },
        "binaryImages" : [ [ "5c3e0c11-9a2b-4d77-8f10-2b6e0d1f4a91", 4294967296, "P" ] ]
      }
      """
    ),
  ]

  static let samples = SampleReports.all + others

  /// The report with a text behind each of its texts, one at a time.
  ///
  /// - Parameter text: has no characters that JSON escapes.
  static func planted(_ report: String, _ text: String) -> [(leaf: String, report: String)] {
    ends(report).map { end in
      var changed = report
      changed.insert(contentsOf: " " + text, at: end)
      return (String(report[..<end].suffix(24)), changed)
    }
  }

  /// The places behind each text: in JSON the values that are texts, else the lines.
  static func ends(_ report: String) -> [String.Index] {
    if report.hasPrefix("{") || report.hasPrefix("[") {
      // Names come first, as a text of their own.
      return report.matches(of: /"(?:[^"\\]|\\.)*"\s*:|"((?:[^"\\]|\\.)*)"/).compactMap { $0.1?.endIndex }
    }
    return report.matches(of: /(?m)^.*\S.*$/).map(\.range.upperBound)
  }

  private static func redacted(_ report: String) -> [UInt8]? {
    let output = MemoryOutput()
    let bytes = Array(report.utf8)
    let span = unsafe bytes.span.bytes
    guard let plan = try? Redaction().plan(span), (try? plan.write(span, to: output)) != nil else { return nil }
    return output.bytes
  }

  /// All texts of the redacted report with their places, as a reader of JSON has them.
  private static func leaves(_ bytes: [UInt8]) -> [(place: String, text: String)] {
    func walk(_ value: Any, _ place: String) -> [(String, String)] {
      switch value {
      case let text as String: [(place, text)]
      case let list as [Any]: list.flatMap { walk($0, place) }
      case let members as [String: Any]:
        members.keys.map { (place + "/key", $0) } + members.flatMap { walk($0.value, place + "/" + $0.key) }
      default: []
      }
    }
    return documents(bytes).flatMap { walk($0, "") }
  }

  /// Names of functions and images, for which the rules of prose do not hold.
  private static let symbols: Set<String> = [
    "/threads/frames/symbol", "/lastExceptionBacktrace/symbol", "/usedImages/name", "/asi/key",
    "/crashpadctl/messages/image",
  ]

  /// The body, and the header before it if there is one.
  private static func documents(_ bytes: [UInt8]) -> [Any] {
    if let whole = try? JSONSerialization.jsonObject(with: Data(bytes)) { return [whole] }
    guard let end = bytes.firstIndex(of: 0x0a) else { return [] }
    return [bytes[..<end], bytes[end...]].compactMap { try? JSONSerialization.jsonObject(with: Data($0)) }
  }

  @Test(arguments: samples.map(\.name))
  func `No text of a report lets personal data through`(_ name: String) throws {
    let report = try #require(Self.samples.first { $0.name == name }?.text)
    var kept: [String] = []
    var count = 0
    for form in Soak.some(3, of: Self.forms) {
      for (leaf, planted) in Self.planted(report, form.text) {
        guard let bytes = Self.redacted(planted) else { continue }
        count += 1
        let found = Self.leaves(bytes).first {
          $0.text.contains(form.secret) && !(form.isProse && Self.symbols.contains($0.place))
        }
        if let found { kept.append("\(leaf) | \(form) | \(found)") }
      }
    }
    print("\(name): \(count) texts with personal data, \(kept.count) kept")
    #expect(kept.isEmpty, "\(kept.prefix(10))")
    #expect(count > 0)
  }

  @Test func `Stacks, images and the reason of the crash stay`() throws {
    let bytes = try #require(Self.redacted(SampleReports.phone))
    let before = Reading(SampleReports.phone)
    let after = Reading(bytes)
    #expect(after.snapshot?.threads.map { $0.frames } == before.snapshot?.threads.map { $0.frames })
    #expect(after.snapshot?.modules.map(\.address) == before.snapshot?.modules.map(\.address))
    #expect(after.snapshot?.modules.map(\.identity) == before.snapshot?.modules.map(\.identity))
    #expect(
      after.snapshot?.threads.map { after.text($0.name) } == before.snapshot?.threads.map { before.text($0.name) })
    #expect(after.report?.vmRegionInfo == before.report?.vmRegionInfo)
    #expect(after.report?.termination == before.report?.termination)
    #expect(after.report?.osText == before.report?.osText)
    #expect(after.report?.incident == UUIDBytes.zero.text)
    #expect(after.report?.reporterKey == nil)
  }

  @Test func `Redacting a report again changes nothing`() throws {
    for (name, report) in Self.samples where !["swiftJSON", "swiftText", "stackshot"].contains(name) {
      let text = Self.planted(report, Self.forms.map(\.text).joined(separator: "; ")).last?.report ?? report
      guard let once = Self.redacted(text) else { continue }
      #expect(Self.redacted(String(decoding: once, as: UTF8.self)) == once, "\(name)")
    }
  }
}
