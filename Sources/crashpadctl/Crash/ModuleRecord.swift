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
    .text(
      "symbol_url",
      "The address of the first file that is from a server; null if there is none, or if it is not known."
    ) { owner in owner.module.symbols?.search.files.compactMap(\.url).first },
    .list(
      "symbol_servers", answer, "The requests to symbol servers, in their order. Omitted if none was made.", .omittable
    ) { owner in
      let answers = owner.module.symbols?.search.answers ?? []
      return answers.isEmpty ? nil : answers
    },
    .list("symbol_files", file, "The files that are used. Omitted if no symbols were searched for.", .omittable) {
      $0.module.symbols?.search.files
    },
    .list(
      "symbol_findings", FindingRecord.symbolFile,
      "Findings about the files that were found, used or not; the rules are in crashpadctl-symbolize(1). Omitted if no symbols "
        + "were searched for.", .omittable
    ) { $0.module.symbols?.fileFindings })

  private static let answer = Record<ServerAnswer>(
    .text("url", "The address of the file, without what may be a secret; null if it is not known.") { $0.url },
    .word(
      "outcome", of: ["kept", "downloaded", "absent", "absent-before", "not-asked", "failed", "refused"],
      "`downloaded`; `kept` from an earlier run; `absent` if the server does not have it, `absent-before` if it answered so within the last hour; `failed` if it gave no answer that says whether it has it, `not-asked` after such a failure; `refused` if it sent another file.",
      .always
    ) { $0.outcome.word },
    .text("reason", "Why it failed, was refused or not asked.", .omittable) { $0.outcome.reason },
    .path("path", "The file in the cache.", .omittable) { $0.path })

  private static let file = Record<SymbolMatches.Found>(
    .path("path", "Its path.", .always) { $0.path },
    .text("kind", "`binary`, `debug`, `breakpad` or `mach-o`.", .always) { $0.role.rawValue },
    .flag("verified", "Whether it has the module's id.") { $0.isVerified })
}

extension ServerAnswer.Outcome {
  fileprivate var word: String {
    switch self {
    case .kept: "kept"
    case .downloaded: "downloaded"
    case .absent: "absent"
    case .absentBefore: "absent-before"
    case .notAsked: "not-asked"
    case .failed: "failed"
    case .refused: "refused"
    }
  }

  fileprivate var reason: String? {
    switch self {
    case .kept, .downloaded, .absent, .absentBefore: nil
    case .notAsked(let text), .failed(let text), .refused(let text): text
    }
  }
}
