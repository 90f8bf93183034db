// SPDX-License-Identifier: Apache-2.0
import Testing
import ToolRunner

@Suite("The sentence that inspect begins with")
struct SummaryTests {
  private static let inputs = Samples.files.keys.filter { name in
    ["idump", "dmp", "mdmp", "core", "ips", "crash", "json"].contains { name.hasSuffix("." + $0) }
      && !name.contains("/")
  }.sorted()

  /// The value behind a label at the start of a line.
  private static func value(_ label: String, in text: String) -> String? {
    let lines = text.split(separator: "\n")
    return lines.first { $0.hasPrefix(label + " ") }.map {
      String($0.dropFirst(label.count).drop { $0 == " " })
    }
  }

  @Test("It is what explain says", arguments: Soak.some(50, of: inputs))
  func same(_ input: String) throws {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: input, to: folder)
    let inspected = try Tool.shell("crashpadctl inspect \(input)", in: folder)
    let explained = try Tool.shell("crashpadctl explain \(input)", in: folder)
    let sentence = Self.value("What happened", in: explained.text)
    #expect(Self.value("Summary", in: inspected.text) == sentence)
    // It is the first of the labelled lines.
    #expect(inspected.text.contains("\n\nSummary ") == (sentence != nil))
  }

  @Test("One of many has it too")
  func many() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "dumps/one.idump")
    try folder.write(Samples.signal, to: "dumps/two.idump")
    let inspected = try Tool.shell("crashpadctl inspect dumps", in: folder)
    for name in ["one", "two"] {
      let explained = try Tool.shell("crashpadctl explain dumps/\(name).idump", in: folder)
      let sentence = try #require(Self.value("What happened", in: explained.text))
      #expect(inspected.text.contains(sentence + "\n"))
    }
  }
}
