// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing

@Suite("The example of CrashpadSymbols in README.md")
struct SymbolsExampleTests {
  @Test("It is the one that compiles here")
  func text() throws {
    let source = try Repository.text("Tests/DocumentationTests/SymbolsExample.swift")
    let code = source.components(separatedBy: "// begin\n")[1].components(separatedBy: "// end\n")[0]
    #expect(try Repository.text("README.md").contains("import CrashpadSymbols\nimport SystemPackage\n\n\(code)```"))
  }

  @Test("It prints the frames that symbolize prints")
  func frames() throws {
    let samples = try Samples()
    let folder = FilePath(samples.folder.path)
    let stack = try crashedStack(folder.appending("crash.idump"), symbols: folder.appending("symbols"))
    #expect(stack.first == "Example Cart.total() /src/Cart.swift:12")
    #expect(stack.contains("libsystem_pthread.dylib ? ?:0"))
    let output = try Tool.run("crashpadctl symbolize --symbols symbols --format json crash.idump", in: samples.folder)
    let json = try JSONSerialization.jsonObject(with: Data(output.text.utf8)) as? [String: Any]
    let crashed = try #require(json?["crashing_thread"] as? [String: Any])
    let printed = try #require(crashed["frames"] as? [[String: Any]]).flatMap { frame in
      (frame["inlines"] as? [[String: Any]] ?? []).map { Self.line($0, in: frame) } + [Self.line(frame, in: frame)]
    }
    #expect(stack == printed)
  }

  private static func line(_ call: [String: Any], in frame: [String: Any]) -> String {
    let (file, line) = (call["file"] as? String ?? "?", call["line"] as? Int ?? 0)
    return "\(frame["module"] as? String ?? "?") \(call["function"] as? String ?? "?") \(file):\(line)"
  }
}
