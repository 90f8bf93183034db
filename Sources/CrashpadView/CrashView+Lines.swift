// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot
internal import CrashpadSymbolication
internal import CrashpadText

extension CrashView {
  /// The parts of one line of a stack, as text and pages show them.
  package struct Line: Sendable {
    package let number: Int
    /// Such as "main", or "server + 0x12b0" without symbols, or "<signal handler called>".
    package let name: String
    /// Such as " + 12", or empty.
    package let offset: String
    /// Such as "/src/main.cpp:42".
    package let location: String?
    /// The same without directories.
    package let shortLocation: String?
    /// Such as "server + 0x12b0", "inlined" or "tail call"; empty if that is the name.
    package let module: String
    /// The address with all digits.
    package let address: String
    /// The way in which the frame was found.
    package let trust: String
    /// Whether the frame is a guess.
    package let isGuess: Bool
    /// Whether this is the most relevant frame: the first one in the program itself.
    package var isMarked = false
  }

  package func line(_ row: Row) -> Line {
    let module = moduleName(row)
    // A report without its images names them, and does not say where they are.
    let place = module.map { name in name + (row.moduleOffset.map { " + \(TextFormat.hex($0))" } ?? "") }
    func line(_ name: String, offset: String = "", location: String? = nil, module: String = "") -> Line {
      Line(
        number: row.number, name: name, offset: offset, location: location,
        shortLocation: location == nil ? nil : row.function?.shortSourceLine, module: module,
        address: fullAddress(row.address), trust: row.withoutFrame ?? row.trust.rawValue,
        isGuess: row.trust == .scan && row.isFrame)
    }
    if row.isSignalFrame, row.isFrame { return line("<signal handler called>") }
    let location = row.function?.sourceLine
    guard let name = row.name else {
      if row.moduleOffset != nil, let place { return line(place, location: location) }
      if module == nil, let place = unloadedLine(row.address) { return line(place, location: location) }
      return line("\(fullAddress(row.address)) in \(module ?? "no module")", location: location)
    }
    if let reason = row.withoutFrame { return line(name, location: location, module: reason) }
    let offset = row.functionOffset.map { " + \($0)" + (row.isNearest ? " (nearest symbol)" : "") } ?? ""
    let origin = place ?? (row.isInferred ? "perf map" : "")
    return line(name, offset: offset, location: location, module: origin)
  }

  /// The lines of rows, of which the first in the program itself is marked.
  package func lines(_ rows: [Row], marking: Bool) -> [Line] {
    var lines = rows.map { line($0) }
    if marking, let own = firstOwn(rows) { lines[own].isMarked = true }
    return lines
  }
}

extension CrashView.Row {
  /// Why it has no frame: "inlined", "tail call", "inferred tail call".
  fileprivate var withoutFrame: String? {
    if let tailCall { return (tailCall.isInferred ? "inferred " : "") + "tail call" }
    return isInlined ? "inlined" : nil
  }
}
