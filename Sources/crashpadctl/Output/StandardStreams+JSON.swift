import CrashpadJSON
import SystemPackage

extension JSONWriter {
  /// Writes one document to standard output. A failure would lose data, so it ends the tool.
  static func standardOutput(_ layout: Layout, _ body: (inout JSONWriter) -> Void) {
    var json = JSONWriter(layout) { try Terminal.writeOutput($0) }
    body(&json)
    do { try json.finish() } catch { Terminal.fail(writing: error) }
  }

  /// Writes an object with its schema, the path of a database, and the members of `body` to standard output.
  static func document(_ schema: String, database: FilePath? = nil, _ body: (inout JSONWriter) -> Void) {
    standardOutput(.indented) { json in
      json.object { json in
        json.member("schema", schema)
        if let database { json.member("database", path: database) }
        body(&json)
      }
    }
  }
}
