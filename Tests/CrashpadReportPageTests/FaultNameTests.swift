// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The fault has one name on a page, and a recursion one place.
struct FaultNameTests {
  /// A crash of Shop in a helper that raises for its callers, with frames from `extra` above `main`.
  static func report(_ functions: [String]) -> String {
    let frames = functions.enumerated().map { index, function in
      let image = function == "abort" ? 1 : 0
      return "{\"imageIndex\":\(image),\"imageOffset\":\(16 + index),\"symbol\":\"\(function)\",\"symbolLocation\":4}"
    }
    return """
      {"app_name":"Shop","bug_type":"309","app_version":"2.1","build_version":"7","os_version":"iPhone OS 17.5.1 (21F90)"}
      {"procName":"Shop","procPath":"/private/var/containers/Bundle/Application/A/Shop.app/Shop","pid":1,"faultingThread":0,
      "procRole":"Foreground","modelCode":"iPhone14,2","captureTime":"2025-05-06 07:08:09.1234 +0200",
      "procLaunch":"2025-05-06 06:08:09.1234 +0200","osVersion":{"train":"iPhone OS 17.5.1","build":"21F90"},
      "bundleInfo":{"CFBundleShortVersionString":"2.1","CFBundleVersion":"7","CFBundleIdentifier":"com.example.Shop"},
      "exception":{"type":"EXC_CRASH","signal":"SIGABRT"},
      "threads":[{"triggered":true,"frames":[\(frames.joined(separator: ","))]},
      {"frames":[{"imageIndex":1,"imageOffset":64,"symbol":"__psynch_mutexwait","symbolLocation":8}]}],
      "usedImages":[{"base":4096,"size":4096,"uuid":"11111111-2222-3333-4444-555555555555","name":"Shop",
      "path":"/private/var/containers/Bundle/Application/A/Shop.app/Shop"},
      {"base":8192,"size":4096,"name":"libsystem_c.dylib","path":"/usr/lib/system/libsystem_c.dylib"}]}
      """
  }

  private static func page(_ functions: [String], _ options: [String] = []) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(Array(report(functions).utf8), to: "my crash.ips")
    let result = try Tool.run(["report", "--no-system", "my crash.ips", "-o", "a.html"] + options, in: folder)
    try #require(result.status == 0, "\(result.errorText)")
    return String(decoding: try folder.bytes(of: "a.html"), as: UTF8.self)
  }

  @Test func `Title, stack, evidence and signature name one function`() throws {
    let page = try Self.page(["abort", "Cart.total()", "Cart.show()", "main"])
    #expect(page.contains("<h1>Shop: abort · Cart.total"))
    #expect(page.contains("<li id=\"t0f1\" class=\"own first\">"))
    #expect(page.components(separatedBy: "the crash is grouped by this function").count == 2)
    let evidence = try #require(page.firstMatch(of: /<dt>Evidence<\/dt>.*/)).output
    #expect(evidence.contains("Cart.total()") && !evidence.contains("Cart.show()"))
    #expect(page.firstMatch(of: /<dt>Signature<\/dt><dd>[0-9a-f]{16}  abort · Cart\.total/) != nil)
  }

  @Test func `The head says the program, its version, device, system, time and state`() throws {
    let page = try Self.page(["abort", "Cart.total()"], ["--title", "Ticket <7>"])
    #expect(page.contains("<h1>Ticket &lt;7&gt;</h1>\n<p class=\"fault\">abort · Cart.total"))
    for fact in [
      "Program</dt><dd>com.example.Shop", "Version</dt><dd>2.1 (7)", "Device</dt><dd>iPhone14,2",
      "System</dt><dd>iOS 17.5.1 (21F90)", "Time</dt><dd>2025-05-06 05:08:09", "Running for</dt><dd>1 h 0 m 0 s",
      "State</dt><dd>Foreground",
    ] {
      #expect(page.contains("<dt>\(fact)"), "\(fact)")
    }
  }

  @Test(arguments: [1, 2, 5])
  func `Rounds of a recursion fold behind the first`(period: Int) throws {
    let round = (0..<period).map { "round\($0)" }
    let page = try Self.page(["abort"] + (0..<40).flatMap { _ in round } + ["main"])
    let last = 40 * period
    let words = "Frames \(1 + period) to \(last) repeat " + (period == 1 ? "frame 1" : "frames 1 to \(period)")
    #expect(page.contains("<b>× 39</b> \(words)"))
    // Each frame is there, once.
    for number in 0...last + 1 { #expect(page.components(separatedBy: "id=\"t0f\(number)\"").count == 2) }
  }

  @Test func `Frames that are alike only twice do not fold`() throws {
    #expect(!(try Self.page(["abort", "a", "b", "a", "b", "c"])).contains("repeat frame"))
  }

  @Test func `A thread says what it waits for`() throws {
    #expect(try Self.page(["abort", "a"]).contains("<em>waits for a lock</em>"))
  }

  @Test func `Missing symbols of the program come first, with the commands that get them`() throws {
    let page = try Self.page(["", "abort"])
    #expect(page.contains("1 module of this stack has no symbols: names of the program are missing"))
    #expect(page.contains("crashpadctl symbolize --missing &#39;my crash.ips&#39;"))
    #expect(page.contains("crashpadctl report --symbols DIR &#39;my crash.ips&#39; -o crash.html"))
    #expect(page.contains("com_apple_xcode_dsym_uuids == 11111111-2222-3333-4444-555555555555"))
  }

  @Test func `Names of a report are not called missing`() throws {
    let page = try Self.page(["abort", "Cart.total()"])
    #expect(page.contains("the names are those of the report, and lines and inlined calls may be missing"))
    #expect(!page.contains("names of the program are missing"))
  }

  @Test func `The name of a method does not break within its brackets`() throws {
    let page = try Self.page(["abort", "-[Cart total:with:]"])
    #expect(page.contains("<h1>Shop: abort · <span class=\"whole\">-[Cart</span> total:with:]</h1>"))
    #expect(
      try Self.page(["abort", "a::b<c::d>::e(f::g)"]).contains(
        "<code>a::<wbr>b&lt;<i>c::<wbr>d</i>&gt;::<wbr>e(<i>f::<wbr>g</i>)</code>"))
  }

  @Test(
    .enabled(if: Browser.path != nil, "chromium is not installed"), .timeLimit(.minutes(3)),
    arguments: Soak.some(1, of: [360, 1440]))
  func `Long names make a page no wider than its window`(width: Int) throws {
    let long = String(repeating: "LongName", count: 20)
    let names = [
      "-[\(long) \(long):]", "\(long)::\(long)<\(long)>(\(long))", "__186-[\(long) a]_block_invoke", "abort", "\(long)",
      "b", "c",
    ]
    let folder = try TemporaryFolder()
    let browser = try Browser(folder)
    try folder.write(Array(try Self.page(["abort"] + names).utf8), to: "a.html")
    try browser.open(folder.url("a.html"), width: width)
    _ = try browser.value("document.querySelectorAll('details').forEach(function (e) { e.open = true; })")
    #expect(try browser.value(Audit.script).array.compactMap(\.string) == [])
  }
}
