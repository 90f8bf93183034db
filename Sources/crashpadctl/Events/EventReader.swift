// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadCore
import CrashpadEvents
import CrashpadFiles
import CrashpadSignatures
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView
import SystemPackage

/// Reads inputs as events. All share what is known of symbols and names.
struct EventReader: Sendable {
  let form: EventForm
  let cache: SymbolCache
  let signatures: SignatureOptions
  let places: DatabaseInputs
  let cursor: EventCursor?
  /// Nil to guess.
  let architecture: CPUArchitecture?
  /// Seconds since 1970.
  let now: Int64
  let assumesForeground: Bool
  /// Whether events have no personal data.
  var redacts = false

  static let reporter = CrashEvent.Reporter(name: "crashpadctl", version: toolVersion)

  struct Events: Sendable {
    var entry: EventCursor.Entry
    /// Nil of a process that did not crash.
    var identity: CrashEvent.Identity?
    /// Whether the dump is damaged where it would say whether its process crashed.
    var isUnknown = false

    init(_ seen: SeenDump, _ lines: [[UInt8]] = [], _ identity: CrashEvent.Identity? = nil) {
      entry = EventCursor.Entry(seen, lines: lines)
      self.identity = identity
    }
  }

  /// Without a value if the input was seen before, or is read again by the next run.
  func read(_ input: InputList.Input) -> BatchResult<Events> {
    // With another client id, the event would be that of another installation for good.
    if !places.knowsClient(of: input.argument) { return BatchResult() }
    let path = input.path
    let status: FileStatus?
    do { status = try path.flatMap { try Self.status(at: $0) } } catch { return BatchResult(error, of: input) }
    let file = status.flatMap { $0.kind == .regular ? SeenDump.digest($0.identity) : nil }
    if let file, cursor?.hasSeen(file) == true { return BatchResult() }
    var result = BatchResult(inspecting: input, architecture) { dump in
      read(dump, input, SeenDump(id: dump.crashID(path), file: file), status?.identity)
    }
    // The same bytes would give the same message in each run.
    if result.failure?.isOfContent == true, let file { result.value = Events(SeenDump(id: nil, file: file)) }
    return result
  }

  /// Nil for a member of an archive, and for a file that is gone, which can't be read either.
  private static func status(at path: FilePath) throws -> FileStatus? {
    do { return try FileStatus(ifPresent: path) } catch Errno.notDirectory { return nil }
  }

  private func read(
    _ dump: Dump, _ input: InputList.Input, _ seen: SeenDump, _ file: FileIdentity?
  ) -> BatchResult<Events> {
    if let id = seen.id, cursor?.hasSeen(id) == true { return BatchResult(Events(seen, [], .client)) }
    let isDamaged = dump.findings.count(of: .error) > 0 || dump.snapshot?.isComplete == false
    if cursor != nil, isDamaged, let file, isYoung(file) {
      return BatchResult(messages: ["\(input.name): note: is damaged, or being written; the next run reads it"])
    }
    var result = BatchResult<Events>(status: dump.status, messages: dump.lines(input.name))
    guard let snapshot = dump.snapshot else {
      result.value = Events(SeenDump(id: nil, file: seen.file))
      return result
    }
    var made = CrashEventInput(id: seen.id ?? .zero)
    made.clientID = places.clientID(of: input.argument)
    made.fallbackTime = (file?.modified).map { $0 / 1_000_000 } ?? now * 1000
    made.assumesForeground = assumesForeground
    var mayGetNames = false
    let found = CrashEvent(snapshot, dump, made, cache, signatures, &mayGetNames)
    if found == nil, snapshot.hasLostException {
      // By the file alone: the dump may come whole later, and has the same id then.
      result.value = Events(SeenDump(id: nil, file: seen.file))
      result.value?.isUnknown = true
      return result
    }
    if cursor != nil, mayGetNames, let found, waits(found, file) {
      let text = "its symbols could not be looked up; the next run reads it"
      return BatchResult(status: .temporaryFailure, messages: result.messages + ["\(input.name): error: \(text)"])
    }
    let event = redacts ? found.map { $0.redacted() } : found
    result.value = Events(seen, event.map { form.lines($0, Self.reporter) } ?? [], event?.identity)
    return result
  }

  /// For how long a crash waits for its names, in seconds.
  private static let patience: Int64 = 3 * 86_400

  /// Whether a crash is so new that a later run may still find its names. An event is written once, and has to be, some day.
  private func waits(_ event: CrashEvent, _ file: FileIdentity?) -> Bool {
    let written = (file?.modified).map { $0 / 1_000_000_000 } ?? event.time / 1000
    return now - max(written, event.time / 1000) < Self.patience
  }

  /// Whether a file was changed within the last minute.
  private func isYoung(_ file: FileIdentity) -> Bool {
    (0..<60).contains(now - file.modified / 1_000_000_000)
  }
}

extension CrashEvent {
  /// With the stack and the signature that symbols give. Nil if the process did not crash.
  init?(
    _ snapshot: ProcessSnapshot, _ dump: Dump, _ input: CrashEventInput, _ cache: SymbolCache,
    _ options: SignatureOptions
  ) {
    var mayGetNames = false
    self.init(snapshot, dump, input, cache, options, &mayGetNames)
  }

  /// Says, too, whether a later run may find more.
  ///
  /// - Parameter mayGetNames: set if frames have no names because symbols could not be looked up.
  init?(
    _ snapshot: ProcessSnapshot, _ dump: Dump, _ input: CrashEventInput, _ cache: SymbolCache,
    _ options: SignatureOptions, _ mayGetNames: inout Bool
  ) {
    self.init(snapshot, dump.file, input)
    let view = CrashView(dump, snapshot, cache, signatures: options)
    let stack = view.lastException ?? view.crashedStack
    // The forms of events have no place for functions without an address.
    frames = (stack?.rows ?? []).filter { $0.tailCall == nil }.prefix(Self.frameLimit).map { EventFrame($0, view) }
    signature = view.signature.map { CrashEvent.Signature(id: $0.id, text: $0.text) }
    mayGetNames = view.modulesWithFrames.contains(where: \.mayHaveSymbols)
  }

  /// Inlined calls count too; the forms print fewer.
  private static let frameLimit = 2048
}

extension EventFrame {
  init(_ row: CrashView.Row, _ view: CrashView) {
    self.init(address: row.address)
    let image = view.image(row)
    (self.image, imageOffset) = (image?.name, image?.offset)
    isInlined = row.isInlined
    // The nearest name before the address is that of another function, and a perf map may be of another process.
    guard !row.isNearest, !row.isInferred else { return }
    symbol = row.function?.function ?? (row.isSignalFrame ? "<signal handler called>" : nil)
    name = row.function?.name ?? row.function?.function
    symbolOffset = row.isInlined ? nil : row.functionOffset
    if let location = row.function?.location {
      (file, line) = (location.file, location.line)
    }
  }
}
