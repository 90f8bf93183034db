import Foundation
import CrashpadReportPage
import Testing

struct CrashPageTests {
  private static func page() -> CrashPage {
    var page = CrashPage(title: "server: SIGSEGV", subtitle: "crash.dmp: minidump", generator: "crashpadctl")
    var explanation = CrashPage.Explanation(summary: "A null pointer was used.", isCrash: true)
    explanation.parts = [
      .init("Evidence", [.init("It was in main", place: "thread 0, frame 4", frame: .init(thread: 0, number: 4))])
    ]
    page.explanation = explanation
    var crashed = CrashPage.Stack(threads: [.init(index: 0, id: "id 1", name: "main")])
    crashed.isCrashed = true
    crashed.frames = (0..<8).map { number in
      var frame = CrashPage.Frame(number: number, name: "function\(number)")
      frame.isOwn = number == 4
      frame.isMarked = number == 4
      return frame
    }
    var other = CrashPage.Stack(threads: [.init(index: 1), .init(index: 2, name: "worker")])
    other.frames = [CrashPage.Frame(number: 0, name: "poll")]
    page.stacks = [crashed, other]
    return page
  }

  private static func text(_ page: CrashPage) -> String { String(decoding: page.html(), as: UTF8.self) }

  @Test func `Frames have names to link to, and evidence links to its frame`() {
    let text = Self.text(Self.page())
    #expect(text.contains("<a href=\"#t0f4\">thread 0, frame 4</a>"))
    #expect(text.contains("<li id=\"t0f4\" class=\"own first\"><a href=\"#t0f4\">4</a>"))
    #expect(text.contains("<li id=\"t1f0\"><a href=\"#t1f0\">0</a>"))
  }

  @Test func `Three frames of the system and more fold around those of the program`() {
    let text = Self.text(Self.page())
    #expect(text.contains("Frames 0 to 3, of the system: <code>function0</code>"))
    #expect(text.contains("Frames 5 to 7, of the system"))
    // Without a script nothing is folded.
    let details = text.split(separator: "<details").dropFirst()
    #expect(details.count >= 3)
    #expect(details.allSatisfy { $0.hasPrefix(" open data-fold") })
  }

  @Test func `Threads with one stack stand together`() {
    let text = Self.text(Self.page())
    #expect(text.contains("2 threads, 1 stack: "))
    #expect(text.contains("<li id=\"t2\"><b>Thread 2</b>, <q>worker</q></li>"))
    #expect(!text.contains("t2f0"))
  }

  @Test func `A long text stands whole at the end, once, with a link from each of its places`() {
    var page = Self.page()
    let long = "begin<&>" + String(repeating: "x", count: 1_000_000) + "end"
    page.annotations = [.init(module: nil, name: "a", value: long), .init(module: long, name: "b", value: long)]
    let text = Self.text(page)
    #expect(text.utf8.count < 1_100_000)
    #expect(text.components(separatedBy: "xend</pre>").count == 2)
    #expect(text.components(separatedBy: "<a href=\"#text1\">(whole: 1,000,011 characters)</a>").count == 4)
  }

  @Test func `A page says what is missing in a dump`() {
    var page = Self.page()
    page.isDamaged = true
    #expect(Self.text(page).contains("<p class=\"note\">The dump is not whole: crash.dmp: minidump</p>"))
    #expect(!Self.text(Self.page()).contains("not whole"))
  }

  @Test func `The policy names the hashes of the style and of the script`() throws {
    let text = Self.text(Self.page())
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
      let start = try #require(text.range(of: "<\(tag)>"))
      let end = try #require(text.range(of: "</\(tag)>", range: start.upperBound..<text.endIndex))
      let hash = try Hashing.sha256(Data(text[start.upperBound..<end.lowerBound].utf8)).base64EncodedString()
      #expect(text.contains("\(directive) &#39;sha256-\(hash)&#39;;"))
    }
    #expect(text.contains("content=\"default-src &#39;none&#39;; "))
  }
}

/// The digests of coreutils, to compare with.
enum Hashing {
  static func sha256(_ data: Data) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try data.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    process.arguments = [file.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let digits = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).prefix(64)
    process.waitUntilExit()
    return Data(stride(from: 0, to: 64, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) })
  }
}
