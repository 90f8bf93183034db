// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The heads of options in the man pages, with their names and the names of their values, follow from the table of options
/// in the sources by way of `--help`. A page adds prose to each.
struct OptionHeadTests {
  private static let pages = Set(Commands.all.map { Commands.page(of: $0) }).sorted()

  @Test(arguments: pages)
  func `A man page has the options of the sources, each with prose`(page: String) throws {
    let source = try Repository.text("man/\(page)")
    let expected = try Self.updated(source, page)
    if Repository.isUpdating {
      try Repository.write(expected, to: "man/\(page)")
    } else {
      #expect(source == expected, "UPDATE_DOCS=1 writes it anew")
    }
  }

  @Test func `A new option gets a paragraph in its place, a renamed one keeps its prose, a removed one goes`() throws {
    let page = """
      .SH OPTIONS
      These options are read.
      .TP
      \\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIplace\\fR
      Where it goes.
      .TP
      .B \\-\\-gone
      What is no more.
      .TP
      .B \\-\\-version
      Print the version.
      .SH FILES

      """
    let help = [("-o, --output <path>", "The output."), ("-n, --dry-run", "Change nothing; read."), ("--version", "")]
    var part = OptionPart(page.components(separatedBy: "\n"), between: ".SH OPTIONS", and: [".SH"])
    part.update(help)
    let text = """
      .SH OPTIONS
      These options are read.
      .TP
      \\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIpath\\fR
      Where it goes.
      .TP
      .BR \\-n ", " \\-\\-dry\\-run
      Change nothing; read.
      .TP
      .B \\-\\-version
      Print the version.
      .SH FILES

      """
    #expect(part.lines.joined(separator: "\n") == text)
    var silent = OptionPart([".SH OPTIONS", ".TP", ".B \\-\\-all"], between: ".SH OPTIONS", and: [".SH"])
    silent.update([("--all", "Take all.")])
    #expect(silent.lines == [".SH OPTIONS", ".TP", ".B \\-\\-all", "Take all."], "An option without prose gets some.")
  }

  private static func updated(_ source: String, _ page: String) throws -> String {
    var lines = source.components(separatedBy: "\n")
    let commands = Commands.all.filter { Commands.page(of: $0) == page }
    let helps = try commands.map { command in try (command, Tool.help(command).options.map { ($0.label, $0.text) }) }
    if let (command, options) = helps.first, !command.contains(" ") {
      var part = OptionPart(lines, between: ".SH OPTIONS", and: [".SH"])
      part.update(options)
      return part.lines.joined(separator: "\n")
    }
    // The options that all commands of a group have stand once in OPTIONS.
    var shared = OptionPart(lines, between: ".SH OPTIONS", and: [".SH"])
    let names = Set(shared.names)
    let all = helps.flatMap(\.1).filter { names.contains(OptionPart.name($0.0)) }
    var unique: [(String, String)] = []
    for name in shared.names { unique += all.first { OptionPart.name($0.0) == name }.map { [$0] } ?? [] }
    shared.update(unique)
    lines = shared.lines
    for (command, options) in helps {
      let words = command.split(separator: " ").dropFirst().joined(separator: " ")
      var part = OptionPart(lines, between: ".SS \(words)", and: [".SS", ".SH"])
      part.update(options.filter { !names.contains(OptionPart.name($0.0)) })
      lines = part.lines
    }
    return lines.joined(separator: "\n")
  }
}

/// The tagged paragraphs about options in a part of a man page.
struct OptionPart {
  private let before: [String]
  private let after: [String]
  /// The text before the first option.
  private let introduction: [String]
  private var paragraphs: [(name: String, head: String, prose: [String])] = []

  var names: [String] { paragraphs.map(\.name) }

  init(_ lines: [String], between start: String, and ends: [String]) {
    let first = (lines.firstIndex { $0 == start || $0 == start.replacing("-", with: "\\-") } ?? lines.count - 1) + 1
    let end = lines[first...].firstIndex { line in ends.contains { line == $0 || line.hasPrefix($0 + " ") } }
    before = Array(lines[..<first])
    after = end.map { Array(lines[$0...]) } ?? []
    var introduction: [String] = []
    var depth = 0
    var isHead = false
    for line in lines[first..<(end ?? lines.count)] {
      if isHead {
        paragraphs.append((Self.name(ManPage.plain(line)), line, []))
        isHead = false
        continue
      }
      if line == ".RS" { depth += 1 }
      if line == ".RE" { depth -= 1 }
      isHead = line == ".TP" && depth == 0
      if isHead { continue }
      if paragraphs.isEmpty { introduction.append(line) } else { paragraphs[paragraphs.count - 1].prose.append(line) }
    }
    self.introduction = introduction
  }

  /// Takes names and order from the help, and keeps the prose.
  mutating func update(_ options: [(label: String, text: String)]) {
    // Paragraphs that are no option's, such as values, stay where they are: at the end.
    let others = paragraphs.filter { !$0.name.hasPrefix("-") }
    paragraphs = options.map { option in
      let name = Self.name(option.label)
      let prose = paragraphs.first { $0.name == name }?.prose ?? []
      return (name, Self.head(option.label), prose.isEmpty ? [Self.escaped(option.text)] : prose)
    }
    paragraphs += others
  }

  var lines: [String] {
    before + introduction + paragraphs.flatMap { [".TP", $0.head] + $0.prose } + after
  }

  /// The long name of an option in a label or a plain head; of anything else the text.
  static func name(_ label: String) -> String {
    label.split { $0 == " " || $0 == "," || $0 == "\"" }.last { $0.hasPrefix("-") }.map(String.init) ?? label
  }

  /// "-o, --output <path>" as man(7) has it.
  private static func head(_ label: String) -> String {
    let names = label.split { $0 == " " || $0 == "," }.filter { $0.hasPrefix("-") }.map { escaped(String($0)) }
    guard let value = label.firstIndex(of: "<") else {
      return (names.count > 1 ? ".BR " : ".B ") + names.joined(separator: " \", \" ")
    }
    let words = label[value...].filter { $0 != "<" && $0 != ">" }.replacing(#/[a-z-]+/#) { "\\fI\($0.output)\\fR" }
    return names.map { "\\fB\($0)\\fR" }.joined(separator: ", ") + " " + words
  }

  private static func escaped(_ text: String) -> String { text.replacing("-", with: "\\-") }
}
