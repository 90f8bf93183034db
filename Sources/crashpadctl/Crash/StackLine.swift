// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadText
import CrashpadView

/// One line of a stack in the columns of a terminal. A narrow one shows only some of its parts.
struct StackLine {
  private let line: CrashView.Line
  let number: String
  /// The way in which the frame was found and, with `--addresses`, its address.
  let origin: String

  var module: String { line.module }
  var isMarked: Bool { line.mark != nil }

  init(_ line: CrashView.Line, showsAddress: Bool) {
    self.line = line
    number = String(line.number)
    // Only scanned frames are guesses, so only they are marked.
    origin = showsAddress ? "\(line.address)  \(line.trust)" : line.isGuess ? "scan" : ""
  }

  /// Such as "main + 12 (/src/main.cpp:42)" in at most `limit` columns: with the file's name alone,
  /// then without arguments, then cut.
  func place(_ limit: Int?) -> String {
    let (name, offset, location) = (line.name, line.offset, line.location)
    let whole = name + offset + (location.map { " (\($0))" } ?? "")
    guard let limit, DisplayWidth.cells(whole) > limit else { return whole }
    let file = line.shortLocation.map { " (\($0))" } ?? ""
    for text in [name + offset + file, name + file, FunctionParts(name).withoutArguments + file]
    where DisplayWidth.cells(text) <= limit {
      return text
    }
    let room = limit - DisplayWidth.cells(file)
    let short = FunctionParts(name).withoutArguments
    // Half a function name is more useful than half a line number.
    if room >= 12 { return DisplayWidth.cut(short, to: room) + file }
    return DisplayWidth.cut(short, to: limit)
  }
}
