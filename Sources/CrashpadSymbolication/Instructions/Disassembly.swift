// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadCapstone
internal import CrashpadBytes
package import CrashpadSnapshot

/// The instructions around one address, by the system's capstone.
///
/// The bytes are those of a dump and may be anything: no more of them than `reach` are looked at.
package struct Disassembly: Sendable, Equatable {
  package struct Line: Sendable, Equatable {
    package let address: UInt64
    package let bytes: [UInt8]
    /// "mov rbp, rsp"; nil for bytes that are no instruction.
    package let text: String?
  }

  package let lines: [Line]
  /// The line at the address.
  package let index: Int

  /// Debian's package, here and in its next release.
  package static let package = "libcapstone4 or libcapstone5"
  package static var isInstalled: Bool { capstone_is_installed() }

  /// Bytes before the address that may be looked at, and as many from there on.
  package static let reach = 48
  private static let linesBefore = 5
  private static let linesFrom = 6

  /// The instructions around the one at `address`. Nil without the library, and of other architectures.
  ///
  /// - Parameters:
  ///   - code: the bytes around it, of which `before` are before it.
  ///   - isThumb: whether code of arm is in its short form.
  package init?(
    at address: UInt64, in code: [UInt8], before: Int, _ architecture: CPUArchitecture, isThumb: Bool = false
  ) {
    guard let form = Self.form(architecture, isThumb), code.indices.contains(before),
      let reader = InstructionReader(form.code, code, start: address &- UInt64(before))
    else { return nil }
    let first = Self.lines(before: before, reader, unit: form.unit)
    var lines = first
    var place = before
    while lines.count - first.count < Self.linesFrom, place < min(code.count, before + Self.reach),
      let line = reader.line(at: place)
    {
      lines.append(line)
      place += line.bytes.count
    }
    if lines.count == first.count {
      let count = min(form.unit, code.count - before)
      lines.append(Line(address: address, bytes: Array(code[before..<before + count]), text: nil))
    }
    self.lines = lines
    index = first.count
  }

  /// Whether instructions of the processor can be named.
  package static func knows(_ architecture: CPUArchitecture) -> Bool { form(architecture, false) != nil }

  /// The form of the code, and the bytes of which its addresses are multiples.
  private static func form(_ architecture: CPUArchitecture, _ isThumb: Bool) -> (code: capstone_code, unit: Int)? {
    switch architecture {
    case .x86_64: (CAPSTONE_X86_64, 1)
    case .x86: (CAPSTONE_X86, 1)
    case .arm64: (CAPSTONE_ARM64, 4)
    case .arm: isThumb ? (CAPSTONE_THUMB, 2) : (CAPSTONE_ARM, 4)
    case .riscv64, .ppc64, .loongarch64, .mips, .mips64, .unknown: nil
    }
  }

  /// Instructions have no marks at their starts. A run that begins at a wrong byte mostly falls into step after a few
  /// instructions: the last ones of the longest run that ends at the address are taken.
  private static func lines(before end: Int, _ reader: borrowing InstructionReader, unit: Int) -> [Line] {
    let farthest = min(end, reach) / unit * unit
    for distance in stride(from: farthest, to: 0, by: -unit) {
      if let lines = reader.lines(from: end - distance, to: end) { return Array(lines.suffix(linesBefore)) }
    }
    return []
  }
}

/// Reads instructions of a few bytes of code.
@safe
private struct InstructionReader: ~Copyable {
  private let reader: OpaquePointer
  private let code: [UInt8]
  private let start: UInt64

  /// Nil without the library.
  init?(_ form: capstone_code, _ code: [UInt8], start: UInt64) {
    guard let reader = unsafe capstone_begin(form) else { return nil }
    unsafe self.reader = reader
    self.code = code
    self.start = start
  }

  deinit { unsafe capstone_end(reader) }

  func line(at index: Int) -> Disassembly.Line? {
    let address = start &+ UInt64(index)
    var line = capstone_line()
    let isRead = unsafe code[index...].withUnsafeBufferPointer { bytes in
      guard let first = bytes.baseAddress else { return false }
      return unsafe capstone_read(reader, first, bytes.count, address, &line)
    }
    guard isRead, line.size > 0, line.size <= code.count - index else { return nil }
    let words = [Self.text(of: line.mnemonic), Self.text(of: line.operands)].filter { !$0.isEmpty }
    return Disassembly.Line(
      address: address, bytes: Array(code[index..<index + line.size]), text: words.joined(separator: " "))
  }

  /// The instructions from one byte to another; nil if none ends there.
  func lines(from first: Int, to end: Int) -> [Disassembly.Line]? {
    var lines: [Disassembly.Line] = []
    var place = first
    while place < end {
      guard let line = line(at: place) else { return nil }
      lines.append(line)
      place += line.bytes.count
    }
    return place == end ? lines : nil
  }

  /// The text of an array of C that ends with a zero.
  private static func text<Characters>(of characters: Characters) -> String {
    unsafe withUnsafeBytes(of: characters) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
