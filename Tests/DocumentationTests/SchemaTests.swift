// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The schemas of the tool's JSON documents, and their sections of crashpadctl-json(5), are those that the tool prints.
@Suite(.serialized) struct SchemaTests {
  private static let page = "man/crashpadctl-json.5"

  /// Such as "crashpadctl-unlock/1".
  private static func names() throws -> [String] {
    let output = try Tool.run("crashpadctl json-schema", in: Repository.root)
    try #require(output.status == 0)
    return output.text.split(separator: "\n").map(String.init)
  }

  private static func file(_ name: String) -> String {
    "scripts/schemas/\(name.replacingOccurrences(of: "/", with: "-")).json"
  }

  @Test func `Each schema is that of the tool, and there are no others`() throws {
    let names = try Self.names()
    #expect(Set(names).count == names.count)
    for name in names {
      let schema = try Tool.run("crashpadctl json-schema \(name)", in: Repository.root)
      try #require(schema.status == 0)
      if Repository.isUpdating {
        try Repository.write(schema.text, to: Self.file(name))
      } else {
        #expect(try Repository.text(Self.file(name)) == schema.text, "UPDATE_DOCS=1 writes \(name) anew")
      }
    }
    let folder = Repository.root.appendingPathComponent("scripts/schemas").path
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
    #expect(Set(files.map { "scripts/schemas/\($0)" }) == Set(names.map(Self.file)))
  }

  @Test func `The section of each document in the manual is that of the tool`() throws {
    for name in try Self.names() {
      let section = try Tool.run("crashpadctl json-schema --manual \(name)", in: Repository.root)
      try #require(section.status == 0)
      let text = try Repository.text(Self.page)
      let start = try #require(text.range(of: ".SH \(name)\n"), "the manual has no section \(name)")
      let end = text.range(of: "\n.SH ", range: start.upperBound..<text.endIndex)
      let stop = end.map { text.index(after: $0.lowerBound) } ?? text.endIndex
      if Repository.isUpdating {
        try Repository.write(text[..<start.lowerBound] + section.text + text[stop...], to: Self.page)
      } else {
        #expect(text[start.lowerBound..<stop] == section.text, "UPDATE_DOCS=1 writes \(name) anew")
      }
    }
  }
}
