internal import BinaryFormat
/// All rows, and the ways to find one.
package enum MeaningTable {
  /// In the order of the manual page.
  package static let all: [CodeMeaning] =
    CodeMeaning.terminationCodes + CodeMeaning.namespaces + CodeMeaning.namespaceCodes + CodeMeaning.terminationFlags
    + CodeMeaning.jetsamBands + CodeMeaning.exceptions + CodeMeaning.exceptionCodes + CodeMeaning.crashSignals
    + CodeMeaning.resources + CodeMeaning.guards + CodeMeaning.signals + CodeMeaning.signalCodes
    + CodeMeaning.windowsCodes + CodeMeaning.syndromes + CodeMeaning.faultStatuses + CodeMeaning.traps
    + CodeMeaning.addresses + CodeMeaning.kernelTriage + CodeMeaning.messages

  /// Single words for the completion of shells: names, and codes that are written as hexadecimal numbers.
  package static let completions: [String] = {
    var words: Set<String> = []
    for row in all {
      switch row.kind {
      case .message, .kernelTriage, .address, .syndrome, .faultStatus, .trap, .jetsamBand, .terminationFlag: continue
      case .terminationCode, .windows: words.insert(row.query)
      default: if !row.name.contains(" ") { words.insert(row.name) }
      }
    }
    return words.sorted()
  }()

  /// A termination code such as 0x8badf00d.
  package static func terminationCode(_ value: UInt64) -> CodeMeaning? {
    CodeMeaning.terminationCodes.first { $0.has(value) }
  }

  /// A namespace by its name, or by another one that reports use.
  package static func namespace(_ name: String) -> CodeMeaning? {
    let name = name.uppercased()
    return CodeMeaning.namespaces.first { $0.name == name }
      ?? CodeMeaning.namespaces.first { $0.aliases.contains(name) }
  }

  package static func code(_ value: UInt64, in namespace: String) -> CodeMeaning? {
    CodeMeaning.namespaceCodes.first { $0.context == namespace && $0.has(value) }
  }

  package static func exception(_ type: UInt64) -> CodeMeaning? { CodeMeaning.exceptions.first { $0.has(type) } }

  /// The number of a Mach exception, of a signal on Darwin, or of a code of either, by the name that reports spell; nil of
  /// other names.
  package static func number(ofDarwin name: String) -> UInt64? {
    for rows in [CodeMeaning.exceptions, CodeMeaning.signals, CodeMeaning.exceptionCodes, CodeMeaning.signalCodes] {
      guard let row = rows.first(where: { $0.name == name }) else { continue }
      return row.numbers.first { $0.platform != .linux }?.value
    }
    return nil
  }

  /// A code of a Mach exception. Codes below 16 and from 0x100 on belong to the processor.
  static func code(_ value: UInt64, of exception: String, on platform: CodeMeaning.Platform) -> CodeMeaning? {
    let rows = (CodeMeaning.exceptionCodes + CodeMeaning.crashSignals).filter { $0.context == exception }
    return rows.first { $0.has(value, on: [platform]) } ?? rows.first { $0.has(value, on: [.any, .darwin]) }
  }

  static func signal(_ number: UInt64, on platform: CodeMeaning.Platform) -> CodeMeaning? {
    CodeMeaning.signals.first { $0.has(number, on: [platform, .any]) }
  }

  static func signal(named name: String) -> CodeMeaning? {
    let name = name.uppercased()
    return CodeMeaning.signals.first { $0.name == name || $0.aliases.contains(name) }
  }

  static func signalCode(_ code: UInt64, of signal: String, on platform: CodeMeaning.Platform) -> CodeMeaning? {
    CodeMeaning.signalCodes.first { $0.context == signal && $0.has(code, on: [platform, .any]) }
      ?? CodeMeaning.signalCodes.first { $0.context == nil && $0.has(code, on: [platform, .any]) }
  }

  static func windows(_ code: UInt64) -> CodeMeaning? { CodeMeaning.windowsCodes.first { $0.has(code) } }

  /// The row of a message of a runtime: that with the longest text that the message has.
  package static func message(_ text: String) -> CodeMeaning? { longest(in: text, CodeMeaning.messages) }

  /// The row of a line of `ktriageinfo`.
  package static func kernelTriage(_ line: String) -> CodeMeaning? { longest(in: line, CodeMeaning.kernelTriage) }

  /// Characters of a message that are compared.
  private static let longestText = 2000

  private static func longest(in text: String, _ rows: [CodeMeaning]) -> CodeMeaning? {
    // Messages have their own words first; what a program logged behind them may be megabytes.
    let text = String(text.prefix(longestText)).lowercased()
    var found: (row: CodeMeaning, length: Int)?
    for row in rows {
      for alias in row.aliases where alias.utf8.count > found?.length ?? 0 && text.holds(alias) {
        found = (row, alias.utf8.count)
      }
    }
    return found?.row
  }

  /// The row that `row` belongs to, and the rows above it: EXC_GUARD FD and EXC_GUARD of EXC_GUARD FD CLOSE.
  package static func ancestors(of row: CodeMeaning) -> [CodeMeaning] {
    var chain: [CodeMeaning] = []
    var context = row.context
    while let name = context, let next = parent(name, of: row.kind) {
      chain.append(next)
      context = next.context
    }
    return chain
  }

  private static func parent(_ name: String, of kind: CodeMeaning.Kind) -> CodeMeaning? {
    switch kind {
    case .namespaceCode: return namespace(name)
    case .signalCode: return signal(named: name)
    default: break
    }
    let words = name.split(separator: " ")
    guard words.count > 1 else { return CodeMeaning.exceptions.first { $0.name == name } }
    let rows = words[0] == "EXC_GUARD" ? CodeMeaning.guards : CodeMeaning.resources
    return rows.first { $0.context == String(words[0]) && $0.name == words[1] }
  }
}
