// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Pages in a real browser.
@Suite(.enabled(if: Browser.path != nil, "chromium is not installed"), .serialized, .timeLimit(.minutes(3)))
struct BrowserTests {
  @Test(
    arguments: Soak.some(2, of: ["light", "dark"].flatMap { theme in [360, 1440].map { (theme, $0) } }))
  func `A page writes nothing to the console, loads nothing, and is easy to use`(theme: String, width: Int) throws {
    let folder = try TemporaryFolder()
    let browser = try Browser(folder)
    try browser.open(try Samples.page(of: Samples.crash(), in: folder), width: width, theme: theme)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    #expect(try browser.value(Audit.script).array.compactMap(\.string) == [])
    _ = try browser.value("document.querySelectorAll('details').forEach(function (e) { e.open = true; })")
    #expect(try browser.value(Audit.script).array.compactMap(\.string) == [])
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `Everything that can be used has a name in the accessibility tree`() throws {
    let folder = try TemporaryFolder()
    let browser = try Browser(folder)
    try browser.open(try Samples.page(of: Samples.crash(), in: folder))
    let nodes = try browser.call("Accessibility.getFullAXTree")["nodes"].array.filter { $0["ignored"].bool != true }
    func names(_ role: String) -> [String] {
      nodes.filter { $0["role"]["value"].string == role }.map { $0["name"]["value"].string ?? "" }
    }
    for role in [
      "button", "link", "searchbox", "table", "region", "navigation", "image", "heading", "DisclosureTriangle",
    ] {
      #expect(names(role).allSatisfy { !$0.isEmpty }, "\(role)")
    }
    #expect(names("main").count == 1)
    #expect(names("navigation") == ["Parts of this page"])
    #expect(Set(names("region")).isSuperset(of: ["What happened", "Crashed thread", "Registers", "Modules"]))
    #expect(names("searchbox").contains("Filter threads"))
    #expect(names("button").contains("Copy as text"))
  }

  @Test func `The keyboard alone skips, unfolds, filters and sorts`() throws {
    let folder = try TemporaryFolder()
    let browser = try Browser(folder)
    try browser.open(try Samples.page(of: Samples.crash(), in: folder))
    try browser.press("Tab")
    #expect(try browser.value("document.activeElement.className").string == "skip")
    #expect(try browser.value("document.querySelectorAll('details[open]').length").int == 0)

    #expect(try browser.tab(to: "e.textContent === 'Unfold all'"))
    try browser.press("Enter")
    #expect(try browser.value("document.querySelectorAll('details:not([open])').length").int == 0)
    #expect(try browser.tab(to: "e.textContent === 'Fold all'"))
    try browser.press(" ")
    #expect(try browser.value("document.querySelectorAll('details[open]').length").int == 0)
    #expect(try browser.value("document.getElementById('status').textContent").string == "Everything is folded")

    #expect(try browser.tab(to: "e.tagName === 'INPUT' && e.closest('section').id === 'threads'"))
    try browser.call("Input.insertText", ["text": "thread 3,"])
    let shown =
      "Array.from(document.querySelectorAll('#threads details[id]')).filter(e => !e.hidden).map(e => e.id).join()"
    #expect(try browser.value(shown).string == "t3")
    #expect(try browser.value("document.getElementById('status').textContent").string == "1 of 5 threads")

    #expect(try browser.tab(to: "e.tagName === 'SUMMARY' && e.parentElement.id === 't3'"))
    try browser.press("Enter")
    #expect(try browser.value("document.getElementById('t3').open").bool == true)

    let cells = "Array.from(document.querySelectorAll('#annotations tbody th')).map(e => e.textContent)"
    let names = try browser.value(cells).array.compactMap(\.string)
    #expect(try browser.tab(to: "e.textContent === 'Name' && e.closest('#annotations')"))
    try browser.press("Enter")
    let header = "document.querySelector('#annotations th[aria-sort]').getAttribute('aria-sort')"
    #expect(try browser.value(header).string == "ascending")
    let ascending = try browser.value(cells).array.compactMap(\.string)
    try browser.press("Enter")
    #expect(try browser.value(header).string == "descending")
    #expect(names.count > 6)
    #expect(ascending != names)
    #expect(ascending.sorted() == names.sorted())
    #expect(try browser.value(cells).array.compactMap(\.string) == ascending.reversed())
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `A link to a frame unfolds its stack`() throws {
    let folder = try TemporaryFolder()
    let browser = try Browser(folder)
    let page = try Samples.page(of: Samples.crash(), in: folder)
    try browser.open(page, fragment: "#t4f2")
    #expect(try browser.value("document.getElementById('t4').open").bool == true)
    #expect(try browser.value("document.getElementById('t3').open").bool == false)
    #expect(try browser.value("document.querySelector(':target').id").string == "t4f2")
  }

  @Test(arguments: Soak.some(1, of: [360, 800, 1440]))
  func `The list of parts stays in view, and marks the one that is read`(width: Int)
    throws
  {
    let folder = try TemporaryFolder()
    let browser = try Browser(folder)
    try browser.open(try Samples.page(of: Samples.crash(), in: folder), width: width)
    let current = "document.querySelector('nav [aria-current]').textContent"
    #expect(try browser.value(current).string == "What happened")
    for id in ["registers", "threads", "modules"] {
      _ = try browser.value("document.querySelector('nav a[href=\"#\(id)\"]').click()")
      let state = try browser.value(
        """
        new Promise(function (done) { requestAnimationFrame(function () { requestAnimationFrame(function () {
          var nav = document.querySelector('nav').getBoundingClientRect(), link = document.querySelector('nav [aria-current]');
          var box = link.getBoundingClientRect(), title = document.querySelector('#\(id) h2').getBoundingClientRect();
          done([link.hash.slice(1), nav.top >= 0 && nav.bottom <= window.innerHeight, box.left >= 0 && box.right <= window.innerWidth,
            nav.right <= title.left || title.top >= nav.bottom]); }); }); })
        """)
      #expect(state.array.first?.string == id)
      #expect(state.array.dropFirst().compactMap(\.bool) == [true, true, true], "\(id)")
    }
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }

  @Test func `Without scripts everything is there and unfolded`() throws {
    let folder = try TemporaryFolder()
    let browser = try Browser(folder)
    let page = try Samples.page(of: Samples.crash(), in: folder)
    try browser.open(page)
    let text = "document.body.textContent.replace(/\\s+/g, ' ').length"
    let withScripts = try #require(try browser.value(text).int)
    try browser.open(page, runsScripts: false)
    #expect(try browser.value("document.querySelectorAll('details:not([open]), [hidden]').length").int == 0)
    #expect(try browser.value("document.querySelectorAll('button, input').length").int == 0)
    // The script adds only labels of its controls.
    let without = try #require(try browser.value(text).int)
    #expect(withScripts - without < 300 && without > 10_000)
  }

  @Test func `No text of a dump runs, breaks the page, or is lost`() throws {
    let folder = try TemporaryFolder()
    let (dump, count) = try Samples.withTexts(Samples.crash(), in: folder) {
      Samples.hostile[$0 % Samples.hostile.count]
    }
    #expect(count > 40)
    let browser = try Browser(folder)
    try browser.open(try Samples.page(of: dump, in: folder))
    #expect(try browser.value("window.hit === undefined").bool == true)
    #expect(try browser.value("document.querySelectorAll('script').length").int == 1)
    #expect(try browser.value("document.querySelectorAll('img, svg [onload], svg[onload], b b').length").int == 0)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
    let text = try #require(try browser.value("document.body.textContent").string)
    let lost = (0..<count).filter { !text.contains("\($0)#\(Samples.readable[$0 % Samples.readable.count])") }
    #expect(lost.isEmpty)
    let invisible = text.unicodeScalars.filter { $0.properties.generalCategory == .format || $0 == "\0" }
    #expect(invisible.isEmpty)
  }

  @Test func `Texts of a megabyte are whole, and the page stays usable`() throws {
    let folder = try TemporaryFolder()
    let long = Array((String(repeating: "<x>", count: 350_000) + "END").utf8)
    let (dump, _) = try Samples.withTexts(Samples.crash(threads: 2), in: folder) { number in
      number % 40 == 1 ? long : Array("short".utf8)
    }
    let browser = try Browser(folder)
    let page = try Samples.page(of: dump, in: folder)
    try browser.open(page, width: 360)
    #expect(try browser.value("document.documentElement.scrollWidth <= 360").bool == true)
    let wholes = try browser.value(
      "Array.from(document.querySelectorAll('#texts pre')).filter(e => e.textContent.trim().endsWith('END')).length")
    #expect(try #require(wholes.int) >= 2)
    #expect(browser.complaints.isEmpty, "\(browser.complaints)")
  }
}
