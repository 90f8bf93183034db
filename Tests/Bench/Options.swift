// SPDX-License-Identifier: Apache-2.0
/// The options of the command line.
struct Options {
  enum Question: String, CaseIterable {
    case large, directory, startup, instructions, growth, database, symbols, trees, servers
    case pages, appleReports, capture, upload
  }

  static let usage = """
    usage: bench --tool PATH/crashpadctl [--peer PATH] [--corpus DIR] [--quick] [--only NAME]
      --tool PATH    the crashpadctl to measure: a release build
      --peer PATH    another converter, called as PATH IN OUT --report-id U --client-id U. If its name ends in .arm64 or
                     .x86_64, dumps of the other architecture go to its sibling with that ending
      --corpus DIR   take the dumps for the instruction counts from there, instead of making dumps of their shape
      --quick        smaller inputs and fewer runs: a minute
      --only NAME    one of \(Question.allCases.map(\.rawValue).joined(separator: ", ")); may be repeated
    """

  var tool = ""
  var peer: String?
  var corpus: String?
  var isQuick = false
  var questions: [Question] = []

  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      if option == "--quick" {
        isQuick = true
        continue
      }
      guard let value = rest.popFirst() else { return nil }
      switch option {
      case "--tool": tool = value
      case "--peer": peer = value
      case "--corpus": corpus = value
      case "--only":
        guard let question = Question(rawValue: value) else { return nil }
        questions.append(question)
      default: return nil
      }
    }
    if tool.isEmpty { return nil }
    if questions.isEmpty { questions = Question.allCases }
  }
}
