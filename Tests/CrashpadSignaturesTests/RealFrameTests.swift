// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadSnapshot
import Testing
import ToolRunner

@testable import CrashpadSignatures

/// Rows of the table on frames that real crashes had: those of the set, and of `Faults/Rules`, whose programs end in functions
/// of libraries. `Faults/capture` made both with `crashpadctl run`.
@Suite("Rules on real frames")
struct RealFrameTests {
  struct Frame: Hashable {
    let name: String
    let module: String

    /// The row that takes it.
    var rule: String? {
      RuleTests.rule(name, in: module, .first)?.id
    }
  }

  /// For each language and row the frames of captures that it takes.
  static let taken: [String: [String: Set<Frame>]] = {
    var taken: [String: [String: Set<Frame>]] = [:]
    for capture in Capture.all + Capture.rules where !capture.isApple {
      for recorded in capture.threads.joined() {
        guard let module = recorded.module else { continue }
        let frame = Frame(name: recorded.function ?? "", module: lastPathComponent(capture.modules[module].path))
        if let rule = frame.rule { taken[capture.language, default: [:]][rule, default: []].insert(frame) }
      }
    }
    return taken
  }()

  @Test(arguments: ["C", "C++", "Go", "Rust", "Swift"])
  func `Each row that concerns a language takes a frame of it, and the explanation names the row`(language: String) {
    let taken = Self.taken[language, default: [:]]
    print("rules: \(language): \(taken.keys.sorted())")
    #expect(Self.served[language]?.subtracting(taken.keys) == [])
    for (rule, frames) in taken { for frame in frames { expect(frame, rule) } }
  }

  /// On top of a function of the program the row skips the frame, and the explanation says so.
  private func expect(_ frame: Frame, _ rule: String) {
    // The first function of a program is not skipped, but taken last.
    if rule == "main" { return }
    let top = frame.name.isEmpty ? "+0x10|\(frame.module)" : "\(frame.name)|\(frame.module)"
    let signature = ChoiceTests.signature(
      ChoiceTests.kind("trap"), [top, "Cart::total()|shop", "+0x99|libx.so"], .first)
    #expect(signature.explanation.first?.rule == rule, "\(top)")
    #expect(signature.explanation.first?.decision == .skipped, "\(top)")
    #expect(signature.text == "trap · Cart::total", "\(top)")
  }

  // MARK: Reports of Apple's systems

  /// Real reports, which are not part of the project: `$CRASHPADCTL_APPLE_REPORTS`, or `shared/apple-reports` beside it.
  private static let folder: URL? = {
    let variable = ProcessInfo.processInfo.environment["CRASHPADCTL_APPLE_REPORTS"].map { URL(fileURLWithPath: $0) }
    let folder =
      variable
      ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../shared/apple-reports").standardizedFileURL
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  @Test(.enabled(if: folder != nil, "CRASHPADCTL_APPLE_REPORTS names no directory of Apple's reports"))
  func `The rows of Apple's systems take frames of real reports`() throws {
    let folder = try #require(Self.folder)
    var taken: [String: Set<Frame>] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
      let file = folder.appending(path: name).path
      let result = try Tool.run(
        ["symbolize", "--no-system", "--threads", "all", "--format", "json", file], in: TemporaryFolder())
      guard let document = try? JSONDocument(result.output) else { continue }
      for recorded in document["threads"].array.flatMap({ $0["frames"].array }) {
        guard let module = recorded["module"].string else { continue }
        let frame = Frame(name: recorded["linkage_name"].string ?? recorded["function"].string ?? "", module: module)
        if let rule = frame.rule { taken[rule, default: []].insert(frame) }
      }
    }
    print("rules: Apple: \(taken.keys.sorted())")
    #expect(Self.served["Apple"]?.subtracting(taken.keys) == [])
    for (rule, frames) in taken { for frame in frames { expect(frame, rule) } }
  }

  /// The rows that concern programs of each language on Linux, and those of Apple's systems: lines of `Faults/Rules/rows`.
  private static let served: [String: Set<String>] = {
    let file = Capture.folder.appending(path: "Rules/rows")
    let lines = ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n")
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let words = line.split(separator: " ").map(String.init)
        return (words[0], Set(words.dropFirst()))
      })
  }()

  // MARK: Systems that no capture is of

  /// Frames of crashes that their owners published: lines of `Faults/Rules/public`, with rule, function, module and address.
  private static let published: [(rule: String, frame: Frame)] = {
    let file = Capture.folder.appending(path: "Rules/public")
    let lines = ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n")
    return lines.map { line in
      let words = line.split(separator: " ").map(String.init)
      return (words[0], Frame(name: words[1], module: words[2]))
    }
  }()

  @Test func `Rows of systems that no capture is of take published frames`() {
    for (rule, frame) in Self.published {
      #expect(frame.rule == rule, "\(frame)")
      expect(frame, rule)
    }
  }

  @Test func `Each row takes a frame of a crash that happened`() {
    let met = served().union(Self.published.map(\.rule))
    #expect(met == Set(FirstRule.all.map(\.rule.id)))
  }

  private func served() -> Set<String> {
    Self.served.values.reduce(into: []) { $0.formUnion($1) }
  }
}
