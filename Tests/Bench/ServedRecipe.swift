// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import FoundationEssentials

/// Modules whose symbol files a server has, each of some 250 KB.
enum ServedRecipe {
  private static let functions = 500

  private static func name(_ index: Int) -> String { "Module\(index)" }

  private static func id(_ index: Int, count: Int = 16) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(index) + 1, area: 91)
    return random.bytes(count)
  }

  /// The path of a module's file in Breakpad's layout.
  static func path(_ index: Int) -> String { SymbolRecipe.storePath(name(index), id(index)) }

  static func write(_ index: Int, below root: String) throws {
    let path = "\(root)/\(path(index))"
    try FileManager.default.createDirectory(
      atPath: String(path[..<path.lastIndex(of: "/")!]), withIntermediateDirectories: true)
    try writeFile(path, SymbolRecipe(functions: functions).symbolFile(name(index), id(index)))
  }

  /// The build id of a program.
  static func buildID(_ index: Int) -> [UInt8] { id(index, count: 20) }

  /// The path of a program's file with debug information in the layout of debuginfod.
  static func builtPath(_ index: Int) -> String { "buildid/\(Hex.digits(buildID(index)))/debuginfo" }

  static func builtDump(_ count: Int) -> [UInt8] {
    var dump = SynthLinuxDump()
    let library = dump.modules[1]
    dump.modules = (0..<count).map { index in
      var module = library
      module.path = "/usr/lib/\(name(index)).so"
      (module.address, module.size) = (0x7f00_0000_0000 + UInt64(index) << 24, 0x10_0000)
      module.buildID = buildID(index)
      return module
    }
    return dump.bytes
  }

  /// As many threads as modules, each in a function of its own module.
  static func dump(_ count: Int) -> [UInt8] {
    func base(_ index: Int) -> UInt64 { 0x1_0000_0000 + UInt64(index) << 24 }
    var dump = DumpBuilder(capacity: count * 2500)
    dump.root { root in
      root.property(.version, [1])
      root.map(.processInfo) { $0.property(.pid, uint32: 42) }
      root.map(.systemInfo) { $0.property(.machineDescription, "iPhone14,2") }
      root.array(.modules) { modules in
        for index in 0..<count {
          modules.mapInArray {
            $0.property(.name, "/private/var/containers/Bundle/Application/\(name(index))")
            $0.property(.address, uint64: base(index))
            $0.property(.size, uint64: 0x4000 + UInt64(functions) * 256)
            $0.property(.fileType, uint32: index == 0 ? 2 : 6)
            $0.property(.uuid, id(index))
          }
        }
      }
      root.array(.threads) { list in
        for index in 0..<count {
          var registers = [UInt64](repeating: 0, count: 34)
          registers[31] = 0x1_f000_0000_0000 + UInt64(index) << 20
          registers[32] = base(index) + 0x4020 + UInt64(index * 7 % functions) * 256
          list.mapInArray {
            $0.property(.threadID, uint64: UInt64(index) + 1)
            $0.property(.threadState, Bytes.of(registers))
            $0.property(.floatState, [UInt8](repeating: 0, count: 528))
            $0.property(.debugState, [UInt8](repeating: 0, count: 520))
          }
        }
      }
    }
    return dump.bytes
  }
}
