// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadJSON
import CrashpadText

/// Prints the descriptions of the documents, for the build of the schemas and of the manual.
struct SchemaCommand: Command {
  static let name = "json-schema"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Print the JSON Schema of a document, or the names of all.",
    shouldDisplay: false)

  var schema: String?
  var manual = false

  mutating func rows(_ row: inout OptionRows) {
    row.argument(&schema, "<schema>", "Name of the document, such as crashpadctl-inspect/1.")
    row.flag(&manual, "--manual", "Print the section of crashpadctl-json(5) instead.")
  }

  func run() throws {
    guard let schema else {
      for document in CommandTable.documents { Terminal.output(document.schema + "\n") }
      return
    }
    guard let document = CommandTable.documents.first(where: { $0.schema == schema }) else {
      throw Terminal.failure("crashpadctl: error: there is no document '\(TextFormat.printable(schema))'", .usage)
    }
    if manual { return Terminal.output(ManualMembers.lines(document).joined(separator: "\n") + "\n") }
    JSONWriter.standardOutput(.indented) { JSONSchema(document: document).write(to: &$0) }
  }
}
