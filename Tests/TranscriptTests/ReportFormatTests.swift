// SPDX-License-Identifier: Apache-2.0
import Foundation
import FoundationXML
import Testing
import ToolRunner

@Suite("Reports for CI")
struct ReportFormatTests {
  private static let inputs = [
    "artifacts", "odd-text.idump", "damaged-unknown-key.idump", "damaged-misplaced-key.idump", "no-such.idump",
    "damaged-unknown-codeview.dmp", "doubtful-time-order.idump", "broken-format.json",
  ]

  private func report(_ format: String, _ options: String = "") throws -> Tool.Outcome {
    let folder = try TemporaryFolder()
    let names = Self.inputs.joined(separator: " ")
    try Samples.write(namedIn: names, to: folder)
    return try Tool.shell("crashpadctl validate --format \(format) \(options) \(names)", in: folder)
  }

  /// Counts of what the text form says, which the others have to agree with.
  private func jsonDocuments() throws -> [JSONDocument] {
    try report("json").text.split(separator: "\n").map { try JSONDocument(Data($0.utf8)) }
  }

  // MARK: SARIF

  @Test("SARIF has what GitHub's code scanning requires")
  func sarif() throws {
    let sarif = try JSONDocument(report("sarif").output)
    #expect(sarif["version"].string == "2.1.0")
    #expect(sarif["$schema"].string?.contains("sarif") == true)
    #expect(sarif["runs"].array.count == 1)
    let driver = sarif["runs"][0]["tool"]["driver"]
    #expect(driver["name"].string == "crashpadctl")
    let rules = driver["rules"].array
    let identifiers = rules.compactMap { $0["id"].string }
    #expect(identifiers.count == rules.count)
    for rule in rules {
      #expect(rule["shortDescription"]["text"].string?.isEmpty == false)
      #expect(["note", "warning", "error"].contains(rule["defaultConfiguration"]["level"].string))
    }
    let results = sarif["runs"][0]["results"].array
    #expect(results.count > 5)
    for result in results {
      #expect(identifiers.contains(result["ruleId"].string ?? ""))
      #expect(["note", "warning", "error"].contains(result["level"].string))
      #expect(result["message"]["text"].string?.isEmpty == false)
      #expect(result["locations"].array.count == 1)
      let place = result["locations"][0]["physicalLocation"]
      let uri = place["artifactLocation"]["uri"].string ?? ""
      #expect(!uri.isEmpty && !uri.hasPrefix("/") && URL(string: uri) != nil)
      // GitHub shows a result at a line, and refuses a region without one.
      #expect(place["region"]["startLine"].int.map { $0 >= 1 } == true)
      if !place["region"]["byteOffset"].isNull { #expect(place["region"]["byteOffset"].int.map { $0 >= 0 } == true) }
    }
  }

  @Test("SARIF says what the JSON reports say")
  func sarifAgrees() throws {
    let results = try JSONDocument(report("sarif").output)["runs"][0]["results"].array
    let findings = try jsonDocuments().flatMap { $0["findings"].array }
    #expect(results.count == findings.count)
    for (result, finding) in zip(results, findings) {
      #expect(result["ruleId"].string == finding["code"].string)
      #expect(result["level"].string == finding["severity"].string)
      #expect(result["message"]["text"].string == finding["message"].string)
      let region = result["locations"][0]["physicalLocation"]["region"]
      #expect(region["byteOffset"].int == finding["offset"].int)
    }
  }

  @Test("An input that can't be read makes SARIF say that the run did not succeed")
  func sarifInvocation() throws {
    let invocation = try JSONDocument(report("sarif").output)["runs"][0]["invocations"][0]
    #expect(invocation["executionSuccessful"].bool == false)
    let notes = invocation["toolExecutionNotifications"].array.compactMap { $0["message"]["text"].string }
    #expect(notes.count == 2)
    #expect(notes.contains { $0.hasPrefix("no-such.idump") } && notes.contains { $0.hasPrefix("broken-format.json") })
  }

  @Test("No two results of SARIF have one fingerprint, and each names its rule by number too")
  func sarifIdentity() throws {
    let sarif = try JSONDocument(report("sarif", "odd-text.idump").output)["runs"][0]
    let rules = sarif["tool"]["driver"]["rules"].array
    let results = sarif["results"].array
    let fingerprints = results.compactMap { $0["partialFingerprints"]["crashpadctl/v1"].string }
    #expect(fingerprints.count == results.count)
    #expect(Set(fingerprints).count == results.count)
    for result in results {
      #expect(result["ruleIndex"].int.map { rules[$0]["id"].string } == result["ruleId"].string)
    }
    for rule in rules { #expect(rule["helpUri"].string == "man:crashpadctl-validate(1)") }
    #expect(sarif["tool"]["driver"]["informationUri"].string == "man:crashpadctl(1)")
  }

  @Test("A URI has the bytes of the name, and not its display form")
  func sarifURI() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell(
      #"N=$(printf 'n\351 \033'); : > "$N.idump"; crashpadctl validate --format sarif "$N.idump""#, in: folder)
    let place = try JSONDocument(result.output)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    #expect(place["artifactLocation"]["uri"].string == "n%E9%20%1B.idump")
  }

  // MARK: JUnit

  @Test("JUnit has when the run began and how long each dump took")
  func junitTime() throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: "odd-text.idump", to: folder)
    let command = "crashpadctl validate --format junit odd-text.idump"
    let fixed = try Tool.shell("SOURCE_DATE_EPOCH=1700000000 \(command)", in: folder).text
    #expect(fixed.contains(#" time="0.000" timestamp="2023-11-14T22:13:20">"#))
    #expect(fixed.contains(#"name="odd-text.idump" time="0.000">"#))
    let before = Date()
    let own = try Tool.shell("env -u SOURCE_DATE_EPOCH \(command)", in: folder).text
    let stamp = own.split(separator: "timestamp=\"").last?.prefix(19) ?? ""
    let date = try Date(stamp + "Z", strategy: .iso8601)
    #expect(date >= before.addingTimeInterval(-1) && date <= Date())
  }

  @Test("JUnit is XML whose counts are right", arguments: ["", "--strict", "--ignore unknown-key"])
  func junit(_ options: String) throws {
    let suite = try JUnitReader.read(report("junit", options).output)
    #expect(suite.declared == ["tests": suite.cases.count, "failures": suite.failures, "errors": suite.errors])
    #expect(Set(suite.cases).count == suite.cases.count)
    #expect(suite.errors == 2)
    #expect(suite.failures == (options == "--strict" ? 5 : 2))
  }

  @Test("A run that fails has a failure or an error in JUnit", arguments: ["--strict", "--max-warnings 0", ""])
  func junitFailure(_ options: String) throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: "damaged-unknown-key.idump", to: folder)
    let result = try Tool.shell("crashpadctl validate --format junit \(options) damaged-unknown-key.idump", in: folder)
    let suite = try JUnitReader.read(result.output)
    #expect((result.status != 0) == (suite.failures + suite.errors > 0))
  }

  @Test("Names that XML must not have as they are come out of it again")
  func junitNames() throws {
    let folder = try TemporaryFolder()
    let name = "<a> & \"b\" 'c' \u{1f642}.idump"
    try folder.write([], to: name)
    let suite = try JUnitReader.read(Tool.run(["validate", "--format", "junit", name], in: folder).output)
    #expect(suite.cases == [name])
    #expect(suite.texts.contains { $0.hasPrefix(name + ": error: ") })
  }

  @Test(
    "A run passes in every format or in none", arguments: ["", "--strict", "--max-warnings 3", "--max-warnings 100"])
  func sameStatus(_ options: String) throws {
    let status = try report("text", options).status
    for format in ["json", "junit", "sarif"] { #expect(try report(format, options).status == status) }
  }

  @Test("JSON counts what it lists")
  func jsonCounts() throws {
    for document in try jsonDocuments() {
      for (member, severity) in [("errors", "error"), ("warnings", "warning"), ("notes", "note")] {
        #expect(document[member].int == document["findings"].array.count { $0["severity"].string == severity })
      }
      #expect(document["schema"].string == "crashpadctl-validate/1")
      let isBad = document["errors"].int != 0 || !document["error"].isNull
      #expect(document["passed"].bool == !isBad)
    }
  }
}

/// Reads the parts of a JUnit report that CI systems show.
private final class JUnitReader: NSObject, XMLParserDelegate {
  private(set) var cases: [String] = []
  private(set) var failures = 0
  private(set) var errors = 0
  private(set) var texts: [String] = []
  private(set) var declared: [String: Int] = [:]

  static func read(_ data: Data) throws -> JUnitReader {
    let reader = JUnitReader()
    let parser = XMLParser(data: data)
    parser.delegate = reader
    guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
    return reader
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    switch name {
    case "testsuite": declared = attributes.compactMapValues { Int($0) }
    case "testcase": cases.append(attributes["name"] ?? "")
    case "failure":
      failures += 1
      texts.append("")
    case "error": errors += 1
    default: break
    }
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    if !texts.isEmpty { texts[texts.count - 1] += text }
  }

  @Test(
    "An input that can't be read has a JSON document with the reason and the status",
    arguments: [
      ("inspect", "inspect"), ("symbolize", "symbolize"), ("symbolize --modules", "symbolize"),
      ("symbolize --missing", "symbolize"), ("symbols info", "symbols-info"), ("database check -d", "database-check"),
      ("convert", "convert"), ("redact -o out", "redact"),
    ])
  func unreadable(_ command: String, _ schema: String) throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell("crashpadctl \(command) missing --format json", in: folder)
    #expect(result.status == 66, "\(result.errorText)")
    let document = try JSONDocument(result.output)
    #expect(document["schema"].string == "crashpadctl-\(schema)/1")
    #expect(document["error"].string == "No such file or directory")
    #expect((document["exit_status"].int ?? document["status"].int) == 66)
  }

  @Test("Each of several inputs has its document, in their order", arguments: ["symbolize", "symbols info", "inspect"])
  func someUnreadable(_ command: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let files = command == "symbols info" ? "/bin/sh missing /bin/sh" : "crash.idump missing crash.idump"
    let result = try Tool.shell("crashpadctl \(command) --format json \(files)", in: folder)
    #expect(result.status == 2, "\(result.errorText)")
    let lines = try result.text.split(separator: "\n").map { try JSONDocument(Data($0.utf8)) }
    #expect(lines.map { $0["error"].string != nil } == [false, true, false])
  }

  @Test("A thread that is not there has a document too")
  func missingThread() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let result = try Tool.shell("crashpadctl symbolize --format json --threads 999 crash.idump", in: folder)
    #expect(result.status == 65)
    #expect(try JSONDocument(result.output)["error"].string?.hasPrefix("there is no thread 999") == true)
  }
}
