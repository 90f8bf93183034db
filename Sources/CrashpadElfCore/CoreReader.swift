// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadSnapshot

/// Reads an ELF core file of Linux, written by the kernel, gdb's gcore or systemd-coredump, into a snapshot.
///
/// A core may have many gigabytes. Only headers, notes and the first pages of modules are read; memory is kept as
/// ranges of the file. This code parses the file itself, without libelf, because a core that was truncated by a size
/// limit must be read as far as possible, and each finding needs its offset in the file.
package struct CoreReader {
  package struct Options: Sendable {
    /// The maximum size in bytes of a thread's stack, from the stack pointer upwards. The memory above it is kept as
    /// other memory.
    package var maximumStack = 1 << 20
    /// The same for the crashed thread, large enough for a stack that overflowed, and for memory that is known to be a
    /// stack: interpreters have large arrays in it.
    package var maximumKnownStack = 16 << 20

    package init() {}
  }

  package struct Reading: Sendable {
    /// Nil if the file is not a readable core; `findings` has the reason.
    package let snapshot: ProcessSnapshot?
    package let findings: FindingList
  }

  let options: Options
  let layout: CoreLayout
  var snapshot: ProcessSnapshot
  var findings: FindingList
  var space = AddressSpace([]) { _ in }
  var notes = CoreNotes()
  /// NT_FILE, by address.
  var mappings: [FileMapping] = []
  /// Bytes of memory that lists and texts may still use. Many entries may share one name, so without this limit a small
  /// file could describe a snapshot of any size.
  var memoryBudget: Int
  /// Whether the budget has been exceeded, which is reported once.
  private var isExhausted = false

  /// Reads all of `bytes`.
  package static func read(_ bytes: RawSpan, options: Options = Options(), limits: Limits = Limits()) -> Reading {
    var findings = FindingList(limit: limits.maximumFindings)
    guard let header = header(bytes, &findings), let layout = layout(header, &findings) else {
      return Reading(snapshot: nil, findings: findings)
    }
    var reader = CoreReader(layout, bytes.byteCount, options, findings)
    reader.readSegments(header, bytes)
    if reader.snapshot.threads.isEmpty, let (name, offset) = reader.notes.foreign {
      reader.findings.append(Finding(CoreRules.foreignSystem, at: offset, path: "notes", found: .text(name)))
      return Reading(snapshot: nil, findings: reader.findings)
    }
    reader.readProcess(bytes)
    reader.readModules(bytes)
    reader.readException(bytes)
    reader.takeFaultRaisedAgain(bytes)
    // The kernel writes the notes first.
    reader.snapshot.hasLostException = reader.snapshot.threads.isEmpty
    reader.divideMemory()
    reader.readInitialStack(bytes)
    reader.makeTexts(bytes)
    return Reading(snapshot: reader.snapshot, findings: reader.findings)
  }

  private init(_ layout: CoreLayout, _ size: Int, _ options: Options, _ findings: FindingList) {
    self.options = options
    self.layout = layout
    self.findings = findings
    snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: layout.architecture, operatingSystem: .linux))
    memoryBudget = size + 32 << 20
  }

  /// Returns nil, with a finding, if there is no ELF header of a kind that is supported.
  private static func header(_ bytes: RawSpan, _ findings: inout FindingList) -> ElfHeader? {
    if bytes.byteCount >= 4, bytes.uint32(at: 0) != ElfHeader.magic {
      findings.append(Finding(CoreRules.badSignature, at: 0))
      return nil
    }
    guard bytes.byteCount >= ElfHeader.maximumSize else {
      findings.append(
        Finding(
          CoreRules.tooShort, expected: .byteCount(UInt64(ElfHeader.maximumSize)),
          found: .byteCount(UInt64(bytes.byteCount))))
      return nil
    }
    guard let header = ElfHeader(bytes) else {
      findings.append(Finding(CoreRules.unsupportedClass, at: 4))
      return nil
    }
    guard header.type == CoreFormat.typeCore else {
      findings.append(Finding(CoreRules.notACore, at: 16))
      return nil
    }
    return header
  }

  private static func layout(_ header: ElfHeader, _ findings: inout FindingList) -> CoreLayout? {
    let machine = CoreMachine.name(header)
    if header.isBigEndian {
      findings.append(Finding(CoreRules.unsupportedClass, at: 5, path: "e_machine", found: .text(machine)))
    } else if let layout = CoreLayout.of(header) {
      return layout
    } else {
      findings.append(Finding(CoreRules.unsupportedMachine, at: 18, path: "e_machine", found: .text(machine)))
    }
    return nil
  }

  /// The approximate memory cost of one entry of each kind, in bytes, rounded up.
  enum Price {
    static let thread = 1024
    static let module = 512
    static let mapping = 48
  }

  /// Deducts `price` bytes from the budget. Returns false, with a finding, if the budget is not sufficient.
  mutating func spend(_ price: Int, at offset: Int?, path: String) -> Bool {
    if memoryBudget < price {
      if !isExhausted { findings.append(Finding(CoreRules.tooManyEntries, at: offset, path: path)) }
      isExhausted = true
      return false
    }
    memoryBudget -= price
    return true
  }

  // MARK: Program headers

  private mutating func readSegments(_ table: ElfHeader, _ bytes: RawSpan) {
    let count = segmentCount(table, bytes)
    let fitting = table.segmentRoom(bytes)
    if count > fitting {
      snapshot.isComplete = false
      findings.append(
        Finding(
          CoreRules.headersOutside, at: 32, path: "e_phnum", expected: .number(UInt64(fitting)),
          found: .number(UInt64(count))))
    }
    var segments: [CoreSegment] = []
    segments.reserveCapacity(min(count, fitting))
    // All segments together may have no more bytes than the file, so that data derived from them is limited too.
    var left = bytes.byteCount
    var isShared = false
    var cut: (header: Int, index: Int, end: UInt64)?
    for index in 0..<min(count, fitting) {
      let header = Int(table.segmentTable) + index * table.segmentEntrySize
      let segment = table.segment(at: header, bytes)
      guard segment.type == ElfSegment.load || segment.type == ElfSegment.note else { continue }
      let (end, overflow) = segment.offset.addingReportingOverflow(segment.fileSize)
      var range = ByteRange(offset: Int(clamping: segment.offset), count: Int(clamping: segment.fileSize))
      if overflow || end > UInt64(bytes.byteCount) {
        range.offset = min(range.offset, bytes.byteCount)
        range.count = min(range.count, bytes.byteCount - range.offset)
        cut = (cut?.header ?? header, cut?.index ?? index, max(cut?.end ?? 0, overflow ? .max : end))
      }
      if range.count > left {
        if !isShared { findings.append(Finding(CoreRules.sharedBytes, at: header, path: "ProgramHeader[\(index)]")) }
        isShared = true
        range.count = left
      }
      left -= range.count
      if segment.type == ElfSegment.note {
        readNotes(range, alignment: segment.alignment, isCut: cut?.header == header, bytes)
        continue
      }
      let memorySize = min(segment.memorySize, 0 &- max(segment.address, 1))
      range.count = min(range.count, Int(clamping: memorySize))
      segments.append(
        CoreSegment(address: segment.address, memorySize: memorySize, bytes: range, flags: segment.flags))
    }
    if let cut {
      snapshot.isComplete = false
      findings.append(
        Finding(
          CoreRules.truncated, at: cut.header, path: "ProgramHeader[\(cut.index)]", expected: .byteCount(cut.end),
          found: .byteCount(UInt64(bytes.byteCount))))
    }
    var overlaps: [CoreSegment] = []
    space = AddressSpace(segments) { overlaps.append($0) }
    for segment in overlaps {
      findings.append(
        Finding(CoreRules.overlappingSegments, at: segment.bytes.offset, found: .address(segment.address)))
    }
    if !notes.hasNotes { findings.append(Finding(CoreRules.noNotes)) }
  }

  /// If there are more than 65,534 segments, their number is in the first section header, at the end of the file.
  private func segmentCount(_ table: ElfHeader, _ bytes: RawSpan) -> Int {
    if let count = table.segmentCount(bytes) { return count }
    // The file is truncated. The first segment is that of the notes, and follows the program headers.
    guard table.segmentRoom(bytes) > 0, case let start = Int(table.segmentTable) else { return table.segmentField }
    let notes = Int(clamping: table.segment(at: start, bytes).offset)
    return notes > start ? (notes - start) / table.segmentEntrySize : table.segmentField
  }
}

/// One entry of NT_FILE: a mapped part of a file.
struct FileMapping {
  let start: UInt64
  let end: UInt64
  /// The offset in the file, in bytes.
  let offset: UInt64
  /// The path as the kernel reports it.
  let name: ByteRange
}

/// The content of a core's notes, except the threads, which are in the snapshot.
struct CoreNotes {
  var hasNotes = false
  /// For each thread: its pending signal, and the range of its NT_SIGINFO.
  var signals: [(current: UInt16, info: ByteRange?)] = []
  /// NT_PRPSINFO
  var process: ByteRange?
  /// NT_FILE
  var files: ByteRange?
  /// NT_AUXV
  var auxiliaryVector: ByteRange?
  /// An NT_SIGINFO that precedes all threads
  var firstSignalInfo: ByteRange?

  /// The name and the offset of the first note of another system's kernel.
  var foreign: (name: String, offset: Int)?

  /// The CPU time of each thread; for the first thread of a process, that of the whole process.
  var times: [(user: Timestamp, system: Timestamp)] = []
  /// AT_* to value; if a type is repeated, the first one counts.
  var auxiliaryValues: [UInt64: UInt64] = [:]
}
