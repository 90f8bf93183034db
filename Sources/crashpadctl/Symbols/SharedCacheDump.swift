// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadFiles
import CrashpadSymbolication
import CrashpadText
import SystemPackage

/// Writes a symbol file for each library of a dyld shared cache.
struct SharedCacheDump {
  private let cache: SharedCache
  private let name: String
  private let options: BreakpadWriter.Options
  private let store: FilePath

  /// Ends the tool if the cache can't be read.
  init(_ file: String, _ options: BreakpadWriter.Options, to store: FilePath) throws {
    (name, self.options, self.store) = (displayName(file), options, store)
    do { cache = try SharedCache(FilePath(argument: file)) } catch {
      throw Terminal.failure(error, of: name, creating: false)
    }
  }

  private enum Outcome: Sendable {
    case written(BreakpadWriter.Counts)
    case empty
    /// It, or its names, are in a file of the cache that can't be used.
    case absent
    case failed(String, ExitStatus)
  }

  private struct Tally {
    var libraries = 0
    var empty = 0
    var absent = 0
    var symbols = 0
    var frameRules = 0
    var failures: [ExitStatus] = []

    mutating func add(_ counts: BreakpadWriter.Counts) {
      libraries += 1
      symbols += counts.publics + counts.functions
      frameRules += counts.frameRules
    }
  }

  func run(jobs: Int, isQuiet: Bool) throws -> ExitStatus {
    for problem in cache.problems {
      Terminal.error(Sentences.line(problem.place))
    }
    var tally = Tally()
    parallelMapInOrder(count: cache.imageCount, jobs: jobCount(jobs), work: { dump($0) }) { image, outcome in
      count(outcome, image, &tally)
      return true
    }
    do { try cache.checkReading() } catch { throw Terminal.failure(error, of: name, creating: false) }
    if tally.absent > 0 {
      let libraries = TextFormat.count(tally.absent, "library", "libraries")
      Terminal.error("\(name): error: \(libraries) in files of the cache that can't be used")
      tally.failures.append(.noData)
    }
    if !isQuiet { Terminal.error("\(name): \(summary(tally))") }
    return ExitStatus(of: tally.failures)
  }

  private func summary(_ tally: Tally) -> String {
    var parts = [
      TextFormat.count(tally.libraries, "library", "libraries"), TextFormat.count(tally.symbols, "symbol"),
      TextFormat.count(tally.frameRules, "frame rule"),
    ]
    if tally.empty > 0 { parts.append("\(grouped(tally.empty)) without symbols") }
    return parts.joined(separator: ", ") + " in \(TextFormat.printable(store))"
  }

  private func count(_ outcome: Outcome, _ image: Int, _ tally: inout Tally) {
    switch outcome {
    case .written(let counts): tally.add(counts)
    case .empty: tally.empty += 1
    case .absent: tally.absent += 1
    case .failed(let text, let status):
      Terminal.error("\(name): error: \(TextFormat.printable(cache.imagePath(image))): \(text)")
      tally.failures.append(status)
    }
  }

  private func dump(_ image: Int) -> Outcome {
    switch cache.extract(image) {
    case .absent, .incomplete: return .absent
    case .damaged: return .failed("can't be read", .noData)
    case .file(let file):
      do { return try write(file, lastPathComponent(cache.imagePath(image))) } catch {
        let (text, status) = Sentences.failure(error, creating: true)
        return .failed(text, status)
      }
    }
  }

  private func write(_ file: MachOFile, _ name: String) throws -> Outcome {
    let source = try BreakpadInput(file, name: name)
    guard source.hasSymbols else { return .empty }
    let target = source.module.path(below: store)
    try createDirectories(target.removingLastComponent())
    let output = try OutputFile(target)
    let counts = try BreakpadWriter.write(source, options, to: output)
    try cache.checkReading()
    try output.commit(durable: false)
    return .written(counts)
  }
}

extension SharedCacheProblem {
  /// The finding, with its file.
  var place: SymbolFileFinding { SymbolFileFinding(file: path, finding: finding()) }
}
