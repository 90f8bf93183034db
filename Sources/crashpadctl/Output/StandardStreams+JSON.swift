// SPDX-License-Identifier: Apache-2.0
import CrashpadJSON

extension JSONWriter {
  /// Writes one document to standard output. A failure would lose data, so it ends the tool.
  static func standardOutput(_ layout: Layout, _ body: (inout JSONWriter) -> Void) {
    var json = JSONWriter(layout) { try Terminal.writeOutput($0) }
    body(&json)
    do { try json.finish() } catch { Terminal.fail(writing: error) }
  }
}
