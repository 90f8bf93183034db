// SPDX-License-Identifier: Apache-2.0
import CrashpadSymbolication
import CrashpadText
import CrashpadView

/// An address in a module and what is there, in JSON documents.
enum PlaceRecord {
  static let registersMeaning =
    "The registers with an address in a module, in the order of `registers`, and what is there. None of them says that the "
    + "program used the register as an address."

  static let pointer = Record<(view: CrashView, pointer: CrashView.Pointer)>(
    .text("register", "Its name.", .always) { $0.pointer.name },
    .members(of: target) { $0 })

  static let word = Record<(view: CrashView, pointer: CrashView.Pointer)>(
    .addressText("address", "The address of the word.", .always) { $0.pointer.name },
    .members(of: target) { $0 })

  private static let target = Record<(view: CrashView, pointer: CrashView.Pointer)>(
    .addressText("value", "The address that it has.", .always) { $0.view.fullAddress($0.pointer.value) },
    .text("module", "The name of the module without directories.", .always) { $0.pointer.location.moduleName },
    .members(of: place) { $0.pointer.location })

  static let place = Record<CrashView.Location>(
    .number("module_index", "Its index in `modules`.", .always) { $0.module },
    .address("module_offset", "The offset in it.", .always) { $0.offset },
    .members(ifAny: function) { $0.isExamined ? $0 : nil })

  private static let function = Record<CrashView.Location>(
    .text(
      "function",
      "The function there, of inlined calls the innermost one; null if the symbols have none. Omitted where the module's "
        + "symbols were not searched, with the members that follow."
    ) { location in location.symbol?.frames.first.flatMap { $0.name ?? $0.function } },
    .members(of: SourceRecord.line) { $0.symbol?.frames.first?.location },
    .flag(
      "nearest_symbol", "True if the name is only that of the nearest preceding symbol; omitted otherwise.", .omittable
    ) { $0.symbol?.isNearest == true ? true : nil },
    .object(
      "data", data, "The variable, constant or table there, which is in no function; omitted if there is none.",
      .omittable
    ) { location in location.data.map { ($0, location) } })

  private static let data = Record<(symbol: DataSymbol, location: CrashView.Location)>(
    .text("name", "Its name.", .always) { $0.symbol.name },
    .address("module_offset", "The offset of its start in the module.", .always) { $0.symbol.start },
    .flag(
      "is_nearest",
      "Whether it is only the nearest preceding symbol, of unknown size. The address may be in other data.", .always
    ) { $0.symbol.isNearest })
}
