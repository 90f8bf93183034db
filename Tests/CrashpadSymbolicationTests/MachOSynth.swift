// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// Makes Mach-O files from what `mach-o/loader.h` says, without the product's constants.
struct MachOSynth {
  struct Section {
    var segment: String
    var name: String
    var address: UInt64
    var bytes: [UInt8]
    var flags: UInt32 = 0
  }

  struct Symbol {
    var name: String
    var address: UInt64
    /// N_SECT | N_EXT
    var type: UInt8 = 0x0f
    var section: UInt8 = 1
  }

  var cpu: (UInt32, UInt32) = (0x0100_000c, 0)
  var kind: UInt32 = 6
  var base: UInt64 = 0x1_0000_0000
  var sections: [Section] = []
  var symbols: [Symbol] = []
  var functionStarts: [UInt8]?
  var uuid: [UInt8]? = Array(0xa0...0xaf)
  var installName: String?
  /// Whole commands, behind the others.
  var extra: [[UInt8]] = []

  private static func name(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8.prefix(16))
    return bytes + [UInt8](repeating: 0, count: 16 - bytes.count)
  }

  func bytes() -> [UInt8] {
    // Every command is laid out twice: first to know how long they are.
    let size = commands(dataOffset: 0).commands.reduce(0) { $0 + $1.count }
    let (commands, data) = commands(dataOffset: 32 + size)
    var out: [UInt8] = []
    out.append(little: UInt32(0xfeed_facf))
    out.append(little: cpu.0)
    out.append(little: cpu.1)
    out.append(little: kind)
    out.append(little: UInt32(commands.count))
    out.append(little: UInt32(size))
    out.append(little: UInt64(0))
    for command in commands { out += command }
    return out + data
  }

  private func commands(dataOffset: Int) -> (commands: [[UInt8]], data: [UInt8]) {
    var data: [UInt8] = []
    var commands: [[UInt8]] = []
    var segmentNames: [String] = []
    for section in sections where !segmentNames.contains(section.segment) { segmentNames.append(section.segment) }
    for segment in segmentNames {
      let own = sections.filter { $0.segment == segment }
      let start = dataOffset + data.count
      var headers: [UInt8] = []
      for section in own {
        headers += Self.name(section.name) + Self.name(section.segment)
        headers.append(little: section.address)
        headers.append(little: UInt64(section.bytes.count))
        headers.append(little: UInt32(dataOffset + data.count))
        headers.appendZeros(12)
        headers.append(little: section.flags)
        headers.appendZeros(12)
        data += section.bytes
      }
      let low = segment == "__TEXT" ? base : own[0].address
      let high = own.map { $0.address + UInt64($0.bytes.count) }.max() ?? low
      var body = Self.name(segment)
      body.append(little: low)
      body.append(little: high - low)
      body.append(little: UInt64(start))
      body.append(little: UInt64(dataOffset + data.count - start))
      body.append(little: UInt32(5))
      body.append(little: UInt32(5))
      body.append(little: UInt32(own.count))
      body.append(little: UInt32(0))
      commands.append(Self.command(0x19, body + headers))
    }
    if let uuid { commands.append(Self.command(0x1b, uuid)) }
    // LC_BUILD_VERSION: iOS 14.2, SDK 17.4.1, no tools
    commands.append(Self.command(0x32, [2, 0, 0, 0, 0, 2, 14, 0, 1, 4, 17, 0, 0, 0, 0, 0]))
    if let installName {
      commands.append(
        Self.command(0x0d, [24, 0, 0, 0] + [UInt8](repeating: 1, count: 12) + Array(installName.utf8) + [0]))
    }
    if let functionStarts {
      var body = Bytes.of(UInt32(dataOffset + data.count))
      body.append(little: UInt32(functionStarts.count))
      commands.append(Self.command(0x26, body))
      data += functionStarts
    }
    var strings: [UInt8] = [0x20, 0]
    var entries: [UInt8] = []
    for symbol in symbols {
      entries.append(little: UInt32(strings.count))
      entries += [symbol.type, symbol.section, 0, 0]
      entries.append(little: symbol.address)
      strings += Array(symbol.name.utf8) + [0]
    }
    var body = Bytes.of(UInt32(dataOffset + data.count))
    body.append(little: UInt32(symbols.count))
    body.append(little: UInt32(dataOffset + data.count + entries.count))
    body.append(little: UInt32(strings.count))
    commands.append(Self.command(0x02, body))
    data += entries + strings
    return (commands + extra, data)
  }

  static func command(_ number: UInt32, _ body: [UInt8]) -> [UInt8] {
    var out = Bytes.of(number)
    let size = (8 + body.count + 7) / 8 * 8
    out.append(little: UInt32(size))
    return out + body + [UInt8](repeating: 0, count: size - 8 - body.count)
  }

  /// A universal file of these, with offsets of 32 or 64 bits.
  static func universal(_ slices: [((UInt32, UInt32), [UInt8])], isWide: Bool = false) -> [UInt8] {
    func big(_ value: UInt64, _ width: Int) -> [UInt8] {
      (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }
    var out = big(isWide ? 0xcafe_babf : 0xcafe_babe, 4) + big(UInt64(slices.count), 4)
    var offset = 4096
    for (cpu, bytes) in slices {
      let width = isWide ? 8 : 4
      out += big(UInt64(cpu.0), 4) + big(UInt64(cpu.1), 4) + big(UInt64(offset), width)
      out += big(UInt64(bytes.count), width) + big(12, 4) + (isWide ? big(0, 4) : [])
      offset += (bytes.count + 4095) / 4096 * 4096
    }
    for (_, bytes) in slices {
      out += [UInt8](repeating: 0, count: (4096 - out.count % 4096) % 4096)
      out += bytes
    }
    return out
  }

  /// A library with three functions, symbols, unwind information of both kinds of pages, and debugging sections.
  static func sample() -> MachOSynth {
    var synth = MachOSynth()
    let text = synth.base + 0x1000
    synth.installName = "@rpath/Sample.dylib"
    synth.sections = [
      Section(segment: "__TEXT", name: "__text", address: text, bytes: code, flags: 0x8000_0400),
      Section(segment: "__TEXT", name: "__const", address: text + 0x100, bytes: [1, 2, 3, 4]),
      Section(segment: "__TEXT", name: "__unwind_info", address: text + 0x200, bytes: unwindInfo),
      Section(segment: "__TEXT", name: "__eh_frame", address: text + 0x400, bytes: [0, 0, 0, 0]),
      Section(segment: "__DWARF", name: "__debug_info", address: 0x2_0000_0000, bytes: Array(1...40)),
      Section(segment: "__DWARF", name: "__debug_str_offs", address: 0x2_0000_0100, bytes: Array(50...61)),
      Section(segment: "__DWARF", name: "__apple_names", address: 0x2_0000_0200, bytes: [9, 9, 9]),
    ]
    synth.symbols = [
      // N_SO, a debugging entry; an undefined one; data; the header.
      Symbol(name: "source.c", address: text, type: 0x64),
      Symbol(name: "_malloc", address: 0, type: 0x01, section: 0),
      Symbol(name: "_constant", address: text + 0x100, section: 2),
      Symbol(name: "__mh_dylib_header", address: synth.base),
      Symbol(name: "_third", address: text + 0x60),
      Symbol(name: "ltmp0", address: text, type: 0x0e),
      Symbol(name: "_first", address: text),
      Symbol(name: "_second", address: text + 0x20, type: 0x0e),
    ]
    // 0x1000, 0x1020, 0x1050 (no symbol), 0x1060
    synth.functionStarts = [0x80, 0x20, 0x20, 0x30, 0x10, 0]
    return synth
  }

  /// STP x29, x30, [sp, #-32]!; STP x20, x19, [sp, #16]; ADD x29, sp, #0; then NOPs up to 0x80.
  private static let code: [UInt8] =
    [0xfd, 0x7b, 0xbe, 0xa9, 0xf4, 0x4f, 0x01, 0xa9, 0xfd, 0x03, 0x00, 0x91]
    + (0..<29).flatMap { _ in [0x1f, 0x20, 0x03, 0xd5] as [UInt8] }

  /// 0x1000: frame with x19 and x20; 0x1020: frameless, 32 bytes; 0x1050: DWARF; 0x1060: frame.
  private static let unwindInfo: [UInt8] = {
    var out: [UInt8] = []
    // version, one common encoding at 28, no personalities, three entries of the index at 32
    for value in [1, 28, 1, 32, 0, 32, 3] as [UInt32] { out.append(little: value) }
    out.append(little: UInt32(0x0400_0001))
    for value in [0x1000, 68, 0, 0x1050, 92, 0, 0x1080, 0, 0] as [UInt32] { out.append(little: value) }
    // Compressed: two entries at 12, one encoding of its own at 20
    out.append(little: UInt32(3))
    for value in [12, 2, 20, 1] as [UInt16] { out.append(little: value) }
    for value in [0x0000_0000, 0x0100_0020, 0x0200_2000] as [UInt32] { out.append(little: value) }
    // Regular: two entries at 8
    out.append(little: UInt32(2))
    for value in [8, 2] as [UInt16] { out.append(little: value) }
    for value in [0x1050, 0x0300_0000, 0x1060, 0x0400_0000] as [UInt32] { out.append(little: value) }
    return out
  }()
}
