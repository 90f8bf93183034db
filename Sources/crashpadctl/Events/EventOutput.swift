// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadEvents
import CrashpadFiles
import CrashpadSnapshot
import SystemPackage

/// The destination of the events of a run. With a cursor they are written in batches; a run that is killed has lost the work on one.
struct EventOutput {
  private let cursor: EventCursor?
  private let target: EventCursor.Output
  /// Without a cursor: a file that appears whole.
  private let whole: OutputFile?
  private var batch: [EventCursor.Entry] = []
  private var byteCount = 0
  private var identities: [UUIDBytes: CrashEvent.Identity] = [:]
  private var seen: Set<UUIDBytes> = []

  /// The number of crashes that do not name a user or an installation.
  private(set) var unnamed = 0
  /// The number of dumps whose events may be in two files.
  var repeatedCount: Int { cursor?.repeatedCount ?? 0 }

  private static let batchCount = 256
  private static let batchSize = 1 << 20
  /// A run that is killed again and again gets on all the same.
  private static let batchTime = Duration.seconds(1)
  private var batchStart = Duration.sinceBoot

  /// - Parameter argument: nil or `-` for standard output.
  init(_ argument: String?, _ cursor: EventCursor?) throws {
    self.cursor = cursor
    guard let argument, argument != "-" else {
      whole = nil
      target = .stream { try Terminal.writeOutput($0) }
      return
    }
    let path = FilePath(argument: argument)
    let status = try FileStatus(ifPresent: path)
    if cursor != nil, status?.kind ?? .regular == .regular {
      whole = nil
      target = .file(path)
      return
    }
    let file = try OutputFile(path)
    whole = file
    target = .stream { try file.write($0) }
  }

  mutating func add(_ entry: EventCursor.Entry, _ identity: CrashEvent.Identity?) throws {
    guard cursor != nil else {
      guard let id = entry.dump.id, seen.insert(id).inserted else { return }
      if identity == .dump { unnamed += 1 }
      for line in entry.lines { try write(line) }
      return
    }
    if let id = entry.dump.id { identities[id] = identity }
    if batch.isEmpty { batchStart = .sinceBoot }
    batch.append(entry)
    byteCount += entry.lines.reduce(0) { $0 + $1.count }
    let isFull = batch.count >= Self.batchCount || byteCount >= Self.batchSize
    if isFull || .sinceBoot - batchStart > Self.batchTime { try writeBatch() }
  }

  private func write(_ line: [UInt8]) throws {
    guard case .stream(let sink) = target else { return }
    try unsafe sink(line.span.bytes)
  }

  private mutating func writeBatch() throws {
    guard !batch.isEmpty else { return }
    let written = try cursor?.write(batch, to: target) ?? []
    unnamed += written.count { identities[$0] == .dump }
    (batch, byteCount, identities) = ([], 0, [:])
  }

  mutating func finish() throws {
    try writeBatch()
    try cursor?.finish()
    try whole?.commit(durable: true)
  }
}
