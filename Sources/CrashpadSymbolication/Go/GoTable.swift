// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Go's table of functions and lines, `.gopclntab`, which every program of Go has: it needs it for its own stack traces.
///
/// Source: Go's runtime/symtab.go, runtime/runtime2.go and internal/abi/symtab.go of the versions 1.2 to 1.27.
struct GoTable {
  /// The versions of Go that changed the table, oldest first.
  enum Version: Comparable { case go12, go116, go118, go120 }

  private let bytes: SharedBytes
  let version: Version
  private let isBigEndian: Bool
  private let quantum: UInt64
  let pointerSize: Int
  /// The number of functions.
  let count: Int
  /// The offset of the names, which is also that from the table to the second part of the runtime's own list of parts.
  let names: Int
  private let units: Int
  private let files: Int
  private let values: Int
  private let functions: Int
  /// The address of the runtime's first instruction that the header has; 0 if it has none.
  let headerText: UInt64

  /// Nil if the bytes are no such table.
  init?(_ bytes: SharedBytes) {
    guard let header = bytes.withBytes({ Header($0) }) else { return nil }
    self.bytes = bytes
    (version, isBigEndian, quantum, pointerSize) =
      (header.version, header.isBigEndian, UInt64(header.quantum), header.pointerSize)
    (count, names, units, files) = (header.count, header.names, header.units, header.files)
    (values, functions, headerText) = (header.values, header.functions, header.text)
  }

  private struct Header {
    let version: Version
    let isBigEndian: Bool
    let quantum: Int
    let pointerSize: Int
    let count: Int
    var (names, units, files, values, functions) = (0, 0, 0, 0, 0)
    var text: UInt64 = 0

    init?(_ bytes: RawSpan) {
      guard bytes.byteCount >= 16, bytes.uint16(at: 4) == 0, [1, 2, 4].contains(bytes.uint8(at: 6)),
        [4, 8].contains(bytes.uint8(at: 7))
      else { return nil }
      let magic = bytes.uint32(at: 0)
      isBigEndian = Self.versions[magic] == nil
      guard let version = Self.versions[isBigEndian ? magic.byteSwapped : magic] else { return nil }
      self.version = version
      (quantum, pointerSize) = (Int(bytes.uint8(at: 6)), Int(bytes.uint8(at: 7)))
      let (size, swaps) = (pointerSize, isBigEndian)
      func word(_ index: Int) -> Int? {
        let place = 8 + index * size
        guard place + size <= bytes.byteCount else { return nil }
        return Int(exactly: bytes.number(at: place, size: size, swaps)).flatMap { $0 <= bytes.byteCount ? $0 : nil }
      }
      guard let count = word(0) else { return nil }
      self.count = count
      if version == .go12 {
        functions = 8 + size
        let end = functions + (2 * count + 1) * size
        guard end + 4 <= bytes.byteCount else { return nil }
        files = Int(bytes.number(at: end, size: 4, swaps))
        return
      }
      let first = version >= .go118 ? 3 : 2
      if version >= .go118, 8 + 3 * size <= bytes.byteCount { text = bytes.number(at: 8 + 2 * size, size: size, swaps) }
      guard let names = word(first), let units = word(first + 1), let files = word(first + 2),
        let values = word(first + 3), let functions = word(first + 4)
      else { return nil }
      (self.names, self.units, self.files, self.values, self.functions) = (names, units, files, values, functions)
    }

    private static let versions: [UInt32: Version] = [
      0xffff_fffb: .go12, 0xffff_fffa: .go116, 0xffff_fff0: .go118, 0xffff_fff1: .go120,
    ]
  }

  // MARK: Functions

  /// The part of a function's entry that is read here.
  struct Function {
    /// Relative to the first instruction of the program; absolute before 1.18.
    let start: UInt64
    let name: Int
    fileprivate let fileValues: Int
    fileprivate let lineValues: Int
    fileprivate let unit: Int
    /// The table with the index of the inlined call at each instruction; 0 if there is none.
    fileprivate let callValues: Int
    /// The offset of the list of inlined calls from the start of such data; nil if there is none.
    fileprivate let calls: UInt32?
  }

  /// The function that contains an instruction.
  func function(at place: UInt64) -> Function? {
    bytes.withBytes { bytes -> Function? in
      guard let first = start(0, bytes), let end = start(count, bytes), count > 0, place >= first, place < end else {
        return nil
      }
      let next = (0..<count).partitioningIndex { (start($0, bytes) ?? .max) > place }
      return next > 0 ? function(next - 1, bytes) : nil
    }
  }

  /// The function of an index; nil if its entry can't be read.
  func function(number: Int) -> Function? { bytes.withBytes { function(number, $0) } }

  private var fieldSize: Int { version >= .go118 ? 4 : pointerSize }

  private func number(_ place: Int, _ size: Int, _ bytes: RawSpan) -> UInt64? {
    place >= 0 && place <= bytes.byteCount - size ? bytes.number(at: place, size: size, isBigEndian) : nil
  }

  private func start(_ index: Int, _ bytes: RawSpan) -> UInt64? {
    number(functions + index * 2 * fieldSize, fieldSize, bytes)
  }

  private func function(_ index: Int, _ bytes: RawSpan) -> Function? {
    guard let start = start(index, bytes),
      let offset = number(functions + (index * 2 + 1) * fieldSize, fieldSize, bytes).flatMap({ Int(exactly: $0) }),
      offset < bytes.byteCount
    else { return nil }
    let base = version == .go12 ? offset : functions + offset
    // The start is followed by numbers of 32 bits.
    let fields = base + fieldSize
    func field(_ index: Int) -> Int? { number(fields + 4 * index, 4, bytes).map { Int($0) } }
    guard let name = field(0), let fileValues = field(4), let lineValues = field(5), let count = field(6) else {
      return nil
    }
    let unit = version >= .go116 ? field(7) ?? 0 : 0
    var (callValues, calls) = (0, nil as UInt32?)
    if version >= .go118 {
      // The bytes before the lists end with the number of the second one's entries.
      let lists = version >= .go120 ? 10 : 9
      if count > 2 { callValues = field(lists + 2) ?? 0 }
      if let others = number(fields + 4 * lists - 1, 1, bytes), others > 3 {
        calls = field(lists + count + 3).map { UInt32($0) }
      }
    }
    return Function(
      start: start, name: name, fileValues: fileValues, lineValues: lineValues, unit: unit, callValues: callValues,
      calls: calls == .max ? nil : calls)
  }

  func name(_ offset: Int) -> String? {
    bytes.withBytes { offset > 0 || names > 0 ? $0.string(at: UInt64(names + offset)) : nil }
      .flatMap { nameUnlessBlank($0) }
  }

  /// Whether a name begins at an offset: behind the end of another one.
  func isName(_ offset: Int) -> Bool {
    bytes.withBytes { bytes in
      let place = names + offset
      return offset >= 0 && place < units && place > 0 && bytes.uint8(at: place) != 0
        && (offset == 0 || bytes.uint8(at: place - 1) == 0)
    }
  }

  // MARK: Lines

  /// The largest number of steps through one table of values, of which a function has one for each change.
  private static let mostSteps = 1 << 20
  /// The largest number of steps of one lookup, which goes through several tables for each inlined call.
  static let mostStepsOfLookup = 1 << 22

  /// The value of a table at an instruction, whose offset from the start of the function is given. Nil if the table does not
  /// reach it, or if no more of `steps` are left.
  private func value(_ table: Int, at target: UInt64, _ bytes: RawSpan, _ steps: inout Int) -> Int32? {
    guard table > 0 else { return nil }
    var place = values + table
    var (pc, value) = (0 as UInt64, -1 as Int32)
    for step in 0..<min(Self.mostSteps, steps) {
      steps -= 1
      guard let change = bytes.unsigned(&place), change != 0 || step == 0, let advance = bytes.unsigned(&place) else {
        return nil
      }
      let bits = UInt32(truncatingIfNeeded: change)
      value &+= Int32(bitPattern: bits & 1 == 0 ? bits >> 1 : ~(bits >> 1))
      pc &+= advance &* quantum
      if target < pc { return value }
    }
    return nil
  }

  /// The place in the source of an instruction, by its offset in the function.
  func location(_ function: Function, at target: UInt64, _ steps: inout Int) -> SourceLocation? {
    bytes.withBytes { bytes -> SourceLocation? in
      guard let line = value(function.lineValues, at: target, bytes, &steps), line > 0 else { return nil }
      let index = value(function.fileValues, at: target, bytes, &steps)
      return SourceLocation(file: index.flatMap { file(Int($0), function, bytes) }, line: UInt64(line))
    }
  }

  private func file(_ index: Int, _ function: Function, _ bytes: RawSpan) -> String? {
    if version == .go12 {
      guard index > 0, let offset = number(files + 4 * index, 4, bytes) else { return nil }
      return bytes.string(at: offset)
    }
    guard index >= 0, let offset = number(units + 4 * (function.unit + index), 4, bytes), offset != 0xffff_ffff else {
      return nil
    }
    return bytes.string(at: UInt64(files) + offset)
  }

  // MARK: Inlined calls

  /// One inlined call.
  struct Call {
    let name: Int
    /// The offset in the function of an instruction at the place of the call.
    let caller: UInt64
  }

  /// The index of the inlined call at an instruction; nil if it is in the function itself.
  func callIndex(_ function: Function, at target: UInt64, _ steps: inout Int) -> Int? {
    bytes.withBytes { value(function.callValues, at: target, $0, &steps) }.flatMap { $0 >= 0 ? Int($0) : nil }
  }

  func hasCalls(_ function: Function) -> Bool { function.calls != nil && function.callValues > 0 }

  /// An entry of a function's list of inlined calls. `data` begins where offsets to such lists count from.
  func call(_ index: Int, of function: Function, in data: SharedBytes) -> Call? {
    guard let calls = function.calls else { return nil }
    let (size, name, caller) = version >= .go120 ? (16, 4, 8) : (20, 12, 16)
    return data.withBytes { bytes -> Call? in
      let place = Int(calls) + index * size
      guard let name = number(place + name, 4, bytes), let caller = number(place + caller, 4, bytes), isName(Int(name))
      else { return nil }
      return Call(name: Int(name), caller: caller)
    }
  }
}
