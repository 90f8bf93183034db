// SPDX-License-Identifier: Apache-2.0
import CrashpadView

/// A module that was unloaded, in JSON documents, with the members of rust-minidump.
struct UnloadedModuleRecord {
  private let module: CrashView.UnloadedModule
  private let view: CrashView

  init(_ module: CrashView.UnloadedModule, _ view: CrashView) {
    self.module = module
    self.view = view
  }

  static let record = Record<UnloadedModuleRecord>(
    .addressText("base_addr", "The load address.", .always) { $0.view.fullAddress($0.module.address) },
    .addressText("end_addr", "The address after the module.", .always) { $0.view.fullAddress($0.module.end) },
    .text("filename", "The name without directories.") { $0.module.name?.lastComponent },
    .text("code_id", "The time stamp in eight digits, and the size in memory.", .always) { $0.module.codeID })

  static let place = Record<(view: CrashView, place: CrashView.UnloadedPlace)>(
    .text("module", "The name without directories.", .always) { $0.place.name },
    .texts("offsets", of: .word, "`offset` relative to each of its beginnings.") { owner in
      owner.place.offsets.map(owner.view.fullAddress)
    })
}
