/// What was true of a process when it crashed. Every reader fills it, every writer drains it; it knows no file format.
///
/// A member that is nil was not recorded. Text is kept as the recorded bytes (`Content`), which need not be valid UTF-8.
public struct ProcessSnapshot: Sendable {
  /// Bytes that are not in the input: see `Content`.
  public var arena: [UInt8] = []

  /// False if the input broke off, so that threads, modules or memory may be missing.
  public var isComplete = true

  public var processID: Int32?
  public var parentProcessID: Int32?
  public var startTime: Timestamp?
  /// When the process was captured.
  public var snapshotTime: Timestamp?
  /// CPU time in user and in system mode.
  public var userTime: Timestamp?
  public var systemTime: Timestamp?

  public var system: SystemSnapshot
  public var threads: [ThreadSnapshot] = []
  public var modules: [ModuleSnapshot] = []
  public var unloadedModules: [UnloadedModuleSnapshot] = []
  public var exception: ExceptionSnapshot?

  /// Memory apart from the threads' stacks, in the order in which it was recorded; ranges may overlap.
  public var extraMemory: [MemoryRegion] = []
  /// Memory that only the intermediate dump is meant to carry (`kModuleIntermediateDumpExtraMemoryRegions`).
  public var intermediateDumpExtraMemory: [MemoryRegion] = []
  public var memoryMap: [MemoryMapRegion] = []

  /// Process annotations, sorted by the bytes of their names, each name once.
  public var annotations: [Annotation] = []

  /// Identifies this report; zero if it was not made a report yet.
  public var reportID = UUIDBytes.zero
  /// Identifies the installation that it came from.
  public var clientID = UUIDBytes.zero

  /// Text that a Linux minidump carries as it was read from the system.
  public var linux: LinuxSnapshot?

  /// What a report says beside; nil of a dump.
  package var report: ReportSnapshot?

  package init(system: SystemSnapshot) { self.system = system }
}

/// Seconds since 1970, or a duration; microseconds are added and may be out of range in a damaged input.
public struct Timestamp: Sendable, Hashable {
  public var seconds: Int64
  public var microseconds: Int32

  package init(seconds: Int64, microseconds: Int32 = 0) {
    self.seconds = seconds
    self.microseconds = microseconds
  }
}

/// The 16 bytes of a UUID in the order in which they are written as text.
public struct UUIDBytes: Sendable, Hashable {
  public let high: UInt64
  public let low: UInt64

  public static let zero = UUIDBytes(high: 0, low: 0)

  /// Big-endian halves.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A random one: version 4 of RFC 9562.
  package static func random() -> UUIDBytes {
    UUIDBytes(high: .random(in: .min ... .max), low: .random(in: .min ... .max)).withVersion(4)
  }

  /// With the bits of RFC 9562 that say how it was made; the others stay.
  package func withVersion(_ version: UInt64) -> UUIDBytes {
    UUIDBytes(high: high & ~0xf000 | version << 12, low: low & ~(0b11 << 62) | 0b10 << 62)
  }

  /// Takes 32 hexadecimal digits with or without the four hyphens.
  package init?(text: String) {
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

  /// Lower case, with hyphens.
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

/// Lower-case hexadecimal digits, filled with zeros up to `width`.
package func hexadecimal(_ value: UInt64, width: Int = 0) -> String {
  let digits = max(1, (67 - value.leadingZeroBitCount) / 4)
  let count = max(digits, width)
  return unsafe String(unsafeUninitializedCapacity: count) { buffer in
    var rest = value
    for index in stride(from: count - 1, through: 0, by: -1) {
      let digit = UInt8(truncatingIfNeeded: rest & 0xf)
      unsafe buffer.initializeElement(at: index, to: digit < 10 ? 0x30 + digit : 0x57 + digit)
      rest >>= 4
    }
    return count
  }
}

/// A name and a value, as bytes.
public struct Annotation: Sendable, Hashable {
  public var name: Content
  public var value: Content

  package init(name: Content, value: Content) {
    self.name = name
    self.value = value
  }
}

/// A typed annotation. Crashpad defines type 1, a string; 0x8000 and up belong to the application.
public struct AnnotationObject: Sendable, Hashable {
  public var name: Content
  public var type: UInt16
  public var value: Content

  package init(name: Content, type: UInt16, value: Content) {
    self.name = name
    self.type = type
    self.value = value
  }
}

/// A run of captured memory.
@frozen
public struct MemoryRegion: Sendable, Hashable {
  public var address: UInt64
  public var content: Content

  @inlinable
  public init(address: UInt64, content: Content) {
    self.address = address
    self.content = content
  }

  /// The address just behind the last byte, or nil where that is 2^64 or more.
  @inlinable
  public var end: UInt64? {
    let (end, overflow) = address.addingReportingOverflow(UInt64(content.count))
    return overflow ? nil : end
  }
}

/// One range of the address space with its state, as Windows' and Breakpad's memory info lists have it.
public struct MemoryMapRegion: Sendable, Hashable {
  package var address: UInt64
  package var size: UInt64
  /// Windows' MEM_COMMIT 0x1000, MEM_FREE 0x10000, MEM_RESERVE 0x2000.
  package var state: UInt32
  /// Windows' PAGE_* bits.
  package var protection: UInt32

  package init(address: UInt64, size: UInt64, state: UInt32, protection: UInt32) {
    self.address = address
    self.size = size
    self.state = state
    self.protection = protection
  }
}
