// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CrashpadFiles
import CrashpadSymbolServers
import CrashpadText
import SystemPackage

struct SymbolsCacheCommand: Command {
  static let name = "cache"
  static var documents: [DocumentDescription] { [document.description] }
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Print or limit the size of the cache of symbol servers.",
    discussion: flowing(
      """
      The cache has the files that --symbols-url and --debuginfod downloaded. With
      --max-size, the oldest go until the others fit.

      Examples:
        crashpadctl symbols cache
        crashpadctl symbols cache --max-size 10GiB
      """))

  var cache: String?
  var maxSize: LimitArgument<SizeArgument> = LimitArgument(nil)
  var dryRun = false
  var format: OutputFormat = .text

  mutating func rows(_ row: inout OptionRows) {
    row.symbolsCache(&cache)
    row.option(
      &maxSize, "--max-size <size>",
      "Remove the oldest files until the rest fits into this size, e.g. 10GiB; none for no limit.",
      parse: LimitArgument<SizeArgument>.parse)
    row.dryRun(&dryRun, "Print what would be removed; change nothing.")
    row.format(&format, "Print text, or one JSON document.")
  }

  func run() throws {
    let folder = try SymbolServerArguments.folder(cache)
    let trimming: ServerCache.Trimming
    do {
      trimming = try ServerCache(folder).trim(to: maxSize.bound?.bytes, isDryRun: dryRun)
    } catch Errno.noSuchFileOrDirectory where cache == nil {
      // No server was asked yet.
      trimming = ServerCache.Trimming()
    } catch { throw Terminal.failure(error, of: TextFormat.printable(folder), creating: false) }
    for failure in trimming.failures {
      Terminal.error("\(TextFormat.printable(failure.path)): error: \(failure.errno)")
    }
    switch format {
    case .text: Terminal.output(text(folder, trimming))
    case .json: Self.document.print((folder, dryRun, trimming))
    }
    throw ExitStatus(of: trimming.failures.map { ExitStatus($0.errno, creating: false) })
  }

  private func text(_ folder: FilePath, _ trimming: ServerCache.Trimming) -> String {
    func count(_ files: [ServerCache.File], _ bytes: UInt64) -> String {
      "\(TextFormat.count(files.count, "file")), \(TextFormat.size(bytes))"
    }
    var lines = ["\(TextFormat.printable(folder)): \(count(trimming.left, trimming.bytesLeft))"]
    if maxSize.bound != nil {
      let verb = dryRun ? "would be removed" : "removed"
      lines.append("\(count(trimming.removed, trimming.bytesRemoved)) \(verb)")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private typealias Outcome = (folder: FilePath, isDryRun: Bool, trimming: ServerCache.Trimming)

  private static let document = Document<Outcome>(
    "crashpadctl-symbols-cache/1", "Output of `crashpadctl symbols cache --format json`.",
    .path("cache", "The directory.", .always) { $0.folder },
    .flag("dry_run", "Whether nothing was changed because of `--dry-run`.") { $0.isDryRun },
    .number("files", "The number of files that stay.", .always) { $0.trimming.left.count },
    .number("bytes", "Their size.", .always) { $0.trimming.bytesLeft },
    .list("removed", file, "The files that were or would be removed, the oldest first.") { $0.trimming.removed })

  private static let file = Record<ServerCache.File>(
    .path("path", "The file.", .always) { $0.path }, .number("bytes", "Its size.", .always) { $0.size })
}
