// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView

/// Modules and the state of their symbols.
enum ModuleSymbolText {
  /// A table of the modules.
  static func table(_ modules: [Symbolization.Module], _ view: CrashView, style: TextStyle = .plain) -> String {
    var table = TextTable([("address", .left), ("name", .left), ("debug id", .left), ("symbols", .left)])
    table.elastic = ["symbols": .label, "name": .tail]
    table.droppable = ["debug id", "address"]
    for module in modules {
      table.add([
        view.module(module.index).address.map(view.fullAddress) ?? "-", view.moduleName(module.index),
        module.identity.debugID?.text ?? "-", module.symbolLine,
      ])
    }
    return table.text(style)
  }
}
