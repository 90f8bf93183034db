// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Testing
@testable import crashpadctl

/// The tool's own parser reads what ArgumentParser reads, from the same table.
struct OptionParserTests {
  private static let commands: [(name: String, type: any Command.Type)] = Crashpadctl.commands.flatMap { node in
    switch node.kind {
    case .command(let type): [(type.name, type)]
    case .group(let group): group.commands.map { ("\(group.name) \($0.name)", $0) }
    }
  }

  private static let seed = ProcessInfo.processInfo.environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) } ?? 28

  /// ArgumentParser takes milliseconds for a line.
  private static let isWhole = ProcessInfo.processInfo.environment["CRASHPADCTL_SOAK"] == "1"

  @Test func `All commands are compared`() {
    #expect(Self.commands.count >= 32)
    #expect(Self.commands.map(\.name).contains("symbols lookup"))
  }

  @Test(arguments: commands.map(\.name))
  func `Both parsers accept the same lines and read the same values`(name: String) throws {
    let command = try #require(Self.commands.first { $0.name == name }?.type)
    let counts = Self.compare(command, name)
    #expect(counts.accepted > 0 && counts.rejected > 0, "\(counts)")
  }

  private static func compare<Parsed: Command>(_ type: Parsed.Type, _ name: String) -> (accepted: Int, rejected: Int) {
    var generator = CommandLines(
      type.shapes, seed: seed &+ UInt64(name.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & 0xffff))
    var lines = generator.someOfEachRow(isWhole ? nil : 80)
    for _ in 0..<(isWhole ? 400 : 40) { lines.append(generator.line()) }
    let takesRest = type.shapes.contains { if case .rest = $0.kind { true } else { false } }
    var counts = (accepted: 0, rejected: 0)
    for line in lines {
      // A number behind a hyphen is an option for ArgumentParser.
      if type.takesNegativeNumbers, line.contains("-1") { continue }
      // Three hyphens are a mistake for it, also among the arguments of a program.
      if takesRest, line.contains("---") { continue }
      let own = type.init(line[...])
      let other = try? type.parseAsRoot(line) as? Parsed
      if own == nil { counts.rejected += 1 } else { counts.accepted += 1 }
      guard (own == nil) == (other == nil) else {
        Issue.record(
          "\(name) \(line): \(own == nil ? "rejected" : "accepted"), but not by ArgumentParser (seed \(seed))")
        continue
      }
      if let own, let other {
        #expect(values(own) == values(other), "\(name) \(line) (seed \(seed))")
      }
    }
    return counts
  }

  private static func values(_ command: some Command) -> [String] {
    var command = command
    var values: [String] = []
    var rows = OptionRows(
      .visit { name, value in
        // Flags that add their value are read in the order of the table.
        let states = (value as? [StateChoice])?.map(\.rawValue).sorted()
        values.append("\(name) \(states.map { "\($0)" } ?? String(describing: value))")
      })
    command.rows(&rows)
    return values
  }

  @Test func `A short option takes its value in the same word`() throws {
    let command = try #require(ConvertCommand(["-j4", "-fjson", "-qkoDIR", "a"]))
    #expect(command.jobs == 4)
    #expect(command.format == .json)
    #expect(command.quiet && command.writing.keepGoing)
    #expect(command.output == "DIR")
    #expect(command.dumps == ["a"])
    #expect(InspectCommand(["-t0", "a"])?.parts.threads == .one(0))
    #expect(InspectCommand(["-s", "x", "-sy", "-s=z", "a"])?.symbols == ["x", "y", "z"])
    #expect(ConvertCommand(["-j", "4x", "a"]) == nil)
    #expect(ConvertCommand(["-j4x", "a"]) == nil)
    #expect(
      ConvertCommand(["-output", "x", "a"]) == nil, "A long name behind one hyphen is no short option with a value.")
    #expect(ConvertCommand(["-jq", "a"]) == nil)
  }

  @Test func `An option whose value may be missing takes only a valid one`() throws {
    #expect(InspectCommand(["--threads", "a"])?.parts.threads == .all)
    #expect(InspectCommand(["--threads", "a"])?.dumps == ["a"])
    #expect(InspectCommand(["a", "-t"])?.parts.threads == .all)
    #expect(InspectCommand(["-t", "crashed", "a"])?.parts.threads == .crashed)
    #expect(InspectCommand(["-t", "--modules", "a"])?.parts.modules == true)
  }

  @Test func `A number behind a hyphen is an argument where codes are`() throws {
    #expect(ExplainCommand(["-11", "a"])?.inputs == ["-11", "a"])
    #expect(ConvertCommand(["-11"]) == nil)
    #expect(ExplainCommand.spelledOut(["a", "-11", "-f", "json"]) == ["-f", "json", "--", "a", "-11"])
  }

  @Test func `ArgumentParser gets forms that it understands`() {
    #expect(ConvertCommand.spelledOut(["-qj4", "a", "-fjson"]) == ["-q", "-j", "4", "a", "-f", "json"])
    #expect(InspectCommand.spelledOut(["-t", "a", "--nosuch"]) == ["-t", "all", "a", "--nosuch"])
    #expect(ConvertCommand.spelledOut(["--output=-x", "--", "-b"]) == ["--output=-x", "--", "-b"])
    #expect(RunCommand.spelledOut(["-q", "--", "ls", "-qj4"]) == ["-q", "--", "ls", "-qj4"])
  }

  private static let formerNames = [
    "--any-answer": "--accept-html", "--complete-skipped": "--finish-skipped", "--pipe-limit": "--max-input-size",
    "--plain-url": "--no-url-parameters",
  ]

  /// Scripts of earlier versions go on working.
  @Test func `Each option keeps its former names`() {
    var found: [String: String] = [:]
    for command in Self.commands {
      for shape in command.type.shapes { for name in shape.formerNames { found[name] = shape.names.last } }
    }
    #expect(found == Self.formerNames)
  }

  @Test func `A former name of an option has the same result as its name`() throws {
    for command in Self.commands { try Self.compareFormer(command.type, command.name) }
    #expect(UploadCommand(["--any-answer", "--plain-url", "--complete-skipped"]) != nil)
    #expect(InspectCommand(["a", "--pipe-limit=1KiB"]) != nil)
    #expect(UploadCommand(["--any-answer=x"]) == nil)
  }

  private static func compareFormer<Parsed: Command>(_ type: Parsed.Type, _ name: String) throws {
    for (shape, former) in type.shapes.flatMap({ shape in shape.formerNames.map { (shape, $0) } }) {
      let current = try #require(shape.names.last)
      #expect(!type.helpMessage(columns: 80).contains(former), "\(name) \(former)")
      func lines(_ name: String) -> [[String]] {
        [[name], [name, "a"], ["a", name, "1KiB"], ["a", name + "=1KiB"], ["a", name + "="]]
      }
      for (old, new) in zip(lines(former), lines(current)) {
        #expect(type.init(old[...]).map(values) == type.init(new[...]).map(values), "\(name) \(old)")
        #expect(type.spelledOut(old[...]) == type.spelledOut(new[...]), "\(name) \(old)")
      }
    }
  }

  @Test func `A former name of a command has the same result as its name`() {
    #expect(CommandName.resolve(["database", "new", "x"]).path.map(\.name) == ["database", "import"])
    #expect(CommandName.resolve(["database", "new", "x"]).rest == ["x"])
    #expect(CommandName.resolve(["database", "import", "x"]).path.map(\.name) == ["database", "import"])
    #expect(!DatabaseCommand.helpMessage(columns: 80).contains(" new "))
  }

  /// Two rows of one name would hide each other, and a misspelled row could not be called at all.
  @Test(arguments: commands.map(\.name))
  func `Each option has a name of its own, well formed`(name: String) throws {
    let shapes = try #require(Self.commands.first { $0.name == name }?.type.shapes)
    let names = shapes.flatMap { $0.names + $0.formerNames }
    #expect(Set(names).count == names.count)
    for name in names { #expect(name.wholeMatch(of: #/-[A-Za-z0-9]|--[a-z0-9]+(-[a-z0-9]+)*/#) != nil, "\(name)") }
    for shape in shapes {
      if case .flag = shape.kind { #expect(shape.valueName.isEmpty) } else { #expect(!shape.valueName.isEmpty) }
    }
  }
}
