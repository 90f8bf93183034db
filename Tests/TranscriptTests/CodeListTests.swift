// SPDX-License-Identifier: Apache-2.0
import Testing
import ToolRunner

/// The whole list of codes: transcripts show its beginning.
struct CodeListTests {
  @Test func `The list of codes has the same rows as text and as JSON`() throws {
    let folder = try TemporaryFolder()
    let text = try Tool.run(["explain", "--list"], in: folder)
    let json = try Tool.run(["explain", "--list", "--format", "json"], in: folder)
    #expect(text.status == 0 && json.status == 0)
    let queries = try JSONDocument(json.output)["codes"].array.compactMap { $0["query"].string }
    #expect(queries.count > 500)
    // The first line has the titles of the columns, the last one is empty.
    let rows = text.outputLines.dropFirst().dropLast()
    #expect(rows.count == queries.count)
    for (row, query) in zip(rows, queries) { #expect(row.hasPrefix(query)) }
  }
}
