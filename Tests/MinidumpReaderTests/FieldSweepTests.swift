// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot
import Testing
import ToolRunner

/// Every number of a minidump that points, counts or measures, with wrong values.
@Suite("MinidumpReader: fields that lie")
struct FieldSweepTests {
  struct Base: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let dump: SynthMinidump

    init(_ processor: MinidumpProcessor, _ system: MinidumpSystem, memory64: Bool = false, padded: Bool = false) {
      testDescription = "\(processor), \(system)\(memory64 ? ", memory64" : "")\(padded ? ", padded" : "")"
      dump = Example.small(processor, system) {
        $0.usesMemory64 = memory64
        $0.paddedLists = padded
      }
    }

    static let all = [
      Base(.x86_64, .linux), Base(.arm64, .ios), Base(.x86, .windows), Base(.arm, .android), Base(.arm64Old, .android),
      Base(.x86_64, .windows, memory64: true), Base(.x86_64, .macos, padded: true),
    ]
  }

  /// Streams that are listed, but not read.
  private static func isUnread(_ field: MinidumpField, _ dump: SynthMinidump) -> Bool {
    ["linuxDSODebug"].contains { field.path.hasPrefix($0) }
      && field.offset >= dump.value("header.directory.rva") + 12 * dump.streams.count
  }

  @Test("The largest number gives an error finding; in a stream that is not read, nothing", arguments: Base.all)
  func largest(_ base: Base) {
    let clean = Outline(Reading(base.dump.bytes))
    for field in base.dump.fields {
      let reading = Reading(base.dump.setting(field, to: field.width == 8 ? .max : 0xffff_ffff))
      if Self.isUnread(field, base.dump) {
        #expect(reading.codes == [] && Outline(reading) == clean, "\(field.path)")
      } else {
        #expect(!reading.errors.isEmpty, "\(field.path): \(reading.codes)")
      }
    }
  }

  @Test("A count that is one too large gives an error finding", arguments: Base.all)
  func oneMore(_ base: Base) {
    for field in base.dump.fields where field.kind == .count && !Self.isUnread(field, base.dump) {
      let reading = Reading(base.dump.setting(field, to: UInt64(base.dump.value(field) + 1)))
      // An exception has room for fifteen parameters, whatever their count.
      #expect(field.path.hasPrefix("exception") || !reading.errors.isEmpty, "\(field.path): \(reading.codes)")
    }
  }

  @Test("Without an error finding only that differs which the field belongs to", arguments: Base.all)
  func explained(_ base: Base) {
    let clean = Outline(Reading(base.dump.bytes))
    for field in Soak.every(8, of: base.dump.fields) {
      let old = UInt64(base.dump.value(field))
      let misaligned = field.kind == .rva ? [old &+ 2, old &- 3, UInt64(base.dump.bytes.count)] : [old ^ 2]
      for value in [0, 1, old &+ 1, old &- 1] + misaligned {
        let reading = Reading(base.dump.setting(field, to: value))
        let differences = Outline(reading).differences(from: clean)
        let allowed = Self.parts(of: field, base.dump)
        let strange = differences.filter { part in !allowed.contains { part.hasPrefix($0) } }
        #expect(reading.snapshot != nil && strange == [], "\(field.path) = \(value): \(strange), \(reading.codes)")
      }
    }
  }

  @Test("An RVA that is not aligned is noted or changes what it points to", arguments: Base.all)
  func misaligned(_ base: Base) {
    let clean = Outline(Reading(base.dump.bytes))
    for field in base.dump.fields where field.kind == .rva && !Self.isUnread(field, base.dump) {
      let reading = Reading(base.dump.setting(field, to: UInt64(base.dump.value(field) + 1)))
      // Empty names are as empty one byte further on, and memory of zeros is as zero.
      let maySame = field.path.hasPrefix("threadNames") || field.path.hasPrefix("memoryList[")
      #expect(maySame || !reading.codes.isEmpty || Outline(reading) != clean, "\(field.path)")
    }
  }

  /// The names of the parts of an outline that a field may change.
  private static func parts(of field: MinidumpField, _ dump: SynthMinidump) -> [String] {
    if field.path.hasPrefix("header") { return [""] }
    if isUnread(field, dump) { return [] }
    let head = String(field.path.prefix { $0 != "." && $0 != "[" })
    let entry = field.path.dropFirst(head.count).prefix { $0 != "." }
    let stream = "streams."
    switch head {
    // Bytes that no longer belong to a stack become other memory.
    case "threadList": return ["threads\(entry)", "memory", stream]
    case "threadNames": return ["threads", stream]
    case "moduleList": return ["modules\(entry)", stream]
    case "memoryList", "memory64List": return ["memory", stream]
    case "exception": return ["exception", stream]
    // The architecture says how registers are read, the system what an exception is.
    case "systemInfo":
      return field.path.contains("csd") ? ["system.build"] : ["system", "threads", "exception", stream]
    case "miscInfo": return ["process", stream]
    case "unloadedModuleList": return ["unloaded", stream]
    case "memoryInfoList": return ["map", stream]
    case "crashpadInfo", "list", "objects": return ["crashpad", "annotations", "modules", stream]
    default: return [head, stream]
    }
  }

  @Test("Pairs of wrong fields do not trap")
  func pairs() {
    var random = SplitMix64(seed: Sweep.seed, area: 1)
    for base in Base.all {
      for _ in 0..<Sweep.count / 40 {
        var bytes = base.dump.bytes
        for _ in 0..<random.between(2, 5) {
          let field = base.dump.fields[random.below(base.dump.fields.count)]
          let old = UInt64(base.dump.value(field))
          let other = UInt64(base.dump.value(base.dump.fields[random.below(base.dump.fields.count)]))
          let values: [UInt64] = [
            0, 1, old &+ 1, old &- 1, .max, other, 1 << 31, 0x7fff_ffff, UInt64(bytes.count), 1 << 63,
          ]
          bytes.overwrite(values[random.below(values.count)], width: field.width, at: field.offset)
        }
        Sweep.touch(Reading(bytes))
      }
    }
  }

  @Test("The synthesiser's own damage gives findings and no trap", arguments: MinidumpDamage.allCases)
  func damage(_ damage: MinidumpDamage) {
    for base in Base.all {
      for seed in 0..<Soak.times(20, or: 4) {
        var parameters = base.dump.parameters
        parameters.damage = [damage]
        parameters.seed = UInt64(seed)
        let reading = Reading(SynthMinidump(parameters).bytes)
        #expect(!reading.findings.isEmpty, "\(base), seed \(seed)")
        Sweep.touch(reading)
        parameters.damage = Set(MinidumpDamage.allCases)
        Sweep.touch(Reading(SynthMinidump(parameters).bytes))
      }
    }
  }
}
