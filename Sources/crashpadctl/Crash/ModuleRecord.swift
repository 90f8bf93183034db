// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView
import SystemPackage

/// A module with the state of its symbols, in JSON documents. Members that rust-minidump has too have the same names and
/// meanings.
struct ModuleRecord {
  let module: Symbolization.Module
  private let recorded: CrashView.Module
  private let view: CrashView

  init(_ module: Symbolization.Module, _ view: CrashView) {
    self.module = module
    self.view = view
    recorded = view.module(module.index)
  }

  private var path: String { ArgumentText.repaired(module.identity.path) }

  static let record = Record<ModuleRecord>(
    .addressText("base_addr", "The load address.") { owner in owner.recorded.address.map(owner.view.fullAddress) },
    .addressText("end_addr", "The address after the module.") { owner in owner.recorded.end.map(owner.view.fullAddress)
    },
    .text("filename", "The name without directories.", .always) { lastPathComponent($0.path) },
    .text("path", "The full path.", .always) { $0.path },
    .text(
      "code_id",
      "The build id, or the UUID without hyphens; of a module of Windows, the time stamp in eight digits and the size in "
        + "memory. In lowercase hexadecimal digits."
    ) { $0.recorded.codeID },
    .text("debug_file", "The name for symbol servers.", .always) { $0.module.identity.debugName },
    .text("debug_id", "The id for symbol servers.") { $0.module.identity.debugID?.text },
    .text("version", "Numbers with dots.") { $0.recorded.version },
    .flag(
      "loaded_symbols",
      "Whether there are symbols. Both this and `missing_symbols` are false if no symbols were searched for, because no frame "
        + "is in the module."
    ) { $0.module.symbols?.isFound == true },
    .flag("missing_symbols", "Whether symbols were searched for, and not found.") {
      $0.module.symbols?.isFound == false
    },
    .flag("corrupt_symbols", "Whether a part of a symbol file is damaged or missing.") {
      $0.module.symbols?.findings.isEmpty == false
    },
    .text("symbol_url", "Null.") { _ in nil },
    .list("symbol_files", file, "The files that are used. Omitted if no symbols were searched for.", .omittable) {
      $0.module.symbols?.search.files
    },
    .list(
      "symbol_findings", FindingRecord.symbolFile,
      "Findings about the files that were found, used or not; the rules are in crashpadctl-symbolize(1). Omitted if no symbols "
        + "were searched for.", .omittable
    ) { $0.module.symbols?.fileFindings })

  private static let file = Record<SymbolMatches.Found>(
    .path("path", "Its path.", .always) { $0.path },
    .text("kind", "`binary`, `debug`, `breakpad` or `mach-o`.", .always) { $0.role.rawValue },
    .flag("verified", "Whether it has the module's id.") { $0.isVerified })
}
