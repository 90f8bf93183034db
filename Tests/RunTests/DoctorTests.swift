// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

@Suite("crashpadctl doctor", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct DoctorTests {
  private static func doctor(_ before: String = "", _ after: String = "", in folder: TemporaryFolder) throws
    -> JSONDocument
  {
    let result = try RunTests.shell(
      "\(before) crashpadctl doctor -d db --format json \(after) > doctor.json; echo $?", in: folder)
    #expect(["0\n", "1\n"].contains(result.text), "\(result.text)\(result.errorText)")
    let document = try JSONDocument(Data(contentsOf: folder.url("doctor.json")))
    let states = document["checks"].array.map { $0["state"].string }
    #expect((result.text == "0\n") == states.allSatisfy { $0 == "ok" || $0 == "note" })
    return document
  }

  private static func state(_ name: String, _ document: JSONDocument) -> String? {
    document["checks"].array.first { $0["name"].string == name }?["state"].string
  }

  @Test("A program that is made to crash leaves a dump, and doctor nothing")
  func trial() throws {
    let folder = try TemporaryFolder()
    let document = try Self.doctor(in: folder)
    #expect(document["schema"].string == "crashpadctl-doctor/1")
    #expect((document["trial"]["threads"].int ?? 0) >= 4)
    #expect((document["trial"]["bytes"].int ?? 0) > 4096)
    #expect((document["trial"]["run_microseconds"].int ?? 0) > 0)
    #expect(try folder.names() == ["doctor.json"])
  }

  @Test(
    "For root, a program that becomes another user is tried too",
    .enabled(if: Machine.isRoot, "only root may become another user"))
  func changedUser() throws {
    let folder = try TemporaryFolder()
    #expect(Self.state("changed user", try Self.doctor(in: folder)) == "ok")
    // Without the right to change, nothing is said of it.
    let without = try Self.doctor("setpriv --bounding-set -setuid --inh-caps -all", in: folder)
    #expect(Self.state("changed user", without) == nil)
  }

  @Test("In a database it leaves what was there")
  func inDatabase() throws {
    let folder = try TemporaryFolder()
    let document = try Self.doctor("mkdir db; echo a > db/file;", in: folder)
    #expect(Self.state("database", document) == "ok")
    #expect(Self.state("locks", document) == "ok")
    #expect(try folder.names(in: "db") == ["file"])
  }

  @Test("Limits and inherited signals are said")
  func limits() throws {
    let folder = try TemporaryFolder()
    let document = try Self.doctor("ulimit -f 1000; ulimit -n 30; trap '' FPE;", in: folder)
    #expect(Self.state("open files", document) == "limited")
    #expect(Self.state("file size", document) == "limited")
    #expect(Self.state("signals", document) == "limited")
  }

  @Test(
    "A directory that can't be written to is said",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "root may do everything, and setpriv is not installed"))
  func readOnly() throws {
    let folder = try TemporaryFolder()
    let document = try Self.doctor("mkdir db; chmod 555 db; as-nobody", in: folder)
    #expect(Self.state("database", document) == "missing")
    #expect(document["captures"].bool == false)
    #expect(try folder.names(in: "db") == [])
  }

  @Test("A database that is a file, or would lie in one, is said", arguments: ["file", "file/db"])
  func noDirectory(_ database: String) throws {
    let folder = try TemporaryFolder()
    let document = try Self.doctor("echo a > file;", "--database \(database)", in: folder)
    #expect(Self.state("database", document) == "missing")
    #expect(document["captures"].bool == false)
    #expect(try folder.bytes(of: "file") == Array("a\n".utf8))
  }

  @Test("The requirements of uploads are reported, and do not affect captures", arguments: [true, false])
  func uploads(_ hasCertificates: Bool) throws {
    let folder = try TemporaryFolder()
    let document = try Self.doctor(
      "touch ca.pem; export SSL_CERT_FILE=\(hasCertificates ? "ca.pem" : "no.pem");", in: folder)
    let check = try #require(document["checks"].array.first { $0["name"].string == "uploads" })
    #expect(check["state"].string == (hasCertificates ? "ok" : "note"))
    #expect(check["found"].string?.hasPrefix("libcurl/") == true)
    #expect(check["advice"].isNull == hasCertificates)
    #expect(document["captures"].bool == true)
  }

  @Test("Without the library there is no trial")
  func noLibrary() throws {
    let folder = try TemporaryFolder()
    let document = try Self.doctor("", "--handler-library no.so", in: folder)
    #expect(Self.state("library", document) == "missing")
    #expect(Self.state("trial", document) == "missing")
    #expect(document["trial"].isNull)
  }
}
