// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
/// All rows, and functions to find one.
package enum MeaningTable {
  /// All rows in the order of the manual page.
  package static let all: [CodeMeaning] =
    CodeMeaning.terminationCodes + CodeMeaning.namespaces + CodeMeaning.namespaceCodes + CodeMeaning.terminationFlags
    + CodeMeaning.jetsamBands + CodeMeaning.exceptions + CodeMeaning.exceptionCodes + CodeMeaning.crashSignals
    + CodeMeaning.resources + CodeMeaning.guards + CodeMeaning.signals + CodeMeaning.signalCodes
    + CodeMeaning.windowsCodes + CodeMeaning.fastFails + CodeMeaning.syndromes + CodeMeaning.faultStatuses
    + CodeMeaning.traps + CodeMeaning.bugTypes
    + CodeMeaning.addresses + CodeMeaning.kernelTriage + CodeMeaning.messages
    + CodeMeaning.functions

  /// Returns the row for a termination code such as 0x8badf00d.
  package static func terminationCode(_ value: UInt64) -> CodeMeaning? {
    CodeMeaning.terminationCodes.first { $0.has(value) }
  }

  /// Returns the namespace with this name, or with this alias used in reports.
  package static func namespace(_ name: String) -> CodeMeaning? {
    let name = name.uppercased()
    return CodeMeaning.namespaces.first { $0.name == name }
      ?? CodeMeaning.namespaces.first { $0.aliases.contains(name) }
  }

  package static func code(_ value: UInt64, in namespace: String) -> CodeMeaning? {
    CodeMeaning.namespaceCodes.first { $0.context == namespace && $0.has(value) }
  }

  package static func exception(_ type: UInt64) -> CodeMeaning? { CodeMeaning.exceptions.first { $0.has(type) } }

  /// The types of Mach exceptions by name.
  package static let machExceptions = numbers(CodeMeaning.exceptions)

  /// The signals of macOS and iOS by name.
  package static let darwinSignals = numbers(CodeMeaning.signals)

  private static func numbers(_ rows: [CodeMeaning]) -> [String: UInt32] {
    var numbers: [String: UInt32] = [:]
    for row in rows { numbers[row.name] = row.numbers.first { $0.platform != .linux }.map { UInt32($0.value) } }
    return numbers
  }

  /// Returns the row for a code of a Mach exception. Codes below 16 and from 0x100 on depend on the processor.
  static func code(_ value: UInt64, of exception: String, on platform: CodeMeaning.Platform) -> CodeMeaning? {
    // By number: each copy of a row retains its texts.
    func row(_ rows: [CodeMeaning], _ platforms: [CodeMeaning.Platform]) -> CodeMeaning? {
      let found = rows.indices.first { rows[$0].context == exception && rows[$0].has(value, on: platforms) }
      return found.map { rows[$0] }
    }
    let (codes, signals) = (CodeMeaning.exceptionCodes, CodeMeaning.crashSignals)
    let common: [CodeMeaning.Platform] = [.any, .darwin]
    return row(codes, [platform]) ?? row(signals, [platform]) ?? row(codes, common) ?? row(signals, common)
  }

  package static func signal(_ number: UInt64, on platform: CodeMeaning.Platform) -> CodeMeaning? {
    CodeMeaning.signals.first { $0.has(number, on: [platform, .any]) }
  }

  package static func signal(named name: String) -> CodeMeaning? {
    let name = name.uppercased()
    return CodeMeaning.signals.first { $0.name == name || $0.aliases.contains(name) }
  }

  static func signalCode(_ code: UInt64, of signal: String, on platform: CodeMeaning.Platform) -> CodeMeaning? {
    CodeMeaning.signalCodes.first { $0.context == signal && $0.has(code, on: [platform, .any]) }
      ?? CodeMeaning.signalCodes.first { $0.context == nil && $0.has(code, on: [platform, .any]) }
  }

  /// Returns the number of a code of a signal on Linux, such as SEGV_MAPERR.
  package static func signalCode(named name: String, of signal: String) -> UInt64? {
    let row = CodeMeaning.signalCodes.first { $0.name == name && ($0.context == nil || $0.context == signal) }
    return row?.numbers.first { $0.platform != .darwin }?.value
  }

  /// Returns the number of an exception of Windows by its name, such as EXCEPTION_STACK_OVERFLOW.
  package static func windowsCode(named name: String) -> UInt64? {
    CodeMeaning.windowsCodes.first { $0.name == name || $0.aliases.contains(name) }?.numbers.first?.value
  }

  static func windows(_ code: UInt64) -> CodeMeaning? { CodeMeaning.windowsCodes.first { $0.has(code) } }

  /// Returns the number of a reason of __fastfail, such as FAST_FAIL_FATAL_APP_EXIT.
  package static func fastFail(named name: String) -> UInt64? {
    CodeMeaning.fastFails.first { $0.name == name }?.numbers.first?.value
  }

  /// Returns the row for a reason of __fastfail.
  package static func fastFail(_ reason: UInt64) -> CodeMeaning? { CodeMeaning.fastFails.first { $0.has(reason) } }

  /// Returns the row for a line of `ktriageinfo`.
  package static func kernelTriage(_ line: String) -> CodeMeaning? { longest(in: line, CodeMeaning.kernelTriage) }

  /// The number of characters of a message that are compared.
  private static let longestText = 2000

  private static func longest(in text: String, _ rows: [CodeMeaning]) -> CodeMeaning? {
    // The text of the message comes first; a program may log megabytes after it.
    let text = String(text.prefix(longestText)).lowercased()
    // By number: a row has so much text that copying each of them takes as long as the search.
    var found: (row: Int, length: Int)?
    for row in rows.indices {
      for alias in rows[row].aliases where alias.utf8.count > found?.length ?? 0 && text.containsBytes(alias) {
        found = (row, alias.utf8.count)
      }
    }
    return found.map { rows[$0.row] }
  }

  /// The ancestors of `row`, the nearest first: EXC_GUARD FD and EXC_GUARD for EXC_GUARD FD CLOSE.
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
