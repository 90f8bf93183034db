// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import CrashpadReportPage
import Testing
import ToolRunner

/// Pages about many crashes, made by the tool.
struct ManyTests {
  /// Dumps of three faults: four, two and one of them.
  static func dumps(in folder: TemporaryFolder) throws {
    for (index, seed) in [1, 1, 1, 1, 2, 2, 3].enumerated() {
      var parameters = SynthParameters(architecture: .arm64, seed: UInt64(seed))
      parameters.exception = seed == 2 ? .abort : .badAccess
      parameters.threadCount = 2
      try folder.write(SynthDump(parameters).bytes, to: "artifacts/\(index).idump")
      try renumber("artifacts/\(index).idump", pid: 1000 + index, in: folder)
    }
  }

  /// Gives a dump another process id: copies of a dump are one crash.
  private static func renumber(_ name: String, pid: Int, in folder: TemporaryFolder) throws {
    _ = try Tool.run(["convert", "--to", "json", name, "-o", "a.json"], in: folder)
    let text = String(decoding: try folder.bytes(of: "a.json"), as: UTF8.self)
    let changed = text.replacing(/("kPID",\s*"value": )\d+/) { "\($0.1)\(pid)" }
    try folder.write(Array(changed.utf8), to: "a.json")
    _ = try Tool.run(["convert", "--to", "idump", "a.json", "-o", name], in: folder)
  }

  static func run(_ arguments: [String], in folder: TemporaryFolder, status: Int32 = 0) throws -> String {
    let result = try Tool.run(arguments, in: folder)
    #expect(result.status == status, "\(result.errorText)")
    return result.errorText
  }

  static func text(_ name: String, in folder: TemporaryFolder) throws -> String {
    String(decoding: try folder.bytes(of: name), as: UTF8.self)
  }

  @Test func `A directory makes a page of its groups, the same whatever the number of jobs`() throws {
    let folder = try TemporaryFolder()
    try Self.dumps(in: folder)
    _ = try Self.run(["report", "--no-system", "--jobs", "1", "artifacts", "-o", "a.html"], in: folder)
    _ = try Self.run(["report", "--no-system", "--jobs", "2", "artifacts", "-o", "b.html"], in: folder)
    let text = try Self.text("a.html", in: folder)
    #expect(try Self.text("b.html", in: folder) == text)
    #expect(text.contains("<h1>7 crashes in 3 groups</h1>"))
    #expect(text.contains("data-value=\"4\"><b>4</b>"))
    #expect(text.components(separatedBy: "<details open data-fold id=\"e").count == 4)
    if StrictParser.python != nil { #expect(try StrictParser.faults(in: folder.url("a.html")) == "") }
  }

  @Test func `Split pages stand beside the page, which links to them`() throws {
    let folder = try TemporaryFolder()
    try Self.dumps(in: folder)
    _ = try Self.run(["report", "--no-system", "--split", "artifacts", "-o", "all #1.html"], in: folder)
    let names = try folder.names(in: "all #1-crashes")
    #expect(names.count == 3)
    let text = try Self.text("all #1.html", in: folder)
    for name in names {
      #expect(text.contains("<a href=\"./all%20%231-crashes/\(name)\">"))
      #expect(
        try Self.text("all #1-crashes/\(name)", in: folder).contains("<h2 id=\"stack-title\">Crashed thread</h2>"))
    }
  }

  @Test func `Groups are compared with those of an earlier run`() throws {
    let folder = try TemporaryFolder()
    try Self.dumps(in: folder)
    let before = try Tool.run(
      ["group", "--no-system", "--format", "json", "artifacts/0.idump", "artifacts/4.idump", "artifacts/5.idump"],
      in: folder)
    try folder.write([UInt8](before.output), to: "before.json")
    _ = try Self.run(
      [
        "report", "--no-system", "--baseline", "before.json", "artifacts/0.idump", "artifacts/1.idump",
        "artifacts/6.idump",
        "-o", "a.html",
      ], in: folder)
    #expect(try Self.text("a.html", in: folder).contains("Compared with the earlier run: 1 new, 1 grown, 1 gone."))
    try folder.write(Array("{}".utf8), to: "before.json")
    let message = try Self.run(
      ["report", "--no-system", "--baseline", "before.json", "artifacts", "-o", "c.html"], in: folder, status: 65)
    #expect(message.contains("before.json: error: is not a crashpadctl-group/1 document"))
    #expect(!folder.exists("c.html"))
  }

  @Test(arguments: ["inspect", "symbolize", "group"])
  func `A command writes a page beside its output`(command: String) throws {
    let folder = try TemporaryFolder()
    try Self.dumps(in: folder)
    _ = try Self.run([command, "artifacts/0.idump", "artifacts/6.idump", "--html", "a.html"], in: folder)
    #expect(try Self.text("a.html", in: folder).contains("<h1>2 crashes in 2 groups</h1>"))
  }

  @Test(arguments: [[], ["--index", "crashes.sqlite"]])
  func `group shows the sentence and the stack of each example`(options: [String]) throws {
    let folder = try TemporaryFolder()
    try Self.dumps(in: folder)
    // The second run of an index reads no dump anew.
    for _ in 0..<2 {
      _ = try Self.run(["group", "--no-system", "artifacts", "--html", "a.html"] + options, in: folder)
    }
    let page = try Self.text("a.html", in: folder)
    #expect(page.components(separatedBy: "<details open data-fold id=\"e").count == 4)
    #expect(page.contains("<p class=\"sub\">The stack in "))
    #expect(page.firstMatch(of: /<li id="s[0-9a-f]{16}f0"/) != nil)
    _ = try Self.run(["report", "--no-system", "artifacts", "-o", "b.html"], in: folder)
    #expect(try Self.text("b.html", in: folder) == page)
  }

  @Test func `Partial results have groups and no stacks`() throws {
    let folder = try TemporaryFolder()
    try Self.dumps(in: folder)
    _ = try Self.run(["group", "--no-system", "artifacts", "--partial", "part.json"], in: folder)
    _ = try Self.run(["group", "--merge", "part.json", "--html", "a.html"], in: folder)
    let page = try Self.text("a.html", in: folder)
    #expect(page.contains("<h1>7 crashes in 3 groups</h1>"))
    #expect(!page.contains("<ol class=\"stack\""))
  }

  @Test func `process writes a page of the reports that it made`() throws {
    let folder = try TemporaryFolder()
    try folder.write(
      Samples.crash(threads: 2),
      to: "DB/pending-serialized-ios-dump/com.example.app@1b4e28ba-2fa1-41d2-883f-0016d3cca427")
    _ = try Self.run(["process", "--database", "DB", "--html", "a.html", "--dry-run"], in: folder)
    #expect(!folder.exists("a.html"))
    _ = try Self.run(["process", "--database", "DB", "--html", "a.html"], in: folder)
    #expect(try Self.text("a.html", in: folder).contains("<h2 id=\"stack-title\">Crashed thread</h2>"))
  }

  @Test(.enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
  func `run writes a page when the program crashes, and none when it does not`() throws {
    let folder = try TemporaryFolder()
    let library = try HandlerLibrary.path()
    let start = ["run", "--database", "DB", "--handler-library", library, "--html", "a.html", "--"]
    _ = try Self.run(start + ["/bin/sh", "-c", "exit 3"], in: folder, status: 3)
    #expect(!folder.exists("a.html"))
    _ = try Self.run(start + ["/bin/sh", "-c", "kill -SEGV $$"], in: folder, status: 139)
    #expect(try Self.text("a.html", in: folder).contains("SIGSEGV"))
  }

  @Test(
    .enabled(if: Browser.path != nil, "chromium is not installed"), .timeLimit(.minutes(3)),
    arguments: Soak.some(1, of: [360, 1440]))
  func `The page of groups filters by version and sorts, and is easy to use`(width: Int) throws {
    let folder = try TemporaryFolder()
    try folder.write(GroupsPageTests.page(groups: 30).html(), to: "a.html")
    let browser = try Browser(folder)
    try browser.open(folder.url("a.html"), width: width, theme: width == 360 ? "dark" : "light")
    #expect(try browser.value(Audit.script).array.compactMap(\.string) == [])
    // The texts of an image that shrinks with the page would be a few pixels high.
    #expect(
      try browser.value("Array.from(document.querySelectorAll('.axis')).filter(e => e.offsetHeight >= 16).length").int
        == 2)
    #expect(try browser.value("document.querySelector('svg.chart').getBoundingClientRect().height").int == 88)
    let shown = "Array.from(document.querySelectorAll('#groups tbody tr')).filter(e => !e.hidden).length"
    #expect(try browser.value(shown).int == 30)
    _ = try browser.value(
      "(function (e) { e.value = '1'; e.dispatchEvent(new Event('change')); }(document.querySelector('#groups select')))"
    )
    #expect(try browser.value(shown).int == 10)
    #expect(try browser.tab(to: "e.tagName === 'INPUT' && e.closest('section').id === 'groups'"))
    try browser.call("Input.insertText", ["text": "total<4>"])
    #expect(try browser.value(shown).int == 1)
    #expect(try browser.tab(to: "e.textContent === 'Signature' && e.closest('#groups')"))
    try browser.press("Enter")
    #expect(
      try browser.value("document.querySelector('#groups th[aria-sort]').textContent").string == "Signature")
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  /// Names without a place to break at, in each column, and details of groups that are open.
  @Test(
    .enabled(if: Browser.path != nil, "chromium is not installed"), .timeLimit(.minutes(3)),
    arguments: Soak.some(1, of: [320, 800, 1440]))
  func `Long names of versions, devices and systems are cut off nowhere`(width: Int) throws {
    let folder = try TemporaryFolder()
    var page = GroupsPageTests.page(groups: 12)
    for index in page.groups.indices {
      let name = String(repeating: "vector<", count: 40) + "\(index)"
      page.groups[index].versions = [.init("1." + String(repeating: "0123456789", count: 30), 3), .init(name, 2)]
      page.groups[index].devices = [.init(name, 3), .init("no_break_" + String(repeating: "abc", count: 90), 2)]
      page.groups[index].systems = [.init(String(repeating: "\u{65e5}", count: 200), 5)]
      page.groups[index].text = "trap \u{b7} \(name)::push \u{b7} \(name)"
      page.deviceDays[name] = [20_000: 2, 20_003: 1]
    }
    try folder.write(page.html(), to: "a.html")
    let browser = try Browser(folder)
    try browser.open(folder.url("a.html"), width: width)
    _ = try browser.value("document.querySelectorAll('details').forEach(function (e) { e.open = true; })")
    #expect(try browser.value(Audit.script).array.compactMap(\.string) == [])
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test(.enabled(if: Browser.path != nil, "chromium is not installed"), .timeLimit(.minutes(3)))
  func `Filters combine, and a function opens the details of its group by keyboard`() throws {
    let folder = try TemporaryFolder()
    try folder.write(GroupsPageSamples.releases().html(), to: "a.html")
    let browser = try Browser(folder)
    try browser.open(folder.url("a.html"))
    let shown =
      "Array.from(document.querySelectorAll('#groups tbody tr[id]')).filter(e => !e.hidden).map(e => e.id + ' ' + e.cells[0].firstElementChild.textContent).join()"
    #expect(try browser.value(shown).string == "galways 270,gback 15,gnew 4")
    func choose(_ label: String, _ option: String) throws {
      _ = try browser.value(
        """
        (function (list) {
          list.value = Array.from(list.options).filter(e => e.textContent === '\(option)')[0].value;
          list.dispatchEvent(new Event('change'));
        }(Array.from(document.querySelectorAll('.filters label')).filter(e => e.firstChild.data === '\(label) ')[0].lastChild))
        """)
    }
    try choose("Version", "3")
    #expect(try browser.value(shown).string == "galways 90,gback 5,gnew 4")
    try choose("Show", "back")
    #expect(try browser.value(shown).string == "gback 5")
    try choose("Show", "all groups")
    try choose("From", "2023-11-26")
    try choose("Version", "2")
    #expect(try browser.value(shown).string == "")
    try choose("From", "2023-11-14")
    try choose("Version", "all")

    #expect(try browser.tab(to: "e.getAttribute('href') === '#eback' && e.closest('#groups')"))
    try browser.press("Enter")
    #expect(try browser.value("document.querySelector('#gback + tr.details details').open").bool == true)
    #expect(try browser.value("document.activeElement.textContent").string == "trap · back")
    #expect(try browser.value("document.querySelectorAll('.chart .one rect').length").int == 4)
    #expect(try browser.value(Audit.script).array.compactMap(\.string) == [])
    // Sorting takes it back to its place.
    #expect(try browser.tab(to: "e.textContent === 'Crashes' && e.closest('#groups')", limit: 400))
    try browser.press("Enter")
    #expect(try browser.value("document.querySelectorAll('#details details').length").int == 3)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }
}
