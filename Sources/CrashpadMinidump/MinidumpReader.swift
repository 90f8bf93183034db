// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadSnapshot

/// Reads a minidump into a snapshot: all streams that `MinidumpWriter` writes, and those of Breakpad and Windows.
///
/// A damaged file is read as far as possible; a range outside the file causes a finding and is treated as missing.
package struct MinidumpReader {
  package struct Stream: Sendable {
    package let type: MinidumpStreamType
    /// The range of the stream in the file.
    package let range: ByteRange
  }

  package struct Reading: Sendable {
    /// Nil if the file has no minidump header.
    package let snapshot: ProcessSnapshot?
    /// The streams of the directory that are inside of the file, in directory order.
    package let streams: [Stream]
    package let findings: FindingList
  }

  var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .unknown, operatingSystem: .unknown))
  var findings: FindingList
  var streams: [Stream] = []
  /// Whether an annotation says `ExceptionSnapshot.isRaisedAgain`.
  var isRaisedAgain = false
  /// Bytes of memory that lists may still use. Entries may share the data that they refer to, so without this limit a
  /// small file could describe a snapshot of any size.
  var memoryBudget: Int
  /// Whether the file says which processor it is of.
  var hasSystemInfo = false
  /// Whether a budget has been exceeded, which is reported once.
  var isExhausted = false
  /// The stacks of the threads, which the memory list repeats.
  lazy var stackContents = Set(snapshot.threads.compactMap { $0.stack?.region })
  /// The stacks whose bytes are in a list of memory, or nowhere.
  var unplacedStacks: [UnplacedStack] = []
  /// Strings that have been converted, by their offsets.
  var strings: [Int: SnapshotBytes] = [:]
  /// Bytes of names that may still be converted or searched.
  var stringBudget: Int

  /// Reads all of `bytes`.
  package static func read(_ bytes: RawSpan, limits: Limits = Limits()) -> Reading {
    var reader = MinidumpReader(bytes.byteCount, limits)
    guard reader.readHeader(bytes) else { return Reading(snapshot: nil, streams: [], findings: reader.findings) }
    reader.readStreams(bytes)
    return Reading(snapshot: reader.snapshot, streams: reader.streams, findings: reader.findings)
  }

  private init(_ size: Int, _ limits: Limits) {
    findings = FindingList(limit: limits.maximumFindings)
    memoryBudget = size + 32 << 20
    stringBudget = size + 8 << 20
  }

  private mutating func readHeader(_ bytes: RawSpan) -> Bool {
    guard bytes.byteCount >= MinidumpFormat.headerSize else {
      findings.append(
        Finding(
          MinidumpRules.tooShort, expected: .byteCount(UInt64(MinidumpFormat.headerSize)),
          found: .byteCount(UInt64(bytes.byteCount))))
      return false
    }
    guard bytes.uint32(at: 0) == MinidumpFormat.signature else {
      findings.append(Finding(MinidumpRules.badSignature, at: 0))
      return false
    }
    // The upper half of the version is defined by the writer.
    if bytes.uint32(at: 4) & 0xffff != MinidumpFormat.version {
      findings.append(Finding(MinidumpRules.badVersion, at: 4, found: .code(UInt64(bytes.uint32(at: 4)))))
    }
    let count = Int(bytes.uint32(at: 8))
    let directory = Int(bytes.uint32(at: 12))
    let fitting = max(0, bytes.byteCount - directory) / MinidumpFormat.directoryEntrySize
    if count > fitting {
      findings.append(
        Finding(
          MinidumpRules.directoryOutside, at: 8, path: "Header.NumberOfStreams", expected: .number(UInt64(fitting)),
          found: .number(UInt64(count))))
      snapshot.hasLostException = true
    }
    let stamp = bytes.uint32(at: 20)
    if stamp != 0 { snapshot.snapshotTime = Timestamp(seconds: Int64(stamp)) }
    for index in 0..<min(count, fitting) {
      guard spend(Price.directoryEntry, at: directory, path: "Directory") else { break }
      readDirectoryEntry(index, at: directory + MinidumpFormat.directoryEntrySize * index, bytes)
    }
    return true
  }

  private mutating func readDirectoryEntry(_ index: Int, at offset: Int, _ bytes: RawSpan) {
    let type = MinidumpStreamType(rawValue: bytes.uint32(at: offset))
    // Writers reserve entries and leave the last ones unused.
    if type == .unused { return }
    let path = "Directory[\(index)].\(type.name)"
    let size = Int(bytes.uint32(at: offset + 4))
    let rva = Int(bytes.uint32(at: offset + 8))
    guard rva + size <= bytes.byteCount else {
      findings.append(
        Finding(
          MinidumpRules.streamOutside, at: offset, path: path, expected: .byteCount(UInt64(bytes.byteCount)),
          found: .byteCount(UInt64(rva + size))))
      if type == .exception { snapshot.hasLostException = true }
      return
    }
    if rva % 4 != 0 { findings.append(Finding(MinidumpRules.misaligned, at: rva, path: path)) }
    streams.append(Stream(type: type, range: ByteRange(offset: rva, count: size)))
  }

  // MARK: Streams

  private mutating func readStreams(_ bytes: RawSpan) {
    checkOverlaps()
    var first: [MinidumpStreamType: ByteRange] = [:]
    for stream in streams {
      if first[stream.type] == nil {
        first[stream.type] = stream.range
      } else {
        findings.append(Finding(MinidumpRules.duplicateStream, at: stream.range.offset, path: stream.type.name))
      }
    }
    for stream in MinidumpStreamRow.all where stream.isNeeded && first[stream.type] == nil {
      findings.append(Finding(MinidumpRules.missingStream, path: stream.name))
    }
    if first[.memoryList] == nil, first[.memory64List] == nil {
      findings.append(Finding(MinidumpRules.missingStream, path: MinidumpStreamType.memoryList.name))
    }
    for stream in MinidumpStreamRow.all {
      if let range = first[stream.type] { stream.read(&self, range, bytes) }
    }
    placeStacks()
    // Breakpad writes no MiscInfo; /proc/PID/status has the ids of the process and its parent.
    if let status = snapshot.linux?.processStatus, snapshot.system.isLinux {
      if snapshot.processID == nil { snapshot.processID = number("Pid:", in: status, bytes) }
      snapshot.parentProcessID = number("PPid:", in: status, bytes)
    }
    if first[.exception] != nil { snapshot.hasLostException = snapshot.exception == nil }
    snapshot.exception?.takeSender(processID: snapshot.processID)
    if isRaisedAgain, snapshot.system.isLinux { snapshot.exception?.isRaisedAgain = true }
  }

  private mutating func checkOverlaps() {
    let sorted = streams.filter { $0.range.count > 0 }.sorted { $0.range.offset < $1.range.offset }
    var furthest = sorted.first
    for stream in sorted.dropFirst() {
      if let previous = furthest, previous.range.end > stream.range.offset {
        findings.append(
          Finding(
            MinidumpRules.overlappingStreams, at: stream.range.offset, path: stream.type.name,
            found: .text(previous.type.name)))
      }
      if stream.range.end > (furthest?.range.end ?? 0) { furthest = stream }
    }
  }

  /// The number after `name` at the beginning of a line of /proc/PID/status, searched in its first 4 KiB.
  private func number(_ name: String, in status: SnapshotBytes, _ bytes: RawSpan) -> Int32? {
    let text = snapshot.text(status.prefix(min(status.count, 4096)), in: bytes)
    for line in text.split(separator: "\n") where line.hasPrefix(name) {
      return Int32(line.dropFirst(name.count).drop { $0 == "\t" || $0 == " " })
    }
    return nil
  }

  /// The approximate memory cost of one entry of each kind, in bytes, rounded up.
  enum Price {
    static let directoryEntry = 48
    static let thread = 1024
    static let threadName = 64
    static let module = 512
    static let memory = 32
    static let function = 16
    static let annotation = 48
    static let handle = 64
  }
}
