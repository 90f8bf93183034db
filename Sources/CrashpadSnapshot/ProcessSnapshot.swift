// SPDX-License-Identifier: Apache-2.0
/// The state of a process when it crashed. Every reader creates one and every writer takes one; it
/// is independent of file formats.
///
/// A nil member was not recorded. Text is kept as the recorded bytes (`SnapshotBytes`), which may be invalid UTF-8.
public struct ProcessSnapshot: Sendable {
  /// Bytes that are not in the input; see `SnapshotBytes`.
  @usableFromInline package var arena: [UInt8] = []

  /// False if the input is truncated, so that threads, modules or memory may be missing.
  public var isComplete = true

  /// The process id; nil if unknown.
  public var processID: Int32?
  /// The id of the parent process; nil if unknown.
  public var parentProcessID: Int32?
  /// The start of the process; nil if unknown.
  public var startTime: Timestamp?
  /// The time at which the process was captured.
  public var snapshotTime: Timestamp?
  /// The CPU time in user mode and in system mode.
  package var userTime: Timestamp?
  package var systemTime: Timestamp?

  /// The system on which the process ran.
  public var system: SystemSnapshot
  /// The threads, in the order of the input.
  public var threads: [ThreadSnapshot] = []
  /// The modules.
  public var modules: [ModuleSnapshot] = []
  package var unloadedModules: [UnloadedModuleSnapshot] = []
  /// The exception or signal; nil if the dump is not of a crash.
  public var exception: ExceptionSnapshot?

  /// Memory other than the threads' stacks, in recorded order; ranges may overlap.
  public var extraMemory: [MemoryRegion] = []
  /// Memory meant only for the intermediate dump (`kModuleIntermediateDumpExtraMemoryRegions`).
  package var intermediateDumpExtraMemory: [MemoryRegion] = []
  package var memoryMap: [MemoryMapRegion] = []

  /// Process annotations, sorted by the bytes of their names, each name once.
  public var annotations: [Annotation] = []

  /// The id of the report; zero if the dump is not a report in a database yet.
  public var reportID = UUIDBytes.zero
  /// The id of the installation that wrote the report.
  public var clientID = UUIDBytes.zero

  /// The handles that a process of Windows had, or the descriptors of one of Linux; nil if the dump does not list them.
  package var handles: [HandleSnapshot]?
  /// The assertion that ended the process.
  package var assertion: AssertionSnapshot?
  /// The texts that modules of macOS left in `__crash_info`, if the writer of the dump gathered them.
  package var crashInfo: [CrashInfoSnapshot] = []
  /// The arguments that the kernel of macOS was started with.
  package var bootArguments: SnapshotBytes?
  /// JSON about what the dump's writer could not capture.
  package var softErrors: SnapshotBytes?

  /// System files that a Linux minidump contains as text.
  package var linux: LinuxSnapshot?

  /// The additional facts in a crash report; nil for a dump.
  public var report: ReportSnapshot?

  package init(system: SystemSnapshot) { self.system = system }

  /// The index of the program's own module; nil if the input does not show which one it is.
  ///
  /// Windows lists it first, and its libraries have the type of an executable too. Other dumps without types list it first.
  package var executableIndex: Int? {
    if system.operatingSystem == .windows { return modules.isEmpty ? nil : 0 }
    if let index = modules.firstIndex(where: { $0.fileType == .executable }) { return index }
    return report == nil && !modules.isEmpty && modules.allSatisfy { $0.fileType == nil } ? 0 : nil
  }
}

extension ProcessSnapshot {
  /// The annotations in which Crashpad's clients put the version of the program, the most frequent first.
  package static let versionAnnotations = ["ver", "version", "_version", "app_version"]

  /// The value of the first of these annotations of the process that it has; nil if it has none.
  ///
  /// - Parameter input: the bytes of the input that the snapshot was read from.
  package func annotation(named names: [String], in input: RawSpan) -> SnapshotBytes? {
    for name in names {
      let found = annotations.first { $0.name.count == name.utf8.count && text($0.name, in: input) == name }
      if let found { return found.value }
    }
    return nil
  }
}

/// Seconds since 1970, or a duration, plus microseconds, which may be out of range in a damaged input.
public struct Timestamp: Sendable, Hashable {
  /// Seconds since 1970, UTC.
  public var seconds: Int64
  /// Microseconds within the second.
  public var microseconds: Int32

  package init(seconds: Int64, microseconds: Int32 = 0) {
    self.seconds = seconds
    self.microseconds = microseconds
  }
}

/// The 16 bytes of a UUID in the order of its text form.
public struct UUIDBytes: Sendable, Hashable {
  package let high: UInt64
  package let low: UInt64

  /// The UUID without a bit, which stands for none.
  public static let zero = UUIDBytes(high: 0, low: 0)

  /// The halves are big-endian.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A random UUID: version 4 in RFC 9562.
  package static func random() -> UUIDBytes {
    UUIDBytes(high: .random(in: .min ... .max), low: .random(in: .min ... .max)).withVersion(4)
  }

  /// The UUID with the version and variant bits of RFC 9562; the other bits stay.
  package func withVersion(_ version: UInt64) -> UUIDBytes {
    UUIDBytes(high: high & ~0xf000 | version << 12, low: low & ~(0b11 << 62) | 0b10 << 62)
  }

  /// Parses 32 hexadecimal digits, with or without the four hyphens; nil if the text has another form.
  public init?(text: String) {
    let utf8 = Array(text.utf8)
    var digits: [UInt8] = []
    if utf8.count == 36 {
      for (index, byte) in utf8.enumerated() {
        if [8, 13, 18, 23].contains(index) {
          guard byte == UInt8(ascii: "-") else { return nil }
        } else {
          digits.append(byte)
        }
      }
    } else {
      digits = utf8
    }
    guard digits.count == 32 else { return nil }
    var halves: [UInt64] = [0, 0]
    for (index, digit) in digits.enumerated() {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
      halves[index / 16] = halves[index / 16] << 4 | UInt64(value)
    }
    self.init(high: halves[0], low: halves[1])
  }

  /// Lowercase text with hyphens.
  public var text: String {
    let digits = hexadecimal(high, width: 16) + hexadecimal(low, width: 16)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text.append("-") }
      text.append(digit)
    }
    return text
  }
}

/// A name and a value, as bytes.
public struct Annotation: Sendable, Hashable {
  public var name: SnapshotBytes
  public var value: SnapshotBytes

  package init(name: SnapshotBytes, value: SnapshotBytes) {
    self.name = name
    self.value = value
  }
}

/// A typed annotation. Crashpad defines type 1, a string; types from 0x8000 on belong to the application.
public struct AnnotationObject: Sendable, Hashable {
  public var name: SnapshotBytes
  /// The type: 1 is text, numbers from 0x8000 on belong to programs.
  public var type: UInt16
  public var value: SnapshotBytes

  package init(name: SnapshotBytes, type: UInt16, value: SnapshotBytes) {
    self.name = name
    self.type = type
    self.value = value
  }
}

/// The kinds of annotations, by what their values hold.
package enum AnnotationKind: Sendable {
  /// The part of a value that redaction leaves if the policy allows its name. A kind has to name one.
  package enum Privacy: Sendable {
    /// Text in which addresses of people, numbers and paths of users are hidden.
    case text
    /// Nothing, unless the policy names the annotation.
    case bytes
  }

  /// A message of the runtime or of the dynamic loader; it has no name.
  case message
  /// An entry of a dictionary.
  case simple
  /// A typed annotation of type 1.
  case string
  /// A typed annotation of another type; only the application knows its content.
  case other

  package init(objectType: UInt16?) { self = objectType == 1 ? .string : .other }

  package var privacy: Privacy {
    switch self {
    case .message, .simple, .string: .text
    case .other: .bytes
    }
  }
}

/// A contiguous range of captured memory.
@frozen
public struct MemoryRegion: Sendable, Hashable {
  /// The address of the first byte.
  public var address: UInt64
  /// The captured bytes.
  public var content: SnapshotBytes

  /// The memory `content` at `address`.
  @inlinable
  public init(address: UInt64, content: SnapshotBytes) {
    self.address = address
    self.content = content
  }

  /// The address after the last byte; nil if it is 2^64 or more.
  @inlinable
  public var end: UInt64? {
    let (end, overflow) = address.addingReportingOverflow(UInt64(content.count))
    return overflow ? nil : end
  }
}

/// A range of the address space with its state, as in the memory info lists of Windows and Breakpad.
package struct MemoryMapRegion: Sendable, Hashable {
  package var address: UInt64
  package var size: UInt64
  /// The state as on Windows: MEM_COMMIT 0x1000, MEM_FREE 0x10000, MEM_RESERVE 0x2000.
  package var state: UInt32
  /// The PAGE_* bits as on Windows.
  package var protection: UInt32

  package init(address: UInt64, size: UInt64, state: UInt32, protection: UInt32) {
    self.address = address
    self.size = size
    self.state = state
    self.protection = protection
  }
}
