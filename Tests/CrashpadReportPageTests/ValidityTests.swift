// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// A strict parser of HTML: Python's html5lib, where it is installed.
enum StrictParser {
  /// The Python that has it; nil without one.
  static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first { path in
    FileManager.default.isExecutableFile(atPath: path) && (try? run(path, ["-c", "import html5lib"]))?.status == 0
  }

  private static let program = """
    import sys, html5lib
    parser = html5lib.HTMLParser(strict=True)
    parser.parse(open(sys.argv[1], 'rb').read(), transport_encoding='utf-8')
    """

  /// Nothing of a valid page.
  static func faults(in page: URL) throws -> String {
    let result = try run(try #require(python), ["-c", program, page.path])
    return result.status == 0 ? "" : String(result.errors.suffix(400))
  }

  private static func run(_ path: String, _ arguments: [String]) throws -> (status: Int32, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}

struct ValidityTests {
  @Test(.enabled(if: StrictParser.python != nil, "html5lib is not installed"))
  func `Pages are valid HTML`() throws {
    let folder = try TemporaryFolder()
    #expect(try StrictParser.faults(in: Samples.page(of: Samples.crash(), in: folder)) == "")
    let (dump, _) = try Samples.withTexts(Samples.crash(), in: folder) { Samples.hostile[$0 % Samples.hostile.count] }
    #expect(try StrictParser.faults(in: Samples.page(of: dump, in: folder)) == "")
  }

  @Test func `The same dump makes the same page`() throws {
    let folder = try TemporaryFolder()
    let first = try Data(contentsOf: Samples.page(of: Samples.crash(), in: folder))
    #expect(try Data(contentsOf: Samples.page(of: Samples.crash(), in: folder)) == first)
  }

  @Test func `A dump of 500 threads makes a page of at most 2 MB`() throws {
    let folder = try TemporaryFolder()
    let page = try Data(contentsOf: Samples.page(of: Samples.crash(threads: 500), in: folder))
    #expect(page.count <= 2_000_000)
    #expect(String(decoding: page, as: UTF8.self).contains("id=\"t499\""))
  }

  @Test func `Source lines are quoted from the directory alone`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("outside".utf8), to: "secret.c")
    try folder.write(Array("int a;\nint <b>;\nint c;\n".utf8), to: "src/lib/cart.c")
    try FileManager.default.createSymbolicLink(
      atPath: folder.url("src/link.c").path, withDestinationPath: folder.url("secret.c").path)
    func page(_ path: String) throws -> String {
      let report = """
        {"app_name":"Shop","bug_type":"309"}
        {"procName":"Shop","pid":1,"faultingThread":0,"exception":{"type":"EXC_CRASH","signal":"SIGABRT"},
        "threads":[{"triggered":true,"frames":[{"imageIndex":0,"imageOffset":16,"symbol":"total","symbolLocation":4,
        "sourceFile":"\(path)","sourceLine":2}]}],"usedImages":[{"base":4096,"size":4096,"name":"Shop","path":"/Shop"}]}
        """
      try folder.write(Array(report.utf8), to: "crash.ips")
      let result = try Tool.run(
        ["report", "--no-system", "--source", "src", "crash.ips", "-o", "crash.html"], in: folder)
      #expect(result.status == 0, "\(result.errorText)")
      let page = String(decoding: try folder.bytes(of: "crash.html"), as: UTF8.self)
      let isQuoted = page.contains("<pre class=\"source\"")
      #expect(result.errorText.contains("src: warning: ") == !isQuoted)
      return page
    }
    #expect(try page("/build/lib/cart.c").contains("<mark>2&gt; int &lt;b&gt;;</mark>"))
    for path in ["../secret.c", "/src/../secret.c", folder.url("secret.c").path, "link.c", "lib", ""] {
      #expect(!(try page(path)).contains("<pre class=\"source\""), "\(path)")
    }
  }
}
