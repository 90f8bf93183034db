// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadText

/// The result of `symbols lookup` as JSON, which is written while addresses are read.
struct LookupDocument {
  let file: String
  /// Passes each answer to `write`.
  let forEach: (_ write: (Answer) -> Void) -> Void

  /// The names of functions. A demangler is used for all answers.
  final class Names {
    private var demangler: Demangler

    init(_ demangler: Demangler) { self.demangler = demangler }

    func name(_ frame: SymbolizedAddress.Frame) -> String? { frame.function.map { demangler.name($0) } }
    func name(of data: DataSymbol) -> String { demangler.name(data.symbol) }
  }

  struct Answer {
    let query: LookupQuery
    let found: SymbolizedAddress?
    let data: DataSymbol?
    let imageBase: UInt64
    let frames: [SymbolizedAddress.Frame]
    let names: Names
  }

  static let document = Document<LookupDocument>(
    "crashpadctl-symbols-lookup/1", "Output of `crashpadctl symbols lookup --format json`.",
    .argument("file", "The file with the symbols.") { $0.file },
    .stream("addresses", answer, "The addresses, in the order of the input.") { $0.forEach($1) })

  private static let answer = Record<Answer>(
    .address("address", "The address; null for an input line that is not an address.") { $0.query.address },
    .members(ifAny: ownFile) { $0.query.file },
    .text("text", "The input line, if it is not an address.", .omittable) {
      $0.query.address == nil ? TextFormat.printable($0.query.line) : nil
    },
    .address("function_address", "The start of the compiled function.") { answer in
      answer.found?.functionAddress.map { answer.imageBase &+ $0 }
    },
    .flag("is_nearest", "Whether the name is only that of the nearest preceding symbol.") {
      $0.found?.isNearest ?? false
    },
    .object("data", data, "The data that contains the address, which is in no function.", .omittable) { answer in
      answer.data.map { ($0, answer.imageBase, answer.names) }
    },
    .list(
      "frames", frame,
      "An object for each inlined call, the innermost first, and one for the compiled function. "
        + "Empty if nothing is known."
    ) { answer in answer.frames.map { ($0, answer.names) } })

  private static let ownFile = Record<String>(
    .argument("file", "The file that was given with the address, in place of that of the document.") { $0 })

  private static let data = Record<(data: DataSymbol, imageBase: UInt64, names: Names)>(
    .text("name", "The name of the variable, constant or table.") { $0.names.name(of: $0.data) },
    .address("address", "Its start.", .always) { $0.imageBase &+ $0.data.start },
    .flag(
      "is_nearest",
      "Whether it is only the nearest preceding symbol, of unknown size. The address may be in other data."
    ) { $0.data.isNearest })

  private static let frame = Record<(frame: SymbolizedAddress.Frame, names: Names)>(
    .text("function", "The name of the function.") { $0.names.name($0.frame) },
    .text("file", "The source file.") { $0.frame.location?.file },
    .number("line", "The line.") { $0.frame.location.flatMap { $0.line > 0 ? $0.line : nil } },
    .number("column", "The column.") { $0.frame.location.flatMap { $0.column > 0 ? $0.column : nil } })
}
