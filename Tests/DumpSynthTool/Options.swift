// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// The options of the command line.
struct Options {
  enum Kind: String {
    case idump
    case minidump
    /// An intermediate dump of a Linux process.
    case linux
  }

  static let usage = """
    usage: dump-synth idump|minidump|linux [options]
      linux: an intermediate dump of a Linux process; of the options below --arch, --seed, --threads, -o
      --arch A                arm64 (default) or x86_64; minidump also arm64-old, x86, arm
      --os OS                 minidump: linux (default), windows, macos, ios, android
      --seed N                default 1
      --threads N  --stack BYTES  --modules N  --annotations N
      --module-annotations N  simple annotations and annotation objects in each annotated module
      --annotated-modules N   modules that have annotations
      --regions N  --region-size BYTES   memory around registers, for each thread
      --extra-regions N       extra memory regions in each annotated module
      --exception KIND        none, mach, simulated, signal, nsexception[:FRAMES]
      --tiny                  one thread, dyld, nothing else (give it first)
      --size BYTES            grow the stacks until the file has about that size (k, m suffixes)
      --small-records         with --size: grow by small records instead
      --damage NAMES          minidump: rva,overlap,odd,strings,counts,header,duplicates (comma-separated)
      --misc-size BYTES  --memory64  --padded-lists  --wide-handles   minidump: other legal layouts
      --leaf-frames  --signed-returns   idump, arm64: lr of its own; pointer authentication
      --mutate N              idump: apply N structural mutations
      --count N --out-dir DIR write N files of 30 to 90 KB, com.example.app@<uuid>, seeds from --seed upwards
      -o FILE                 default standard output
    """

  var kind = Kind.idump
  var dump = SynthParameters()
  var minidump = SynthMinidumpParameters()
  var size: Int?
  var smallRecords = false
  var mutations = 0
  var count: Int?
  var directory: String?
  var file: String?

  init?(_ arguments: [String]) {
    guard let first = arguments.first, let kind = Kind(rawValue: first) else { return nil }
    self.kind = kind
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      if option == "--small-records" {
        smallRecords = true
      } else if !takeFlag(option) {
        guard let value = rest.popFirst(), take(option, value) else { return nil }
      }
    }
    if count != nil && directory == nil { return nil }
  }

  private mutating func takeFlag(_ option: String) -> Bool {
    switch option {
    case "--tiny": dump = .tiny(architecture: dump.architecture, seed: dump.seed)
    case "--memory64": minidump.usesMemory64 = true
    case "--padded-lists": minidump.paddedLists = true
    case "--wide-handles": minidump.wideHandles = true
    case "--leaf-frames": dump.leafFrames = true
    case "--signed-returns": dump.signedReturnAddresses = true
    default: return false
    }
    return true
  }

  private mutating func take(_ option: String, _ value: String) -> Bool {
    switch option {
    case "--arch": return takeArchitecture(value)
    case "--os":
      guard let system = MinidumpSystem(rawValue: value) else { return false }
      minidump.system = system
    case "--exception": return takeException(value)
    case "--damage":
      for name in value.split(separator: ",") {
        guard let damage = MinidumpDamage(rawValue: String(name)) else { return false }
        minidump.damage.insert(damage)
      }
    case "--out-dir": directory = value
    case "-o": file = value
    default: return takeNumber(option, value)
    }
    return true
  }

  private mutating func takeNumber(_ option: String, _ value: String) -> Bool {
    guard let number = Self.number(value), number >= 0 else { return false }
    switch option {
    case "--seed": (dump.seed, minidump.seed) = (UInt64(number), UInt64(number))
    case "--threads": (dump.threadCount, minidump.threadCount) = (number, number)
    case "--stack": (dump.stackBytes, minidump.stackBytes) = (number, number)
    case "--modules": (dump.moduleCount, minidump.moduleCount) = (number, number)
    case "--module-annotations": dump.annotationsPerModule = number
    case "--annotated-modules": dump.annotatedModules = number
    case "--annotations": (dump.processAnnotations, minidump.annotations) = (number, number)
    case "--regions": (dump.contextRegionsPerThread, minidump.memoryRegions) = (number, number)
    case "--region-size": (dump.contextRegionBytes, minidump.memoryRegionBytes) = (number, number)
    case "--extra-regions": dump.extraMemoryRegionsPerModule = number
    case "--size": size = number
    case "--misc-size": minidump.miscInfoSize = number
    case "--mutate": mutations = number
    case "--count": count = number
    default: return false
    }
    return true
  }

  private mutating func takeArchitecture(_ name: String) -> Bool {
    if let architecture = SynthArchitecture(rawValue: name) { dump.architecture = architecture }
    guard let processor = MinidumpProcessor(rawValue: name) else { return false }
    minidump.processor = processor
    return kind == .minidump || SynthArchitecture(rawValue: name) != nil
  }

  private mutating func takeException(_ name: String) -> Bool {
    let parts = name.split(separator: ":", maxSplits: 1)
    switch parts.first {
    case "none": dump.exception = .none
    case "mach": dump.exception = .badAccess
    case "simulated": dump.exception = .simulated
    case "signal": dump.exception = .abort
    case "nsexception":
      guard let frames = parts.count == 2 ? Self.number(String(parts[1])) : 24 else { return false }
      dump.exception = .nsException(frames: frames)
    default: return false
    }
    minidump.hasException = dump.exception != .none
    return true
  }

  /// A number in decimal or with 0x, with k or m behind it for 1024 and 1024².
  private static func number(_ text: String) -> Int? {
    if text.hasPrefix("0x") { return Int(text.dropFirst(2), radix: 16) }
    switch text.last {
    case "k", "K": return Int(text.dropLast()).map { $0 * 1024 }
    case "m", "M": return Int(text.dropLast()).map { $0 * 1024 * 1024 }
    default: return Int(text)
    }
  }
}
