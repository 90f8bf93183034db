// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import Glibc
package import CrashpadSnapshot
internal import Synchronization
package import SystemPackage

/// A file that says which dumps had their events. Several runs may use it at once, and any may be killed at any moment.
///
/// The events of a batch go to the output between two lines of the cursor. A run that finds the first one alone looks at the
/// output: what is there in whole counts, what is not is taken back.
package final class EventCursor: Sendable {
  /// Why the cursor can't be used.
  package enum Failure: Error, Sendable, Equatable {
    case notACursor(FilePath)
    case laterVersion(FilePath, String)
    case damaged(FilePath, line: Int)
    /// A run was killed, and another program wrote to the output since: bytes from `offset` on may be a part of a line.
    case outputChanged(FilePath, offset: Int)
    case noRegularFile(FilePath)
  }

  /// The destination of events.
  package enum Output {
    /// Appended to a regular file: each dump's events are there once.
    case file(FilePath)
    /// To a pipe: a run that is killed behind the last byte gives the same events again.
    case stream((RawSpan) throws -> Void)
  }

  /// A dump and the lines that are to be written of it; none of one that did not crash.
  package struct Entry: Sendable {
    package var dump: SeenDump
    package var lines: [[UInt8]]

    package init(_ dump: SeenDump, lines: [[UInt8]]) {
      self.dump = dump
      self.lines = lines
    }
  }

  /// The number of days for which a dump is remembered that no run has seen.
  package static let memory: Int32 = 90
  /// A dump that is still there gets a new line this often, in days.
  private static let renewal: Int32 = 7
  /// The longest wait for the lock, in milliseconds. It is held while a batch is written.
  package static let lockWait = 60_000

  private let path: FilePath
  private let day: Int32
  private let permissions: UInt32
  private struct State {
    var content: CursorContent
    /// Which file `content` is of.
    var identity: (device: UInt64, number: UInt64)?
    /// Dumps that this run saw, whose day is old.
    var renewed: Set<SeenDump> = []
    /// The number of dumps whose events may be written twice, as a run was killed while one output replaced another.
    var possibleRepeats = 0
  }
  private let state: Mutex<State>

  /// Reads the cursor if there is one; it is made when the first batch is written.
  ///
  /// - Parameters:
  ///   - now: in seconds since 1970.
  ///   - permissions: those of a new file, from which the umask takes its bits.
  /// - Throws: `Failure`, `Errno` or `FileFailure`.
  package init(_ path: FilePath, now: Int64, permissions: UInt32 = 0o666) throws {
    self.path = path
    self.permissions = permissions
    day = Int32(clamping: now / 86400)
    var content = CursorContent()
    if let status = try FileStatus(ifPresent: path) {
      guard status.kind == .regular else {
        if status.kind == .directory { throw Errno.isDirectory }
        throw Failure.noRegularFile(path)
      }
      let input = try InputFile(path)
      let bytes = input.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
      content = try Self.content(bytes, path)
    }
    state = Mutex(State(content: content))
  }

  /// Whether the file needs not be read again. A dump that is there still is remembered.
  package func hasSeen(_ file: UInt64) -> Bool {
    state.withLock { state in
      guard let dump = state.content.files[file] else { return false }
      if (state.content.days[dump] ?? 0) <= day - Self.renewal { state.renewed.insert(dump) }
      return true
    }
  }

  package func hasSeen(_ id: UUIDBytes) -> Bool { state.withLock { $0.content.ids.contains(id) } }

  /// The number of dumps whose events may be in two files, because one file replaced the other while a run was killed.
  package var repeatedCount: Int { state.withLock { $0.possibleRepeats } }

  // MARK: Batches

  /// Writes the events of dumps that no run has written yet, and then that they are written.
  ///
  /// - Returns: the ids whose events were written.
  /// - Throws: `Failure`, `Errno` or `FileFailure`: the output has nothing of the batch then, or all of it.
  @discardableResult
  package func write(_ batch: [Entry], to output: Output) throws -> Set<UUIDBytes> {
    try state.withLock { state in
      let file = try locked()
      let target: AppendedFile?
      if case .file(let path) = output {
        target = try AppendedFile(path)
        guard target != nil else { throw Failure.noRegularFile(path) }
        try target?.file.lock(exclusive: true, waiting: Self.lockWait)
      } else {
        target = nil
      }
      try load(file, &state)
      try recover(file, target, &state)
      var known = state.content.ids
      var written: Set<UUIDBytes> = []
      var dumps: [SeenDump] = []
      var lines: [[UInt8]] = []
      for entry in batch where state.content.days[entry.dump] == nil {
        dumps.append(entry.dump)
        guard let id = entry.dump.id, known.insert(id).inserted else { continue }
        written.insert(id)
        lines += entry.lines
      }
      guard !dumps.isEmpty else { return [] }
      try write(dumps, Array(lines.joined()), to: output, target, file, &state)
      return written
    }
  }

  /// Notes that dumps are still there, and forgets those that are long gone.
  package func finish() throws {
    try state.withLock { state in
      let isLarge = state.content.lineCount > 2 * state.content.days.count + 1000
      let isOld = state.content.days.values.contains { $0 < day - Self.memory - Self.renewal }
      guard !state.renewed.isEmpty || isLarge || isOld else { return }
      let file = try locked()
      try load(file, &state)
      // The output of the run that was killed is known to that run's command alone.
      if state.content.hasUncommittedTail { return }
      let renewed = state.renewed.filter { (state.content.days[$0] ?? 0) < day }
      if !renewed.isEmpty { try append(text(Array(renewed)) + CursorText.commit, file, &state) }
      for dump in renewed { state.content.add(dump, day: day) }
      state.renewed = []
      if isLarge || isOld { try compact(file, &state) }
    }
  }

  private func text(_ dumps: [SeenDump]) -> String { dumps.map { CursorText.dump($0, day: day) }.joined() }

  private func write(
    _ dumps: [SeenDump], _ bytes: [UInt8], to output: Output, _ target: AppendedFile?, _ file: AppendedFile,
    _ state: inout State
  ) throws {
    var text = text(dumps)
    if let target, !bytes.isEmpty {
      let status = try target.file.status()
      // An unfinished line of another program does not become a part of a line.
      let isOpen = try status.size > 0 && target.bytes(at: status.size - 1, count: 1) != [UInt8(ascii: "\n")]
      let bytes = (isOpen ? [UInt8(ascii: "\n")] : []) + bytes
      let writing = CursorText.Writing(
        device: status.device, number: status.number, start: status.size, count: bytes.count,
        digest: CursorText.Writing.digest(bytes))
      text += CursorText.writing(writing)
      try append(text, file, &state)
      do {
        try target.file.write(bytes)
        try target.file.sync()
        if status.size == 0 { try target.syncName() }
      } catch {
        try? target.truncate(to: status.size)
        try? file.truncate(to: state.content.end)
        throw error
      }
      text = ""
    } else if !bytes.isEmpty, case .stream(let sink) = output {
      try unsafe sink(bytes.span.bytes)
    }
    // If this fails, the events are in the output: the next run sees them, and writes the line.
    try append(text + CursorText.commit, file, &state)
    for dump in dumps { state.content.add(dump, day: day) }
    try mark(file, &state)
  }

  /// Appends lines; where that fails what was written of them is taken back.
  private func append(_ text: String, _ file: AppendedFile, _ state: inout State) throws {
    let start = try file.file.status().size
    do {
      try file.file.write(Array(((start == 0 ? CursorText.header + "\n" : "") + text).utf8))
      try file.file.sync()
      if start == 0 { try file.syncName() }
    } catch {
      try? file.truncate(to: start)
      throw error
    }
  }

  /// All of the file counts.
  private func mark(_ file: AppendedFile, _ state: inout State) throws {
    let status = try file.file.status()
    state.identity = (status.device, status.number)
    state.content.setEnd(status.size)
  }

  // MARK: The file

  /// The cursor, held against other runs until the object goes. Another run may have put a new file in its place meanwhile.
  private func locked() throws -> AppendedFile {
    for _ in 0..<100 {
      let file: AppendedFile?
      // The caller would name the output.
      do { file = try AppendedFile(path, permissions: permissions) } catch let errno as Errno {
        throw FileFailure(path, errno)
      }
      guard let file else { throw Failure.noRegularFile(path) }
      try file.file.lock(exclusive: true, waiting: Self.lockWait)
      if try file.isCurrent() { return file }
    }
    throw FileFailure(path, .wouldBlock)
  }

  /// Reads what other runs have written since.
  private func load(_ file: AppendedFile, _ state: inout State) throws {
    let status = try file.file.status()
    if let identity = state.identity, identity == (status.device, status.number), status.size == state.content.end {
      return
    }
    state.content = try Self.content(try file.bytes(at: 0, count: status.size), path)
    state.identity = (status.device, status.number)
  }

  private static func content(_ bytes: [UInt8], _ path: FilePath) throws(Failure) -> CursorContent {
    do { return try CursorContent(bytes) } catch {
      switch error {
      case .notACursor: throw .notACursor(path)
      case .laterVersion(let version): throw .laterVersion(path, version)
      case .line(let line): throw .damaged(path, line: line)
      }
    }
  }

  /// Ends what a killed run has begun: under the locks of both files.
  private func recover(_ file: AppendedFile, _ target: AppendedFile?, _ state: inout State) throws {
    guard state.content.hasUncommittedTail else { return }
    if let writing = state.content.writing, try isWritten(writing, target, &state) {
      // The line behind may be there in part.
      try file.truncate(to: state.content.wholeEnd)
      try append(CursorText.commit, file, &state)
      for (dump, day) in state.content.open { state.content.add(dump, day: day) }
      try mark(file, &state)
      state.content.closeTail()
      return
    }
    try file.truncate(to: state.content.end)
    state.content.closeTail()
  }

  /// Whether all events of a batch are in the output; else none is there afterwards.
  private func isWritten(_ writing: CursorText.Writing, _ target: AppendedFile?, _ state: inout State) throws -> Bool {
    let status = try target?.file.status()
    let there = max(0, (status?.size ?? 0) - writing.start)
    // The bytes themselves are evidence enough, in a copy of the file, too.
    if let target, there >= writing.count {
      let bytes = try target.bytes(at: writing.start, count: writing.count)
      if CursorText.Writing.digest(bytes) == writing.digest { return true }
    }
    guard let target, let status, Self.isSame(status, writing, there) else {
      // It was renamed, removed, or is another one: rather twice than never.
      state.possibleRepeats += Set(state.content.open.compactMap(\.dump.id)).count
      return false
    }
    guard there <= writing.count else { throw Failure.outputChanged(target.path, offset: writing.start) }
    if there > 0 { try target.truncate(to: writing.start) }
    return false
  }

  /// Whether a file is the one that a batch went to. A start of the system may give a device another number: btrfs counts its
  /// mounts, and disks are numbered as they are found. Then the file has no more than the batch behind its start.
  private static func isSame(_ status: FileStatus, _ writing: CursorText.Writing, _ there: Int) -> Bool {
    status.number == writing.number && (status.device == writing.device || there <= writing.count)
  }

  /// Puts a file in the place of the cursor that has each dump once. It is no failure if that can't be done now.
  private func compact(_ file: AppendedFile, _ state: inout State) throws {
    let kept = state.content.days.filter { $0.value >= day - Self.memory }
    let lines = kept.sorted {
      ($0.value, $0.key.id?.high ?? 0, $0.key.file ?? 0) < ($1.value, $1.key.id?.high ?? 0, $1.key.file ?? 0)
    }
    let text = lines.map { CursorText.dump($0.key, day: $0.value) }.joined()
    do {
      let permissions = try file.file.status().permissions
      let new = try OutputFile(path)
      try new.setPermissions(FilePermissions(rawValue: permissions))
      try new.write(text: CursorText.header + "\n" + text + (text.isEmpty ? "" : CursorText.commit))
      try new.commit(durable: true)
    } catch { return }
    state.content = CursorContent()
    state.identity = nil
  }
}

extension OutputFile {
  fileprivate func write(text: String) throws {
    let bytes = Array(text.utf8)
    try unsafe write(bytes.span.bytes)
  }
}
