// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadSnapshot

/// A program or library of Windows: a Portable Executable, as far as stacks and names need it. All addresses are relative to
/// its first byte in memory.
///
/// A damaged file may say anything: each place is looked up in the sections, and what is outside the file does not exist.
/// Source: "PE Format" in Microsoft's documentation.
struct PEFile: Sendable {
  /// A part of the file at an address in memory.
  struct Section: Sendable {
    let address: UInt64
    /// The bytes in memory.
    let size: UInt64
    /// The bytes in the file; those that are missing are zeros.
    let range: ByteRange
    let isCode: Bool
  }

  enum Machine: UInt16, Sendable {
    case x86 = 0x14c
    case arm = 0x1c4
    case x86_64 = 0x8664
    case arm64 = 0xaa64
  }

  /// Nil for an unknown machine.
  let machine: Machine?
  /// The time of the build, or a hash of it: with the size, the id by which symbol servers keep the file.
  let timestamp: UInt32
  /// The bytes in memory.
  let imageSize: UInt32
  let sections: [Section]
  /// The addresses and sizes of the data directories, in their order.
  private let directories: [(address: UInt64, size: UInt64)]

  /// Nil if the bytes are no Portable Executable.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= 0x40, bytes.uint16(at: 0) == 0x5a4d else { return nil }
    let start = Int(bytes.uint32(at: 0x3c))
    guard start <= bytes.byteCount - 24, bytes.uint32(at: start) == 0x4550 else { return nil }
    let header = start + 4
    machine = Machine(rawValue: bytes.uint16(at: header))
    timestamp = bytes.uint32(at: header + 4)
    let optional = header + 20
    let optionalSize = Int(bytes.uint16(at: header + 16))
    guard optionalSize >= 96, optional + optionalSize <= bytes.byteCount else { return nil }
    imageSize = bytes.uint32(at: optional + 56)
    let isWide = bytes.uint16(at: optional) == 0x20b
    let first = isWide ? 112 : 96
    let count =
      optionalSize >= first ? min(Int(bytes.uint32(at: optional + first - 4)), (optionalSize - first) / 8, 16) : 0
    directories = (0..<max(0, count)).map { index in
      let place = optional + first + 8 * index
      return (UInt64(bytes.uint32(at: place)), UInt64(bytes.uint32(at: place + 4)))
    }
    var sections: [Section] = []
    for index in 0..<Int(bytes.uint16(at: header + 2)) {
      let place = optional + optionalSize + 40 * index
      guard place + 40 <= bytes.byteCount else { break }
      let (offset, count) = (Int(bytes.uint32(at: place + 20)), Int(bytes.uint32(at: place + 16)))
      let begin = min(offset, bytes.byteCount)
      sections.append(
        Section(
          address: UInt64(bytes.uint32(at: place + 12)), size: UInt64(max(bytes.uint32(at: place + 8), UInt32(count))),
          range: ByteRange(offset: begin, count: min(count, bytes.byteCount - begin)),
          isCode: bytes.uint32(at: place + 36) & 0x2000_0000 != 0))
    }
    self.sections = sections.sorted { $0.address < $1.address }
  }

  /// The place in the file of `count` bytes at an address; nil if they are not in it.
  func offset(of address: UInt64, count: Int) -> Int? {
    let next = sections.indices.partitioningIndex { sections[$0].address > address }
    guard next > 0 else { return nil }
    let section = sections[next - 1]
    let distance = address - section.address
    guard distance <= UInt64(section.range.count), section.range.count - Int(distance) >= count else { return nil }
    return section.range.offset + Int(distance)
  }

  /// The place of up to `count` bytes; nil if the file does not have the first one.
  func data(at address: UInt64, count: Int) -> ByteRange? {
    let next = sections.indices.partitioningIndex { sections[$0].address > address }
    guard next > 0, case let section = sections[next - 1], address - section.address < UInt64(section.range.count)
    else { return nil }
    let distance = Int(address - section.address)
    return ByteRange(offset: section.range.offset + distance, count: min(count, section.range.count - distance))
  }

  func isCode(_ address: UInt64) -> Bool {
    let next = sections.indices.partitioningIndex { sections[$0].address > address }
    return next > 0 && sections[next - 1].isCode && address - sections[next - 1].address < sections[next - 1].size
  }

  /// The bytes of a data directory; nil if the file lacks the directory or its bytes.
  private func directory(_ index: Int) -> (address: UInt64, range: ByteRange)? {
    guard index < directories.count, directories[index].address > 0 else { return nil }
    let (address, size) = directories[index]
    guard let offset = offset(of: address, count: Int(size)) else { return nil }
    return (address, ByteRange(offset: offset, count: Int(size)))
  }

  // MARK: Identity

  /// The id by which symbol servers keep the file, as in Breakpad's records.
  var codeID: String {
    let digits = String(timestamp, radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.count) + digits + String(imageSize, radix: 16)
  }

  /// The GUID and the age of its PDB, and the PDB's path, from the debug directory; nil if it has none.
  func programDatabase(_ bytes: RawSpan) -> (id: DebugID, path: String)? {
    guard let (_, range) = directory(6) else { return nil }
    for place in stride(from: range.offset, through: range.offset + range.count - 28, by: 28) {
      // IMAGE_DEBUG_TYPE_CODEVIEW, and the signature of its record, "RSDS" or "NB10"
      let (size, offset) = (Int(bytes.uint32(at: place + 16)), Int(bytes.uint32(at: place + 24)))
      guard bytes.uint32(at: place + 12) == 2, size >= 16, offset <= bytes.byteCount - size else { continue }
      func path(from start: Int) -> String {
        let path = bytes.array(in: ByteRange(offset: offset + start, count: size - start)).prefix { $0 != 0 }
        return String(decoding: path, as: UTF8.self)
      }
      switch bytes.uint32(at: offset) {
      case 0x5344_5352 where size >= 24:
        let high =
          UInt64(bytes.uint32(at: offset + 4)) << 32 | UInt64(bytes.uint16(at: offset + 8)) << 16
          | UInt64(bytes.uint16(at: offset + 10))
        let low = bytes.uint64(at: offset + 12).byteSwapped
        return (DebugID(uuid: UUIDBytes(high: high, low: low), age: bytes.uint32(at: offset + 20)), path(from: 24))
      case 0x3031_424e:
        return (DebugID(oldPDB: bytes.uint32(at: offset + 8), age: bytes.uint32(at: offset + 12)), path(from: 16))
      default: continue
      }
    }
    return nil
  }

  // MARK: Exports

  /// The addresses of the exported functions and the places of their names, by address; forwarded ones are left out.
  func exports(_ bytes: RawSpan) -> [(address: UInt64, name: Int)] {
    guard let (start, range) = directory(0), range.count >= 40 else { return [] }
    func word(_ offset: Int) -> UInt64 { UInt64(bytes.uint32(at: range.offset + offset)) }
    let (functions, names, ordinals) = (word(28), word(32), word(36))
    let functionCount = word(20)
    // Ordinals have 16 bits; so many names are more than any library has.
    let count = Int(min(word(24), 1 << 17))
    guard let list = offset(of: names, count: 4 * count), let numbers = offset(of: ordinals, count: 2 * count) else {
      return []
    }
    var found: [(address: UInt64, name: Int)] = []
    for index in 0..<count {
      let ordinal = UInt64(bytes.uint16(at: numbers + 2 * index))
      guard ordinal < functionCount, let place = offset(of: functions + 4 * ordinal, count: 4) else { continue }
      let address = UInt64(bytes.uint32(at: place))
      // An address in the directory itself is the name of a function in another library.
      guard isCode(address), address < start || address - start >= UInt64(range.count),
        let text = offset(of: UInt64(bytes.uint32(at: list + 4 * index)), count: 1)
      else { continue }
      found.append((address, text))
    }
    return found.sorted { ($0.address, $0.name) < ($1.address, $1.name) }
  }

  func name(at offset: Int, _ bytes: RawSpan) -> String {
    // The longest decorated names of C++ have 4,096 bytes.
    var end = offset
    while end < min(bytes.byteCount, offset + 4096), bytes.uint8(at: end) != 0 { end += 1 }
    return bytes.text(in: ByteRange(offset: offset, count: end - offset))
  }

  // MARK: Functions

  /// A function of `.pdata`.
  struct Function: Sendable {
    let start: UInt64
    let end: UInt64
    /// The address of its UNWIND_INFO.
    let unwind: UInt64
  }

  /// The function that contains an address, by the exception directory of x86-64, which is sorted.
  func function(containing address: UInt64, _ bytes: RawSpan) -> Function? {
    guard machine == .x86_64, let (_, range) = directory(3) else { return nil }
    let rows = 0..<(range.count / 12)
    let next = rows.partitioningIndex { UInt64(bytes.uint32(at: range.offset + 12 * $0)) > address }
    guard next > 0 else { return nil }
    let found = function(at: range.offset + 12 * (next - 1), bytes)
    return address < found.end ? found : nil
  }

  /// The number of entries.
  var functionCount: Int { machine == .x86_64 ? (directory(3)?.range.count ?? 0) / 12 : 0 }

  /// The entry at a place in the file.
  func function(at offset: Int, _ bytes: RawSpan) -> Function {
    Function(
      start: UInt64(bytes.uint32(at: offset)), end: UInt64(bytes.uint32(at: offset + 4)),
      unwind: UInt64(bytes.uint32(at: offset + 8)))
  }

  // MARK: Unwind information

  /// Entries that continue others; more are a circle.
  static let mostChained = 32

  /// The head of an UNWIND_INFO.
  struct UnwindInfo {
    /// The place of the codes in the file, and how many slots they have.
    let codes: Int
    let count: Int
    /// The number of the frame register in instructions; 0 if there is none.
    let frameRegister: Int
    /// The distance of the frame register from the stack pointer when it was set, in bytes.
    let frameOffset: UInt64
    /// The entry that this one continues.
    let continued: Function?
  }

  /// Nil if it is damaged.
  func unwindInfo(of function: Function, _ bytes: RawSpan) -> UnwindInfo? {
    let address = function.unwind & ~3
    // An odd address is that of another function's entry.
    if function.unwind & 1 == 1 {
      return offset(of: address, count: 12).map { place in
        UnwindInfo(codes: place, count: 0, frameRegister: 0, frameOffset: 0, continued: self.function(at: place, bytes))
      }
    }
    guard let info = offset(of: address, count: 4) else { return nil }
    let (version, flags) = (bytes.uint8(at: info) & 7, bytes.uint8(at: info) >> 3)
    let count = Int(bytes.uint8(at: info + 2))
    guard version == 1 || version == 2, offset(of: address, count: 4 + 2 * count) != nil else { return nil }
    var continued: Function?
    if flags & 4 != 0 {
      guard let next = offset(of: address + UInt64(4 + 2 * ((count + 1) & ~1)), count: 12) else { return nil }
      continued = self.function(at: next, bytes)
    }
    let frame = bytes.uint8(at: info + 3)
    return UnwindInfo(
      codes: info + 4, count: count, frameRegister: Int(frame & 0xf), frameOffset: 16 * UInt64(frame >> 4),
      continued: continued)
  }

  /// The entry with the start of the function, of which others may describe parts.
  func primary(of function: Function, _ bytes: RawSpan) -> Function {
    var found = function
    for _ in 0..<Self.mostChained {
      guard let next = unwindInfo(of: found, bytes)?.continued else { return found }
      found = next
    }
    return function
  }
}
