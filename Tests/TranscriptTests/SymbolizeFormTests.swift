// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

@Suite("The forms of symbolized dumps")
struct SymbolizeFormTests {
  private static let dumps = Samples.files.keys.filter { name in
    ["idump", "dmp", "mdmp"].contains { name.hasSuffix("." + $0) } && !name.contains("/")
  }.sorted()

  private static func run(_ command: String, _ dump: String, in folder: TemporaryFolder) throws -> Tool.Outcome {
    try Samples.write(namedIn: "\(dump) symbols", to: folder)
    return try Tool.shell("crashpadctl symbolize --no-system -s symbols \(command) \(dump)", in: folder)
  }

  // MARK: JSON

  @Test(
    "Every dump gives one JSON document, and the members of a frame fit each other",
    arguments: Soak.some(40, of: dumps))
  func json(_ dump: String) throws {
    let document = try JSONDocument(Self.run("--format json --threads all", dump, in: TemporaryFolder()).output)
    #expect(document["schema"].string == "crashpadctl-symbolize/1")
    guard document["status"].string == "OK" else {
      #expect(document["threads"].isNull && !document["findings"].array.isEmpty)
      return
    }
    let threads = document["threads"].array
    #expect(document["thread_count"].int == threads.count)
    let modules = document["modules"].array
    for thread in threads {
      #expect(thread["frame_count"].int == thread["frames"].array.count)
      #expect(thread["walk_end"].string != nil)
      for (index, frame) in thread["frames"].array.enumerated() {
        #expect(frame["frame"].int == index)
        #expect((frame["offset"].string?.count ?? 0) == 18 || modules.contains { $0["base_addr"].string?.count == 10 })
        guard let module = frame["module_index"].int else {
          #expect(frame["module"].isNull && frame["module_offset"].isNull)
          continue
        }
        #expect(modules[module]["base_addr"].hex! &+ frame["module_offset"].hex! == frame["offset"].hex!)
        #expect(frame["missing_symbols"].bool == frame["function"].isNull)
        #expect(modules[module]["loaded_symbols"].bool != modules[module]["missing_symbols"].bool)
      }
    }
    let crashing = document["crashing_thread"]
    guard let index = crashing["threads_index"].int else { return }
    #expect(document["crash_info"]["crashing_thread"].int == index)
    #expect(crashing["thread_id"].int == threads[index]["thread_id"].int)
    #expect(
      crashing["frames"].array.map { $0["offset"].string } == threads[index]["frames"].array.map { $0["offset"].string }
    )
  }

  // MARK: Apple's form

  /// The expressions of getsentry's apple-crash-report-parser, which takes such reports in.
  private struct Grammar {
    let thread = #/^Thread ([0-9]+)( Crashed)?:\s*(.+?)?\s*$/#
    let name = #/^Thread ([0-9]+) name:\s*(.+?)(?:\s+Dispatch queue:\s*(.*?))?\s*$/#
    let frame = #/^[0-9]+\s+(.+?)\s+(0x[0-9a-fA-F]+)\s+(.*?)(?: (?:\+ [0-9]+|\((.*?):([0-9]+)\)))?\s*$/#
    let image =
      #/^\s*(0x[0-9a-fA-F]+)\s*-\s*(0x[0-9a-fA-F]+)\s+\+?(.+)\s+(\S+?)\s+(?:\(([^)]+?)\))?\s+<([^>]+?)>\s+(.*?)$/#
    let date = #/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{4} \+0000$/#
  }

  @Test("Readers of Apple's reports take every dump in that form", arguments: Soak.some(40, of: dumps))
  func crashReport(_ dump: String) throws {
    let folder = try TemporaryFolder()
    let text = try Self.run("--format crash --threads all", dump, in: folder).text
    let document = try JSONDocument(Self.run("--format json --threads all", dump, in: folder).output)
    guard document["status"].string == "OK" else {
      #expect(text.isEmpty)
      return
    }
    let grammar = Grammar()
    var frames: [Int] = []
    var images = 0
    var part = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.wholeMatch(of: grammar.thread) != nil {
        frames.append(0)
        part = "thread"
      } else if line == "Binary Images:" {
        part = "images"
      } else if line.isEmpty {
        part = part == "images" ? part : ""
      } else if part == "thread" {
        #expect(line.wholeMatch(of: grammar.frame) != nil, "\(line)")
        frames[frames.count - 1] += 1
      } else if part == "images" {
        let match = try #require(line.wholeMatch(of: grammar.image), "\(line)")
        #expect(match.output.6.count == 32 && UInt64(match.output.6.prefix(16), radix: 16) != nil, "\(line)")
        #expect(UInt64(match.output.1.dropFirst(2), radix: 16)! <= UInt64(match.output.2.dropFirst(2), radix: 16)!)
        images += 1
      } else if line.hasPrefix("Date/Time: ") {
        #expect(line.dropFirst(21).wholeMatch(of: grammar.date) != nil, "\(line)")
      } else if line.hasPrefix("Incident Identifier: ") {
        #expect(UUID(uuidString: String(line.dropFirst(21))) != nil)
      }
    }
    let expected = document["threads"].array.map { thread in
      thread["frames"].array.reduce(0) { $0 + 1 + $1["inlines"].array.count }
    }
    #expect(frames == expected)
    #expect(images == document["modules"].array.count { !$0["base_addr"].isNull })
  }

  // MARK: What is missing

  @Test("The symbol files that --missing lists suffice, in the place that it names")
  func missing() throws {
    let folder = try TemporaryFolder()
    let list = try Self.run("--missing --threads all", "linux.dmp", in: folder).text
    let requests = list.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    try #require(!requests.isEmpty && requests.allSatisfy { $0.count == 4 })
    for request in requests {
      let text = "MODULE Linux x86_64 \(request[1]) \(request[0])\nFUNC 0 ffffffff 0 named\n"
      try folder.write(Array(text.utf8), to: "symbols/\(request[3])")
    }
    #expect(try Self.run("--missing --threads all", "linux.dmp", in: folder).text.isEmpty)
    let document = try JSONDocument(Self.run("--format json --threads all", "linux.dmp", in: folder).output)
    let frames = document["threads"].array.flatMap { $0["frames"].array }.filter { !$0["module"].isNull }
    #expect(!frames.isEmpty && frames.allSatisfy { $0["function"].string == "named" })
  }

  // MARK: Several dumps

  @Test("Several dumps at once print what they print one after the other", arguments: ["text", "json", "crash"])
  func jobs(_ format: String) throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: "artifacts symbols other-build", to: folder)
    func output(_ jobs: Int) throws -> Tool.Outcome {
      try Tool.shell(
        "crashpadctl symbolize -s symbols -s other-build --format \(format) -j \(jobs) artifacts/", in: folder)
    }
    let one = try output(1)
    let many = try output(8)
    #expect(!one.output.isEmpty && one.output == many.output)
    #expect(one.errorText == many.errorText && one.status == many.status)
  }
}
