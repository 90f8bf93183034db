// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The man pages say what `--help` says.
struct OptionTests {
  @Test func `The tool says what commands it has`() {
    #expect(Set(Commands.all).isSuperset(of: ["inspect", "validate", "convert", "database list"]))
  }

  @Test(arguments: Commands.all)
  func `A command's man page has every option of its help, and no other`(command: String) throws {
    let documented = try Commands.options(of: command).filter { $0.depth == 0 && $0.tag.hasPrefix("-") }
    let options = try Tool.help(command).options
    try #require(!options.isEmpty)
    let tags = documented.map(\.tag)
    let labels = options.map { $0.label.filter { $0 != "<" && $0 != ">" } }
    // The options that all commands of a group have are documented once, wherever they are in the help of each.
    if command.contains(" ") { #expect(tags.sorted() == labels.sorted()) } else { #expect(tags == labels) }
  }

  @Test(arguments: Commands.all)
  func `A man page has every value and every default of an option`(command: String) throws {
    let paragraphs = try Commands.options(of: command)
    for option in try Tool.help(command).options {
      let label = option.label.filter { $0 != "<" && $0 != ">" }
      guard let start = paragraphs.firstIndex(where: { $0.tag == label }) else { continue }
      // The lines that are indented below an option belong to it.
      let rest = paragraphs[(start + 1)...].prefix { $0.depth > 0 }
      let text = ([paragraphs[start]] + rest).map { $0.tag + " " + $0.text }.joined(separator: " ")
      let words = Set(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "-" }.map(String.init))
      for value in option.values { #expect(words.contains(value), "\(label): \(value)") }
      if let value = option.defaultValue {
        #expect(words.contains("default"), "\(label)")
        #expect(words.contains(value) || (value.hasPrefix("0000") && words.contains("zeros")), "\(label): \(value)")
      }
    }
  }

  @Test func `crashpadctl(1) has every command with the words of the help`() throws {
    let commands = try Repository.manPage("crashpadctl.1").section("COMMANDS").paragraphs.filter { !$0.tag.isEmpty }
    let help = try Tool.help()
    try #require(!help.subcommands.isEmpty)
    for command in help.subcommands {
      let paragraph = commands.first { $0.tag.hasPrefix(command.label + " ") }
      #expect(paragraph?.text == command.text)
      #expect(Repository.manPages.contains("crashpadctl-\(command.label).1"))
    }
    #expect(commands.count == help.subcommands.count + 1)  // and help
  }

  @Test func `Every man page is of this version and says its own name`() throws {
    let version = try Tool.run("crashpadctl --version", in: Repository.root).text.trimmingCharacters(
      in: .whitespacesAndNewlines)
    try #require(Repository.manPages.count >= 8)
    for name in Repository.manPages {
      let page = try Repository.manPage(name)
      try #require(page.title.count == 5, "\(name)")
      #expect("\(page.title[0].lowercased()).\(page.title[1])" == name)
      #expect(page.title[3] == version, "\(name)")
      let own = String(name.dropLast(2))
      #expect(page.section("NAME").paragraphs.first?.text.hasPrefix(own + " - ") == true, "\(name)")
    }
  }

  @Test func `Every man page that is named exists`() throws {
    let reference = try Regex(#"(crashpadctl[a-z-]*)\s?\(([157])\)"#, as: (Substring, Substring, Substring).self)
    for name in Repository.manPages {
      let source = ManPage.plain(try Repository.text("man/\(name)"))
      for match in source.matches(of: reference) {
        #expect(Repository.manPages.contains("\(match.output.1).\(match.output.2)"), "\(name): \(match.output.0)")
      }
    }
  }

  @Test func `The exit statuses are the same in the help and crashpadctl(1)`() throws {
    let tags = try Repository.manPage("crashpadctl.1").section("EXIT STATUS").paragraphs.filter { !$0.tag.isEmpty }
    // "Exit status: 0 done; 1 done, with error findings …; 64 usage; …"
    let help = try Tool.help().overview.replacingOccurrences(of: "\n", with: " ")
    let statement = try #require(help.components(separatedBy: "Exit status: ").last?.components(separatedBy: ".").first)
    let statuses = statement.components(separatedBy: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(statuses.count == tags.count)
    for (status, paragraph) in zip(statuses, tags) {
      let start = "\(paragraph.tag) \(paragraph.text)."
      #expect(start.lowercased().hasPrefix(status.lowercased() + "."), "\(status)")
    }
  }
}
