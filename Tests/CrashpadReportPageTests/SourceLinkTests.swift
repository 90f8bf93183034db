// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Links from frames to lines in an editor or a browser.
struct SourceLinkTests {
  /// The page of a report whose frame is at line 2 of a file.
  private func page(_ file: String, _ options: [String], in folder: TemporaryFolder) throws -> String {
    let report = """
      {"app_name":"Shop","timestamp":"2026-03-14 15:09:26.00 +0100","bug_type":"309","os_version":"iPhone OS 18.4"}
      {"procName":"Shop","procPath":"/Shop","cpuType":"ARM-64","faultingThread":0,
      "exception":{"type":"EXC_CRASH","signal":"SIGABRT"},
      "threads":[{"triggered":true,"frames":[{"imageOffset":1,"imageIndex":0,"symbol":"load","symbolLocation":1,
      "sourceFile":"\(file)","sourceLine":2}]}],"usedImages":[{"base":4096,"size":4096,"name":"Shop","path":"/Shop"}]}
      """
    try folder.write(Array(report.utf8), to: "crash.ips")
    let result = try Tool.run(
      ["report", "--no-system", "crash.ips", "-o", "crash.html"] + options, in: folder)
    guard result.status == 0 else { throw Browser.Failure(description: result.errorText) }
    return String(decoding: try folder.bytes(of: "crash.html"), as: UTF8.self)
  }

  @Test(arguments: [
    ("/src/a b/Cart.swift", "vscode://file{file}:{line}", "vscode://file/src/a%20b/Cart.swift:2"),
    ("C:\\\\src\\\\cart.cpp", "vscode://file/{file}:{line}", "vscode://file/C%3A/src/cart.cpp:2"),
    (
      "/build/src/Cart.swift", "https://example.com/{path}?a=1&b#L{line}",
      "https://example.com/src/Cart.swift?a=1&amp;b#L2"
    ),
    (
      "/b/src/\\\"><b>.swift", "xed://open?file={file}&line={line}",
      "xed://open?file=/b/src/%22%3E%3Cb%3E.swift&amp;line=2"
    ),
    // The file of the symbols can't bring placeholders of its own.
    ("/b/{line}/x.c", "edit:{file}", "edit:/b/%7Bline%7D/x.c"),
  ])
  func `A frame links to its line`(file: String, template: String, address: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("one\ntwo\n".utf8), to: "tree/src/Cart.swift")
    let text = try page(file, ["--source", "tree", "--source-link", template], in: folder)
    #expect(
      text.contains("<span class=\"src\"><a href=\"\(address)\">"),
      "\(text.matches(of: #/<span class="src">.*/#).map(\.0))")
  }

  @Test(arguments: [("Cart.swift", "edit:{file}"), ("/b/gone.swift", "edit:{path}"), ("/b/../../x", "edit:{path}")])
  func `A file whose place is not known has no link`(file: String, template: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("one\ntwo\n".utf8), to: "tree/src/Cart.swift")
    let text = try page(file, ["--source", "tree", "--source-link", template], in: folder)
    #expect(text.contains("<span class=\"src\">") && !text.contains("<span class=\"src\"><a"))
  }

  @Test func `A link that runs a script, names no file, or names directories of a redacted page is refused`() throws {
    let folder = try TemporaryFolder()
    for options in [
      ["--source-link", "javascript:alert('{file}')"], ["--source-link", "JavaScript:{file}"],
      ["--source-link", "data:text/html,{file}"], ["--source-link", "{file}:edit"], ["--source-link", "edit:{line}"],
      ["--source-link", "edit it:{file}"], ["--source-link", "edit:{path}"],
      ["--source-link", "edit:{file}", "--redact"],
    ] {
      let result = try Tool.run(["report", "x.ips", "-o", "x.html"] + options, in: folder)
      #expect(result.status == 64, "\(options): \(result.errorText)")
    }
    try folder.write(Array("one\ntwo\n".utf8), to: "tree/Cart.swift")
    let text = try page(
      "/Users/jane/Cart.swift", ["--source", "tree", "--source-link", "edit:{path}", "--redact"], in: folder)
    #expect(text.contains("<a href=\"edit:Cart.swift\">") && !text.contains("jane"))
  }
}
