// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadCore
import CrashpadFiles
import CrashpadSymbolication

/// `--html` of commands that print what a page has too.
struct HTMLOption: OptionTable {
  var html: String?

  mutating func rows(_ row: inout OptionRows) {
    row.option(
      &html, "--html <file>", "Also write a web page, as crashpadctl report does.", .file(extensions: ["html"]))
  }

  /// A page is made after the command has read its inputs.
  static func check(_ html: String?, _ inputs: [String]) throws {
    if html != nil, inputs.contains("-") {
      throw ValidationError("--html reads the inputs again, which standard input does not allow.")
    }
    if html == "-" { throw ValidationError("--html takes a file; standard output has the text.") }
  }

  /// Prints why the page can't be written before anything is read; nil if it can.
  func conflict(_ list: InputList) -> ExitStatus? {
    html.flatMap { PageFile.refusal($0, list) }
  }

  /// Writes the page of inputs whose findings were printed already.
  ///
  /// - Returns: `status`, or why there is no page.
  static func write(
    _ html: String?, of list: InputList, _ options: PageRun.Options, status: ExitStatus
  ) -> ExitStatus {
    guard let html, !list.inputs.isEmpty || list.allowsEmpty else { return status }
    var options = options
    options.isQuiet = true
    do {
      let written = try PageRun(list, to: html, options).run()
      return status == .success ? written : status
    } catch {
      // A path that is missing ended the command before.
      return status == .success ? .noInput : status
    }
  }
}

extension OptionRows {
  mutating func sessions(_ value: inout String?) {
    option(
      &value, "--sessions <file>",
      "Divide crashes by the sessions in this file: CSV with the columns sessions, and version or day or both.",
      .file(extensions: ["csv", "tsv"]))
  }
}
