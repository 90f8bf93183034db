// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// One query of `symbols lookup`: an address, and the file that has it.
struct LookupQuery {
  let line: String
  /// Nil for the file of the command.
  let file: String?
  /// Nil if the text is not an address.
  let address: UInt64?

  /// Parses "ADDRESS" or "FILE ADDRESS". The name of a file may contain blanks.
  init(_ line: String) {
    self.line = line
    let last = line.lastIndex(of: " ")
    let name = last.map { line[..<$0] }
    let isName = name?.allSatisfy { $0 == " " } == false
    file = isName ? name.map(String.init) : nil
    address = Self.address(last.map { line[line.index(after: $0)...] } ?? line[...])
  }

  private static func address(_ text: Substring) -> UInt64? {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text
    guard digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-") else { return nil }
    return UInt64(digits, radix: 16)
  }
}

/// The files of a run of `symbols lookup`, each opened once.
final class LookupFiles {
  private let main: FileSymbols
  private let name: String
  private let open: (String) throws -> FileSymbols
  /// Nil for a file that can't be used.
  private var others: [String: FileSymbols?] = [:]
  private var order: [String] = []
  /// Whether a file could not be used.
  private(set) var hasFailed = false

  /// - Parameter open: opens a file; what it throws is printed, and the file's addresses have no names.
  init(_ main: FileSymbols, _ name: String, open: @escaping (String) throws -> FileSymbols) {
    (self.main, self.name, self.open) = (main, name, open)
  }

  /// The symbols of the file of a query; nil if it can't be used.
  func symbols(_ query: LookupQuery) -> FileSymbols? {
    guard let file = query.file else { return main }
    if let known = others[file] { return known }
    order.append(file)
    do { others[file] = .some(try open(file)) } catch {
      hasFailed = true
      others[file] = .some(nil)
    }
    return others[file] ?? nil
  }

  /// Each file that was opened, with its name.
  var opened: [(name: String, symbols: FileSymbols)] {
    [(name, main)] + order.compactMap { name in (others[name] ?? nil).map { (name, $0) } }
  }
}
