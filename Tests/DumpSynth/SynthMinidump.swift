// SPDX-License-Identifier: Apache-2.0
/// A minidump as Windows, Breakpad or Crashpad for another system would write it, made byte for byte.
///
/// It does not look like what Crashpad's iOS converter writes on purpose: a reader has to take any legal layout.
public struct SynthMinidump: Sendable {
  public let parameters: SynthMinidumpParameters
  public let bytes: [UInt8]
  public let threads: [MinidumpThreadTruth]
  public let modules: [MinidumpModuleTruth]
  /// Regions besides the stacks.
  public let regions: [(address: UInt64, count: Int)]
  public let memory: SynthMemory
  /// Every number of the file that a reader must check.
  public let fields: [MinidumpField]
  /// The place of each stream of `parameters.effectiveStreams`.
  public let streams: [(stream: MinidumpStream, range: Range<Int>)]
  public let exceptionCode: UInt32
  public let exceptionAddress: UInt64
  /// The address that the instruction wanted to reach; on Windows it is a parameter.
  public let accessedAddress: UInt64 = 0x10

  public init(_ parameters: SynthMinidumpParameters = SynthMinidumpParameters()) {
    self.parameters = parameters
    let process = MinidumpProcess(parameters)
    threads = process.threads
    modules = process.modules
    regions = process.regions
    memory = process.memory
    exceptionCode = MinidumpStreams.exceptionCode(parameters.system)
    exceptionAddress = MinidumpStreams.exceptionAddress(parameters.system, process)

    let wanted = parameters.effectiveStreams
    let copies = parameters.damage.contains(.duplicates) ? 2 : 1
    var parts = MinidumpStreams(parameters, process)
    // The header has to stand at 0, whatever else is at odd offsets.
    let header = 0
    parts.writer.continueWith(Bytes.of(UInt32(0x504d_444d)) + Bytes.of(UInt32(0xa793)))
    parts.writer.continueWith([UInt8](repeating: 0, count: 24))
    let directory = parts.writer.reserve(wanted.count * copies * 12)
    parts.writer.putCount(wanted.count * copies, at: header + 8, "header.streams")
    parts.writer.putRVA(directory, at: header + 12, "header.directory")
    parts.writer.put32(0x6500_0000 + Int(parameters.seed % 0x1_0000), at: header + 20)

    var placed: [(stream: MinidumpStream, range: Range<Int>)] = []
    for index in 0..<wanted.count * copies {
      let stream = wanted[index % wanted.count]
      let range = parts.write(stream)
      let entry = directory + index * 12
      parts.writer.put(UInt64(stream.rawValue), 4, at: entry)
      parts.writer.putLocation(size: range.count, rva: range.lowerBound, at: entry + 4, "\(stream)")
      if index < wanted.count { placed.append((stream, range)) }
    }
    parts.writeStacks()
    streams = placed
    fields = parts.writer.fields
    bytes = MinidumpBreaker(parameters, fields, streams).breaking(parts.writer.bytes, directory: directory)
  }
}

extension SynthMinidump {
  /// The bytes with another stream in place of one of them.
  ///
  /// - Parameter content: makes the stream, whose first byte is at the given offset.
  public func replacing(_ stream: MinidumpStream, with type: UInt32, _ content: (Int) -> [UInt8]) -> [UInt8] {
    guard let field = fields.first(where: { $0.path == "\(stream).size" }) else { preconditionFailure("no \(stream)") }
    var copy = bytes
    while copy.count % 8 != 0 { copy.append(0) }
    let made = content(copy.count)
    copy.overwrite(UInt64(type), width: 4, at: field.offset - 4)
    copy.overwrite(UInt64(made.count), width: 4, at: field.offset)
    copy.overwrite(UInt64(copy.count), width: 4, at: field.offset + 4)
    return copy + made
  }

  /// Breakpad's MDRawAssertionInfo.
  public static func assertion(
    _ expression: String, _ function: String, _ file: String, line: UInt32, kind: UInt32
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    for text in [expression, function, file] {
      var field: [UInt8] = []
      for unit in text.utf16.prefix(127) { field.append(little: unit) }
      field.appendZeros(256 - field.count)
      bytes += field
    }
    return bytes + Bytes.of(line) + Bytes.of(kind)
  }

  /// Mozilla's stream of the sections `__crash_info`, with one record of version 5, which begins at `offset` + 172.
  public static func crashInfo(at offset: Int, _ texts: [String]) -> [UInt8] {
    var record = Bytes.of([UInt64(0), 5, 0x11, 0x22, 0x33])
    for text in texts { record += Array(text.utf8) + [0] }
    var bytes: [UInt8] = []
    for word in [0x4d7a_0001, 1, 40, record.count, offset + 172] { bytes.append(little: UInt32(word)) }
    bytes.appendZeros(172 - bytes.count)
    return bytes + record
  }

  /// Mozilla's stream of the arguments of the kernel.
  public static func bootArguments(at offset: Int, _ text: String) -> [UInt8] {
    var bytes = Bytes.of(UInt32(0x4d7a_0002)) + Bytes.of(UInt64(offset + 12)) + Bytes.of(UInt32(text.utf16.count * 2))
    for unit in text.utf16 { bytes.append(little: unit) }
    return bytes + [0, 0]
  }
}

/// Applies `MinidumpDamage` to finished bytes.
struct MinidumpBreaker {
  private let parameters: SynthMinidumpParameters
  private let fields: [MinidumpField]
  private let streams: [(stream: MinidumpStream, range: Range<Int>)]

  init(
    _ parameters: SynthMinidumpParameters, _ fields: [MinidumpField],
    _ streams: [(stream: MinidumpStream, range: Range<Int>)]
  ) {
    self.parameters = parameters
    self.fields = fields
    self.streams = streams
  }

  func breaking(_ original: [UInt8], directory: Int) -> [UInt8] {
    var bytes = original
    var random = SplitMix64(seed: parameters.seed, area: 77)
    let size = UInt64(bytes.count)
    if parameters.damage.contains(.rva) {
      let bad: [UInt64] = [size, size - 1, size - 3, size + 1, 0xffff_ffff, 0xffff_fff0, 0x8000_0000, .max, 1]
      change(.rva, &bytes, &random) { random, _ in bad[random.below(bad.count)] }
    }
    if parameters.damage.contains(.counts) {
      let bad: [UInt64] = [.max, 0x7fff_ffff, 0x1000_0000, 0x0555_5556, 65_536]
      change(.count, &bytes, &random) { random, old in random.oneIn(4) ? old + 1 : bad[random.below(bad.count)] }
    }
    if parameters.damage.contains(.strings) {
      change(.length, &bytes, &random) { random, old in
        [old + 1, old | 1, size, 0xffff_fffe, 0xffff_ffff, 0x8000_0000, 0][random.below(7)]
      }
      // A high surrogate alone, in the middle of what is left.
      for field in fields where field.kind == .length && random.oneIn(4) {
        bytes.overwrite(0xd83d, width: 2, at: field.offset + 6)
      }
    }
    if parameters.damage.contains(.overlap), streams.count > 1 {
      for index in stride(from: 1, to: streams.count, by: 2) {
        let other = streams[index - 1].range.lowerBound + random.below(4) * 4
        bytes.overwrite(UInt64(other), width: 4, at: directory + index * 12 + 8)
      }
    }
    if parameters.damage.contains(.header) {
      switch random.below(4) {
      case 0: bytes.overwrite(UInt64(streams.count) + 0x10000, width: 4, at: 8)
      case 1: bytes.overwrite(size - 4, width: 4, at: 12)
      case 2: bytes.overwrite(0xffff_fff8, width: 4, at: 12)
      default: bytes.overwrite(0x4d44_4d50, width: 4, at: 0)
      }
    }
    return bytes
  }

  /// Changes about a third of the fields of a kind below the header, at least one.
  private func change(
    _ kind: MinidumpField.Kind, _ bytes: inout [UInt8], _ random: inout SplitMix64,
    _ value: (inout SplitMix64, UInt64) -> UInt64
  ) {
    let candidates = fields.filter { $0.kind == kind && $0.offset >= 32 }
    guard !candidates.isEmpty else { return }
    let certain = random.below(candidates.count)
    for (index, field) in candidates.enumerated() where index == certain || random.oneIn(3) {
      let old = bytes.little(at: field.offset, width: field.width) ?? 0
      bytes.overwrite(value(&random, old), width: field.width, at: field.offset)
    }
  }
}
