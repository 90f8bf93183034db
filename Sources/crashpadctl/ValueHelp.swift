// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadRedaction

/// The valid values of options, for messages about invalid ones. The parser knows them only for
/// options with a list of values.
enum ValueHelp {
  /// The parser's message; if it is about an invalid value, with the valid values added.
  static func adding(to message: String) -> String {
    let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
    if message.contains("The value 'crash' is invalid for '--to") {
      return message.replacing(
        "The value 'crash' is invalid",
        with: "Apple's text is written by: crashpadctl symbolize --format crash. The value 'crash' is invalid")
    }
    guard message.contains("The value '"),
      let index = lines.firstIndex(where: { $0.hasSuffix("'") && $0.contains(mark) }),
      // The value itself may contain quotes; the option's name is at the end.
      let start = lines[index].ranges(of: mark).last?.upperBound,
      let valid = valid(for: lines[index][start...].dropLast())
    else { return message }
    var text = lines.map(String.init)
    text[index] += ". Please provide \(valid)."
    return text.joined(separator: "\n")
  }

  private static let mark = "' is invalid for '"

  /// - Parameter option: `--jobs <n>` or `<reports>`; only `--jobs` for an option of another command.
  private static func valid(for option: Substring) -> String? {
    let words = option.split(separator: " ", maxSplits: 1)
    guard let name = words.first, let placeholder = words.last else { return nil }
    return names[String(name)] ?? placeholders[String(placeholder)]
  }

  private static let number = "a whole number"
  private static let time = "a time such as 2026-11-22 or 2026-11-22T08:30:00Z, or seconds since 1970"
  private static let report = "a report's id, or its first four digits or more"
  private static let duration = "a duration such as 500ms, 1.5h or 90d, or a number of seconds"
  private static let assignment = "a name and a value in UTF-8, NAME=VALUE"
  private static let pattern = "a name or a pattern in UTF-8, such as "

  /// Values by option name, for options whose placeholder has several meanings or is not printed.
  private static let names = [
    "--attempts": number, "--connect-timeout": duration, "--timeout": "a duration such as 500ms or 1m",
    "--dump-timeout": duration, "--field": assignment, "--since": time + ", or an age such as 1d",
    "--until": time + ", or an age such as 1d",
    "--last-upload-attempt": time + ", or 'never'", "--frames": "a whole number from 1 on, or 'all'",
    "--max-reports": number + ", or 'none'",
    "--keep": PersonalKind.allCases.map { "'\($0.rawValue)'" }.joined(separator: " or "),
    "--keep-memory": RedactionPolicy.Memory.allCases.map { "'\($0.rawValue)'" }.joined(separator: " or "),
    "--columns": "columns of "
      + ReportColumn.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ") + ", with commas between",
    "--fail-on": "'new:' and the file of an earlier run, as in new:baseline.json",
    "--shard": "a part and the number of parts, as in 1/4",
    "--source-link": "an address with {file} or {path} in it, as in vscode://file{file}:{line}",
    "--hide": "a text in UTF-8 that is not empty", "--keep-annotation": pattern + "user-*",
    "--remove-annotation": pattern + "user-*", "--keep-variable": pattern + "LC_*",
  ]

  private static let placeholders = [
    "<address>": "a number in decimal, or in hexadecimal with 0x before it", "<bool>": "'yes' or 'no'",
    "<bytes>": number, "<duration>": duration, "<id>": report, "<n>": number,
    "<pid>": "the id of a running process",
    "<name=path>": "a name and a file, as in log.txt=app.log", "<name=value>": assignment, "<reports>": report,
    "<size>": "a size such as 512KiB or 1.5G, or a number of bytes", "<time>": time,
    "<which>": "'crashed', 'all' or a thread's number",
    "<uuid>": "a UUID such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427",
  ]
}
