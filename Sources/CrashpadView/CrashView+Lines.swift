// SPDX-License-Identifier: Apache-2.0
package import CrashpadSignatures
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
    /// Such as "server"; nil outside all modules.
    package let moduleName: String?
    /// Such as "server + 0x12b0"; nil outside all modules.
    package let place: String?
    /// Why it has no frame of its own: "inlined", "tail call", "inferred tail call"; nil for a frame.
    package let withoutFrame: String?
    /// The address with all digits.
    package let address: String
    /// The way in which the frame was found.
    package let trust: String
    /// Whether the frame is a guess.
    package let isGuess: Bool
    /// Nil for most lines.
    package var mark: Mark?

    /// Why the line is the one to look at first.
    package enum Mark: Sendable, Hashable {
      /// The signature names its function.
      case anchor
      /// It is the first in the program itself. Only without a signature.
      case firstOwn
    }
  }

  /// The place of an address that no listed module has.
  var noModule: String { snapshot.modules.contains { $0.address != nil } ? "no module" : "an unknown module" }

  package func line(_ row: Row) -> Line {
    let module = moduleName(row)
    // A report without its images names them, and does not say where they are.
    let place = module.map { name in name + (row.moduleOffset.map { " + \(TextFormat.hex($0))" } ?? "") }
    func line(_ name: String, offset: String = "", location: String? = nil, module origin: String = "") -> Line {
      Line(
        number: row.number, name: name, offset: offset, location: location,
        shortLocation: location == nil ? nil : row.function?.shortSourceLine, module: origin, moduleName: module,
        place: place, withoutFrame: row.withoutFrame, address: fullAddress(row.address),
        trust: row.withoutFrame ?? row.trust.rawValue, isGuess: row.trust == .scan && row.isFrame)
    }
    if row.isSignalFrame, row.isFrame { return line("<signal handler called>") }
    let location = row.function?.sourceLine
    guard let name = row.name else {
      if row.moduleOffset != nil, let place { return line(place, location: location) }
      if module == nil, let place = unloadedLine(row.address) { return line(place, location: location) }
      return line("\(fullAddress(row.address)) in \(module ?? noModule)", location: location)
    }
    if let reason = row.withoutFrame { return line(name, location: location, module: reason) }
    let offset = row.functionOffset.map { " + \($0)" + (row.isNearest ? " (nearest symbol)" : "") } ?? ""
    let origin = place ?? (row.isInferred ? "perf map" : "")
    return line(name, offset: offset, location: location, module: origin)
  }

  /// The lines of rows of a stack, of which the one to look at first is marked.
  package func lines(_ rows: [Row], of stack: Stack) -> [Line] {
    var lines = rows.map { line($0) }
    if let anchor = signature?.anchor {
      guard stack.owns(anchor), let index = rows.firstIndex(where: { $0.number == anchor.line }) else { return lines }
      lines[index].mark = .anchor
    } else if stack.isMarked, let own = firstOwn(rows) {
      lines[own].mark = .firstOwn
    }
    return lines
  }
}

extension CrashView.Stack {
  /// Whether the anchor of the signature is in this stack.
  package func owns(_ anchor: Signature.Anchor) -> Bool {
    switch (anchor.stack, owner) {
    case (.lastException, .lastException), (.thread(nil), .exceptionThread): true
    case (.thread(let thread), .thread(let index)): thread == index
    default: false
    }
  }
}

extension CrashView.Row {
  /// Why it has no frame: "inlined", "tail call", "inferred tail call".
  fileprivate var withoutFrame: String? {
    if let tailCall { return (tailCall.isInferred ? "inferred " : "") + "tail call" }
    return isInlined ? "inlined" : nil
  }
}
