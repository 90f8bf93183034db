// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import ToolRunner

/// Minidumps whose entries share what they point to, or that are nothing but entries.
enum HostileMinidump: String, CaseIterable, Codable, Sendable {
  /// Names: one for all, each a little further on, the same with units that take three bytes of UTF-8, one huge name.
  case sharedNames, overlappingNames, wideNames, hugeName
  case sharedContexts, sharedStacks, sharedCodeView, sharedAnnotations, sharedNamedContexts
  case threadNames, memory, memory64, memoryInfo, unloaded, unusedStreams, repeatedModuleInfos, faults

  /// Files are a quarter of the size, except under `make soak`.
  static let parts = Soak.times(1, or: 4)
  /// How many kilobytes they may take beside the file: some for the process, whatever its input.
  static let limit = Soak.times(64, or: 32) << 10

  /// The bytes, of some megabytes.
  var bytes: [UInt8] {
    var file = StreamFile()
    switch self {
    case .sharedNames:
      let name = file.text(0x41, units: (1 << 20) / Self.parts)
      file.modules(60_000 / Self.parts) { _ in name }
    case .overlappingNames: overlapping(&file, unit: 0x20)
    case .wideNames: overlapping(&file, unit: 0x0840)
    case .hugeName:
      let name = file.text(0x2014, units: (16 << 20) / Self.parts)
      file.modules(1) { _ in name }
    case .sharedContexts: file.threads(60_000 / Self.parts, .x86_64)
    case .sharedNamedContexts: file.threads(60_000 / Self.parts, .x86)
    case .sharedStacks: file.threads(60_000 / Self.parts, .arm64, stackBytes: (1 << 20) / Self.parts)
    case .sharedCodeView:
      let record = file.block(Array("RSDS".utf8) + [UInt8](repeating: 7, count: (1 << 15) / Self.parts))
      file.modules(60_000 / Self.parts, codeView: (4 + (1 << 15) / Self.parts, record)) { _ in 0 }
    case .sharedAnnotations, .repeatedModuleInfos: crashpad(&file)
    case .threadNames:
      file.threads(30_000 / Self.parts, .arm64)
      let name = file.text(0x41, units: 8)
      file.list(24, count: 60_000 / Self.parts) { Bytes.of(UInt32($0)) + Bytes.of(UInt64(name)) }
    case .memory:
      file.list(5, count: (1 << 20) / Self.parts) {
        Bytes.of(UInt64($0) << 8) + Bytes.of(UInt32(32)) + Bytes.of(UInt32(0))
      }
    case .memory64:
      let head = Bytes.of(UInt64((1 << 20) / Self.parts)) + Bytes.of(UInt64(0))
      file.stream(9, head + (0..<(1 << 20) / Self.parts).flatMap { Bytes.of(UInt64($0) << 8) + Bytes.of(UInt64(1)) })
    case .memoryInfo:
      let head = Bytes.of(UInt32(16)) + Bytes.of(UInt32(48)) + Bytes.of(UInt64((1 << 18) / Self.parts))
      file.stream(16, head + [UInt8](repeating: 1, count: (48 << 18) / Self.parts))
    case .unloaded:
      let head = Bytes.of(UInt32(12)) + Bytes.of(UInt32(24)) + Bytes.of(UInt32((1 << 18) / Self.parts))
      file.stream(14, head + [UInt8](repeating: 0, count: (24 << 18) / Self.parts))
    case .unusedStreams: for _ in 0..<200_000 / Self.parts { file.stream(0xffff, []) }
    case .faults: file.modules(60_000 / Self.parts, codeView: (100, 0xffff_0000)) { _ in 0xffff_0000 }
    }
    return file.finished()
  }

  /// Names that begin four bytes apart and say that they are some hundred kilobytes long: their units are their length.
  private func overlapping(_ file: inout StreamFile, unit: UInt16) {
    let start = file.block([UInt8](repeating: 0, count: 0))
    let words = (1 << 20) / Self.parts
    // Two units, of which the upper is small: 0x0004_0020 bytes are 256 KiB.
    let upper = UInt32(4 / Self.parts)
    file.block((0..<words).flatMap { _ in Bytes.of(upper << 16 | UInt32(unit)) })
    file.modules(20_000 / Self.parts) { start + 4 * $0 }
  }

  private func crashpad(_ file: inout StreamFile) {
    let text = file.block(Bytes.of(UInt32(1 << 14)) + [UInt8](repeating: 0x41, count: 1 << 14))
    let entry = Bytes.of(UInt32(text)) + Bytes.of(UInt32(text))
    let dictionary = file.block(
      Bytes.of(UInt32(40_000 / Self.parts)) + (0..<40_000 / Self.parts).flatMap { _ in entry })
    let place = Bytes.of(UInt32(4 + 8 * 40_000 / Self.parts)) + Bytes.of(UInt32(dictionary))
    var modules = [UInt8](repeating: 0, count: 8)
    if self == .repeatedModuleInfos {
      // Each of many entries has the same module's annotations read once more.
      file.modules(1) { _ in 0 }
      let none = [UInt8](repeating: 0, count: 8)
      let info = file.block(Bytes.of(UInt32(1)) + none + place + none)
      let list = (0..<30_000 / Self.parts).flatMap { _ in
        Bytes.of(UInt32(0)) + Bytes.of(UInt32(28)) + Bytes.of(UInt32(info))
      }
      modules =
        Bytes.of(UInt32(4 + list.count)) + Bytes.of(UInt32(file.block(Bytes.of(UInt32(30_000 / Self.parts)) + list)))
    }
    let process = self == .sharedAnnotations ? place : [UInt8](repeating: 0, count: 8)
    file.stream(0x4350_0001, Bytes.of(UInt32(1)) + [UInt8](repeating: 0, count: 32) + process + modules)
  }
}

/// Writes streams one after another; the directory comes last.
struct StreamFile {
  private var bytes = Array("MDMP".utf8) + Bytes.of(UInt32(0xa793)) + [UInt8](repeating: 0, count: 24)
  private var directory: [UInt8] = []

  /// Bytes at a multiple of four; the offset.
  @discardableResult
  mutating func block(_ more: [UInt8]) -> Int {
    bytes.appendZeros((4 - bytes.count % 4) % 4)
    bytes += more
    return bytes.count - more.count
  }

  /// A MINIDUMP_STRING of one unit again and again.
  mutating func text(_ unit: UInt16, units: Int) -> Int {
    var data = Bytes.of(UInt32(2 * units))
    data.reserveCapacity(2 * units + 8)
    for _ in 0..<units { data.append(little: unit) }
    data.append(little: UInt16(0))
    return block(data)
  }

  mutating func stream(_ type: UInt32, _ data: [UInt8]) {
    directory += Bytes.of(type) + Bytes.of(UInt32(data.count)) + Bytes.of(UInt32(block(data)))
  }

  mutating func list(_ type: UInt32, count: Int, _ entry: (Int) -> [UInt8]) {
    var data = Bytes.of(UInt32(count))
    for index in 0..<count { data += entry(index) }
    stream(type, data)
  }

  mutating func modules(_ count: Int, codeView: (size: Int, rva: Int) = (0, 0), name: (Int) -> Int) {
    list(4, count: count) { index in
      var entry = Bytes.of(UInt64(index) << 16) + Bytes.of(UInt32(0x1000)) + [UInt8](repeating: 0, count: 8)
      entry += Bytes.of(UInt32(name(index))) + [UInt8](repeating: 0, count: 52)
      entry += Bytes.of(UInt32(codeView.size)) + Bytes.of(UInt32(codeView.rva))
      return entry + [UInt8](repeating: 0, count: 108 - entry.count)
    }
  }

  /// Threads with one context and one stack.
  mutating func threads(_ count: Int, _ processor: MinidumpProcessor, stackBytes: Int = 0) {
    let dump = Example.small(processor, .windows)
    let system = dump.value("systemInfo.rva")
    stream(7, Array(dump.bytes[system..<system + 24]) + [UInt8](repeating: 0, count: 32))
    let context = dump.value("threadList[0].context.rva")
    let place = block(Array(dump.bytes[context..<context + processor.contextSize]))
    let stack = block([UInt8](repeating: 9, count: stackBytes))
    list(3, count: count) {
      Bytes.of(UInt32($0)) + [UInt8](repeating: 0, count: 20) + Bytes.of(UInt64($0) << 32)
        + Bytes.of(UInt32(stackBytes))
        + Bytes.of(UInt32(stack)) + Bytes.of(UInt32(processor.contextSize)) + Bytes.of(UInt32(place))
    }
  }

  mutating func finished() -> [UInt8] {
    let place = block(directory)
    bytes.overwrite(UInt64(directory.count / 12), width: 4, at: 8)
    bytes.overwrite(UInt64(place), width: 4, at: 12)
    return bytes
  }
}
