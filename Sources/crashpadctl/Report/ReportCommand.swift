// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadCore
import CrashpadSymbolication

struct ReportCommand: Command {
  static let name = "report"
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Write a web page about a crash or many, for people without a terminal.",
    usage: "crashpadctl report [<options>] <inputs> ... --output <file>",
    discussion: flowing(
      """
      One file that any browser opens. Of one crash: what happened with its evidence,
      the stacks, registers, memory, modules, annotations and findings. Of several,
      of a directory or of a Crashpad database: the groups that crashpadctl group
      makes, crashes over time and by version. It loads nothing, and nothing in a
      dump can run in it. - is standard input.

      Examples:
        crashpadctl report crash.idump -o crash.html
        crashpadctl report --symbols symbols/ --source src/ crash.dmp -o crash.html
        crashpadctl report --redact crash.ips -o crash.html
        crashpadctl report --symbols symbols/ artifacts/ -o crashes.html
        crashpadctl report --split artifacts/ -o crashes.html
      """))

  var inputs: [String] = []
  var output: String?
  var symbolOptions = SymbolOptions()
  var page = PageOptions()
  var split = false
  var baseline: String?
  var sessions: String?
  var inApp = InAppOption()
  var inputOptions = InputOptions()
  var reading = ReadingArguments()
  var jobs = JobsOption()
  var color = ColorOption()

  mutating func rows(_ row: inout OptionRows) {
    row.inputs(&inputs, "Dumps, crash reports, directories or databases; - is standard input.", isRequired: false)
    row.output(&output, "Write the page to this file; - is standard output.", extensions: ["html"])
    row.group(&symbolOptions)
    row.group(&page)
    row.flag(&split, "--split", "Write the example of each group to a page of its own, in a directory beside the page.")
    row.option(
      &baseline, "--baseline <file>",
      "Compare with the JSON of an earlier run of crashpadctl group: new, grown and gone groups.",
      .file(extensions: ["json"]))
    row.sessions(&sessions)
    row.group(&inApp)
    row.group(&inputOptions)
    row.group(&reading)
    row.group(&jobs)
    row.group(&color)
  }

  func validate() throws {
    try inputOptions.check(inputs, "inputs")
    _ = try destination
    if split, output == "-" { throw ValidationError("--split writes files beside the page; -o names its file.") }
  }

  /// The page's file. It is checked here, as the parser would name a missing option before a mistyped one.
  private var destination: String {
    get throws {
      guard let output else { throw ValidationError("--output is missing; it names the file of the page.") }
      return output
    }
  }

  func run() throws {
    let destination = try destination
    var options = page.options
    options.symbols = symbolOptions
    options.architecture = reading.architecture
    options.splits = split
    options.baseline = baseline
    options.sessions = sessions
    options.inApp = inApp.patterns
    options.jobs = jobs.count
    let list = try inputOptions.crashes(inputs).list
    Terminal.end(try PageRun(list, to: destination, options).run())
  }
}

/// The options for page content other than the crash.
struct PageOptions: OptionTable {
  var title: String?
  var redact = false
  var source: String?
  var link: SourceLink?
  var names = NameOptions()

  mutating func rows(_ row: inout OptionRows) {
    row.option(&title, "--title <text>", "Title of the page, such as 'Ticket 4711'.")
    row.flag(&redact, "--redact", "Remove personal data first, as crashpadctl redact does.")
    row.option(
      &source, "--source <dir>", "Quote source lines of the crashed thread's frames from this directory.", .directory)
    row.option(
      &link, "--source-link <url>",
      "Link frames to their lines: {file} is the path in the symbols, {path} that below --source, {line} the line.")
    row.group(&names)
  }

  func validate() throws {
    try checkText("--title", title.map { [$0] } ?? [])
    guard let link else { return }
    if link.hasPath, source == nil {
      throw ValidationError("{path} of --source-link is a path below --source, which is missing.")
    }
    if link.hasFile, redact {
      throw ValidationError("{file} of --source-link has directories, which --redact removes; {path} has none of them.")
    }
  }

  var options: PageRun.Options {
    var options = PageRun.Options()
    options.title = title
    options.redacts = redact
    options.source = source
    options.link = link
    options.names = names.form(isText: true)
    return options
  }
}
