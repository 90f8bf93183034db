// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSymbolication
import SystemPackage

/// The result of `symbols index` as JSON, which is written while files are found.
final class SymbolsIndexDocument {
  /// The changes made, or that would be made.
  struct Outcome {
    var files = 0
    var withoutID = 0
    var added = 0
    var present = 0
    var taken = 0
    /// Indexes that the cache has.
    var indexes = 0
    var failures: [ExitStatus] = []
  }

  /// A file, and its places in the store.
  struct Row {
    let file: SymbolStore.File
    let places: [(path: FilePath, outcome: SymbolStore.Outcome)]
    /// Nil without `--prepare`.
    let isIndexed: Bool?
  }

  private let store: String?
  private let isDryRun: Bool
  private let forEach: (_ write: (Row) -> Void) -> Outcome
  private(set) var outcome: Outcome?

  init(
    store: String?, isDryRun: Bool,
    _ forEach: @escaping (_ write: (Row) -> Void) -> Outcome
  ) {
    self.store = store
    self.isDryRun = isDryRun
    self.forEach = forEach
  }

  static let document = Document<SymbolsIndexDocument>(
    "crashpadctl-symbols-index/1", "Output of `crashpadctl symbols index --format json`.",
    .path("store", "The directory of `--output`.") { $0.store.map { FilePath(argument: $0) } },
    .flag("dry_run", "Whether nothing was changed because of `--dry-run`.") { $0.isDryRun },
    .stream("files", file, "The symbol files.") { document, write in
      document.outcome = document.forEach { write((document.store != nil, $0)) }
    })

  private static let file = Record<(hasStore: Bool, row: Row)>(
    .path("path", "The file.", .always) { $0.row.file.path },
    .word(
      "format", of: ["elf", "mach-o", "breakpad", "pe", "shared_cache"],
      "`elf`, `mach-o`, `breakpad`, `pe` or `shared_cache`.", .always
    ) {
      switch $0.row.file.format {
      case .elf: "elf"
      case .breakpad: "breakpad"
      case .pe: "pe"
      case .sharedCache: "shared_cache"
      case .machO: "mach-o"
      }
    },
    .text("name", "The name of the module.", .always) { $0.row.file.name },
    .digits("build_id", "The build id of an ELF file.") { $0.row.file.buildID.isEmpty ? nil : $0.row.file.buildID },
    .texts("debug_ids", "Breakpad's ids; a fat file has several.") { $0.row.file.debugIDs.map(\.text) },
    .list("places", place, "Only with a store: the places of the file in it.", .omittable) {
      $0.hasStore ? $0.row.places : nil
    },
    .flag("indexed", "Only with `--prepare`: whether the cache has an index of the file.", .omittable) {
      $0.row.isIndexed
    })

  private static let place = Record<(path: FilePath, outcome: SymbolStore.Outcome)>(
    .path("path", "The path.", .always) { $0.path },
    .word(
      "outcome", of: ["added", "present", "taken", "failed"],
      "`added`; `present` if the same file exists already; `taken` if a different file exists; or `failed`.", .always
    ) {
      switch $0.outcome {
      case .added: "added"
      case .present: "present"
      case .taken: "taken"
      case .failed: "failed"
      }
    },
    .text("error", "The reason why it failed.", .omittable) {
      if case .failed(let errno) = $0.outcome { errno.description } else { nil }
    })
}
