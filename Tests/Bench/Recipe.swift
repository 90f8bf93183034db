// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import FoundationEssentials
import Glibc

/// The inputs, each with a number of its own meaning.
enum Recipe: String {
  /// Bytes: nearly all of them in 80 stacks, as a large application leaves it.
  case large
  /// Bytes: threads as the handler writes them, each with a small stack and 24 regions of 512 bytes.
  case manyThreads
  /// Bytes: one thread with regions of 64 KiB, each written as it is.
  case largeRegions
  /// Bytes: regions of 64 bytes and annotations.
  case smallRecords
  /// Dumps of 30 to 90 KB in a directory, named as Crashpad names them.
  case directory
  /// Reports in a database, each a few bytes and its metadata.
  case reports
  /// Small reports in a database that allows uploads.
  case uploads
  /// Bytes: one report in such a database, a minidump with a hole behind it.
  case hugeUpload
  /// Functions: a symbol file in Breakpad's format, and a dump whose stacks go through its functions.
  case symbolFile, symbolDump
  /// Modules: a directory with the symbol file of each, for a server, and a dump with a thread in each of them.
  case servedFiles, servedDump
  /// Modules: a dump of programs with build ids.
  case builtDump
  /// Bundles of debug information, each with an id of its own, a hundred in a directory.
  case bundles
  /// The number of a bundle: a dump of its module; without one, of twenty modules that no bundle is of.
  case bundleDump
  /// Bytes, about: one `.ips` with ten frames in each of its threads.
  case appleReport
  /// `.ips` files of about 30 KB in a directory.
  case appleReports
  /// Threads, each with a stack that frame pointers lead through.
  case manyStacks
  /// The shapes of small_mach.arm64, medium.x86_64 and modules_heavy.arm64 of the corpus; the number is nothing.
  case smallShape, mediumShape, moduleHeavyShape
  /// The smallest dump with this many of one thing.
  case threads, modules, moduleRegions, annotations, processAnnotations, regions, shuffledRegions

  /// Followed by a recipe, a number and a path, makes this program write that input and nothing else.
  static let option = "--make"

  func write(_ number: Int, to path: String) throws {
    if self == .bundles {
      for index in 0..<number { try TreeRecipe.writeBundle(index, below: path) }
    } else if self == .servedFiles {
      for index in 0..<number { try ServedRecipe.write(index, below: path) }
    } else if self == .directory {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for index in 0..<number {
        let (bytes, name) = Self.pending(index)
        try writeFile("\(path)/\(name)", bytes)
      }
    } else if self == .appleReports {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for index in 0..<number { try writeFile("\(path)/Demo-\(index).ips", Self.appleReport(28_000 + index % 4000)) }
    } else if self == .reports {
      try FileManager.default.createDirectory(atPath: "\(path)/pending", withIntermediateDirectories: true)
      for index in 0..<number { try Self.writeReport(index, to: "\(path)/pending") }
    } else if self == .uploads || self == .hugeUpload {
      try Self.writeUploads(self == .uploads ? number : 1, size: self == .uploads ? nil : number, to: path)
    } else {
      try writeFile(path, bytes(number))
    }
  }

  private static func writeReport(_ index: Int, to folder: String) throws {
    var random = SplitMix64(seed: UInt64(index) + 1, area: 96)
    let uuid = Hex.uuid(random.bytes(16))
    var metadata = [UInt8](repeating: 0, count: 32)
    metadata[0] = 1
    let creation = 1_700_000_000 + random.below(50_000_000)
    for byte in 0..<8 { metadata[16 + byte] = UInt8(truncatingIfNeeded: creation >> (8 * byte)) }
    try writeFile("\(folder)/\(uuid).dmp", Array("MDMP".utf8))
    try writeFile("\(folder)/\(uuid).meta", metadata)
  }

  /// The annotations of each report of `uploads`, and its client.
  static let uploadFields = [
    ("channel", "beta"), ("plat", "Linux"), ("prod", "Example"), ("ptype", "browser"), ("ver", "1.2.3"),
  ]
  static let uploadClient = "11111111-2222-3333-4444-555555555555"

  private static func writeUploads(_ count: Int, size: Int?, to path: String) throws {
    for folder in ["new", "pending", "completed", "attachments"] {
      try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
    }
    let client: [UInt8] =
      [0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33, 0x44, 0x44] + Array(repeating: 0x55, count: 6)
    var settings = Bytes.of(UInt32(0x4350_6473)) + Bytes.of(UInt32(1)) + Bytes.of(UInt32(1)) + Bytes.of(UInt32(0))
    settings += Bytes.of(UInt64(0)) + client
    try writeFile("\(path)/settings.dat", settings)
    for index in 0..<count {
      var random = SplitMix64(seed: UInt64(index) + 1, area: 96)
      let uuid = Hex.uuid(random.bytes(16))
      var dump = AnnotatedMinidump()
      dump.annotations = uploadFields.map { (Array($0.0.utf8), Array($0.1.utf8)) }
      dump.modules = [.init(), .init(), .init()]
      dump.clientID = client
      // Behind it 8 KiB that compress about as stacks do.
      var stacks: [UInt8] = []
      for _ in 0..<1024 { stacks += [0, 0x7f, 0, 0] + random.bytes(4) }
      let file = "\(path)/pending/\(uuid).dmp"
      try writeFile(file, dump.bytes + stacks)
      if let size, unsafe truncate(file, size) != 0 { throw BenchError(text: "cannot make \(file) so large") }
      try writeFile("\(path)/pending/\(uuid).meta", [1] + [UInt8](repeating: 0, count: 31))
    }
  }

  private static func pending(_ index: Int) -> (bytes: [UInt8], name: String) {
    var parameters = SynthParameters(seed: UInt64(index) + 1)
    var random = SplitMix64(seed: parameters.seed, area: 98)
    parameters.threadCount = random.between(2, 6)
    let uuid = Hex.uuid(random.bytes(16))
    return (SynthDump(parameters.scaled(to: random.between(30_000, 90_000))).bytes, "com.example.app@\(uuid)")
  }

  /// An `.ips` of at least this many bytes.
  private static func appleReport(_ size: Int) -> [UInt8] {
    var report = SynthReport()
    let stack = (0..<10).map { frame in
      SynthReport.Frame(
        frame % 3 + 1, UInt64(0x1000 + frame * 0x340), "function_\(frame)_of_an_invented_library",
        plus: UInt64(frame * 4))
    }
    report.threads.append(SynthReport.Thread(name: "com.example.worker", stack))
    let two = report.bytes.count
    report.threads.append(SynthReport.Thread(name: "com.example.worker", stack))
    let one = report.bytes.count - two
    for _ in 0..<max(0, (size - two) / one) { report.threads.append(report.threads[4]) }
    return report.bytes
  }

  private func bytes(_ number: Int) -> [UInt8] {
    switch self {
    case .shuffledRegions: return Self.shuffled(number)
    case .symbolFile: return SymbolRecipe(functions: number).symbolFile()
    case .symbolDump: return SymbolRecipe(functions: number).dump(threads: 40, frames: 60)
    case .bundleDump: return TreeRecipe.dump(number)
    case .servedDump: return ServedRecipe.dump(number)
    case .builtDump: return ServedRecipe.builtDump(number)
    case .appleReport: return Self.appleReport(number)
    default: break
    }
    return SynthDump(parameters(number)).bytes
  }

  private func parameters(_ number: Int) -> SynthParameters {
    var parameters = SynthParameters.tiny()
    parameters.contextRegionsPerThread = 2
    parameters.contextRegionBytes = 64
    switch self {
    case .threads: parameters.threadCount = number
    case .modules: parameters.moduleCount = number
    case .moduleRegions:
      parameters.moduleCount = number
      parameters.annotatedModules = number
      parameters.annotationsPerModule = 0
      parameters.extraMemoryRegionsPerModule = 1
      parameters.extraMemoryRegionBytes = 64
    case .annotations:
      parameters.moduleCount = 2
      parameters.annotatedModules = 1
      parameters.annotationsPerModule = number
    case .processAnnotations: parameters.processAnnotations = number
    case .regions: parameters.contextRegionsPerThread = number
    case .large:
      parameters = SynthParameters()
      parameters.threadCount = 80
      parameters.moduleCount = 400
      return parameters.scaled(to: number)
    case .largeRegions:
      parameters.contextRegionBytes = 1 << 16
      parameters.contextRegionsPerThread = number >> 16
    case .manyThreads:
      parameters = SynthParameters()
      parameters.threadCount = max(1, number / 17_700)
      parameters.stackBytes = 4096
      parameters.contextRegionsPerThread = 24
      parameters.contextRegionBytes = 512
      parameters.moduleCount = 600
      return parameters
    case .smallRecords: return SynthParameters().scaled(to: number, smallRecords: true)
    case .smallShape:
      parameters = SynthParameters()
      parameters.threadCount = 4
      parameters.moduleCount = 21
      return parameters.scaled(to: 66_000)
    case .mediumShape:
      parameters = SynthParameters(architecture: .x86_64)
      parameters.threadCount = 40
      parameters.moduleCount = 501
      parameters.annotatedModules = 5
      parameters.contextRegionsPerThread = 10
      return parameters.scaled(to: 1_170_000)
    case .moduleHeavyShape:
      parameters = SynthParameters()
      parameters.threadCount = 4
      parameters.stackBytes = 16_384
      parameters.moduleCount = 2001
      parameters.annotatedModules = 200
    case .manyStacks:
      parameters = SynthParameters()
      parameters.threadCount = number
      parameters.moduleCount = 400
    case .directory, .reports, .uploads, .hugeUpload, .shuffledRegions, .symbolFile, .symbolDump, .bundles,
      .bundleDump, .servedFiles, .servedDump, .builtDump, .appleReport, .appleReports:
      break
    }
    return parameters
  }

  /// Regions that overlap a little and come in no order: what a list that is kept sorted pays for.
  private static func shuffled(_ count: Int) -> [UInt8] {
    var random = SplitMix64(seed: 1, area: 97)
    var addresses = (0..<UInt64(count)).map { 0x1_0000_0000 + $0 * 60 }
    for index in addresses.indices { addresses.swapAt(index, index + random.below(addresses.count - index)) }
    var dump = DumpBuilder(capacity: 4096 + count * 128)
    dump.root {
      $0.property(.version, [1])
      $0.map(.processInfo) { $0.property(.pid, uint32: 42) }
      $0.map(.systemInfo) { $0.property(.machineDescription, "iPhone14,2") }
      $0.array(.threads) {
        $0.mapInArray {
          $0.property(.threadID, uint64: 1)
          $0.array(.threadContextMemoryRegions) { regions in
            for address in addresses {
              regions.mapInArray {
                $0.property(.threadContextMemoryRegionAddress, uint64: address)
                $0.property(.threadContextMemoryRegionData, [UInt8](repeating: 1, count: 64))
              }
            }
          }
        }
      }
    }
    return dump.bytes
  }
}
