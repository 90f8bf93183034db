// SPDX-License-Identifier: Apache-2.0
import Foundation
import ToolRunner

/// A golden transcript: commands, and what each of them printed.
///
///     # A comment, kept as it is.
///     $ crashpadctl convert crash.idump
///     standard output
///     2> standard error
///     status 0
///
/// Commands are the shell's. All commands of one file run in one directory, one after the other; the samples that the
/// file names are there before the first of them.
struct Transcript {
  struct Step {
    var comments: [String] = []
    var command = ""
  }

  let name: String
  /// As the file has it.
  let text: String
  let steps: [Step]

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Transcripts")

  /// The names of all transcripts, without extension.
  static let names: [String] = {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()
  }()

  /// Whether the files are to be written anew from what the tool prints.
  static let isUpdating = ProcessInfo.processInfo.environment["CRASHPADCTL_UPDATE_TRANSCRIPTS"] == "1"

  init(_ name: String) throws {
    self.name = name
    text = try String(contentsOf: Self.file(name), encoding: .utf8)
    var steps: [Step] = []
    var next = Step()
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("status ") {
        // The output of the tool may look like a comment; one of ours stands between two steps.
        next = Step()
      } else if line.hasPrefix("# ") {
        next.comments.append(String(line))
      } else if line.hasPrefix("$ ") {
        next.command = String(line.dropFirst(2))
        steps.append(next)
        next = Step()
      }
    }
    self.steps = steps
  }

  static func file(_ name: String) -> URL { folder.appending(path: name + ".txt") }

  /// Runs all steps and returns the transcript that they make.
  func run() throws -> String {
    let folder = try TemporaryFolder()
    try Samples.write(namedIn: steps.map(\.command).joined(separator: "\n"), to: folder)
    var parts: [String] = []
    for step in steps {
      let result = try Tool.shell(step.command, in: folder)
      var part = step.comments.map { $0 + "\n" }.joined() + "$ \(step.command)\n"
      part += Self.lines(result.text, prefix: "")
      part += Self.lines(result.errorText, prefix: "2> ")
      parts.append(part + "status \(result.status)\n")
    }
    return parts.joined(separator: "\n")
  }

  private static func lines(_ text: String, prefix: String) -> String {
    if text.isEmpty { return "" }
    let isWhole = text.hasSuffix("\n")
    let lines = (isWhole ? text.dropLast() : text[...]).split(separator: "\n", omittingEmptySubsequences: false)
    let marked = lines.map { $0.isEmpty ? prefix.trimmingCharacters(in: .whitespaces) : prefix + $0 }
    return marked.joined(separator: "\n") + (isWhole ? "\n" : "\n(no line feed)\n")
  }

  /// The first line in which two texts differ, with its number.
  static func firstDifference(_ expected: String, _ actual: String) -> String {
    let a = expected.split(separator: "\n", omittingEmptySubsequences: false)
    let b = actual.split(separator: "\n", omittingEmptySubsequences: false)
    for index in 0..<max(a.count, b.count) {
      let old = index < a.count ? a[index] : "(end)"
      let new = index < b.count ? b[index] : "(end)"
      if old != new { return "line \(index + 1):\n  expected  \(old)\n  printed   \(new)" }
    }
    return "no line"
  }
}
