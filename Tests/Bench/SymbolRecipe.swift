// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// A symbol file with many functions, and a dump whose stacks go through them.
struct SymbolRecipe {
  /// How many functions the symbol file has; some 450 bytes each.
  let functions: Int

  static let name = "BigApp"
  static let uuid: [UInt8] = (1...16).map { UInt8($0) * 7 }
  private static let base: UInt64 = 0x1_0000_0000
  private static let spacing: UInt64 = 256
  private static let frameSize: UInt64 = 64

  private func address(_ function: Int) -> UInt64 { 0x4000 + UInt64(function) * Self.spacing }

  /// In a store: `BigApp/ID/BigApp.sym`.
  static var storePath: String { storePath(name, uuid) }

  static func storePath(_ name: String, _ uuid: [UInt8]) -> String {
    "\(name)/\(Hex.digits(uuid).uppercased())0/\(name).sym"
  }

  func symbolFile(_ name: String = name, _ uuid: [UInt8] = uuid) -> [UInt8] {
    var text = "MODULE iOS arm64 \(Hex.digits(uuid).uppercased())0 \(name)\n"
    for file in 0..<500 { text += "FILE \(file) /Users/build/app/Sources/Module\(file % 40)/File\(file).swift\n" }
    for origin in 0..<1000 {
      text += "INLINE_ORIGIN \(origin) App.Cache<Swift.String>.value\(origin)(for: Swift.Int) -> Swift.Bool\n"
    }
    var bytes = Array(text.utf8)
    bytes.reserveCapacity(functions * 460)
    for function in 0..<functions {
      let start = address(function)
      let hex = String(start, radix: 16)
      var lines =
        "FUNC \(hex) c0 0 App.Controller\(function % 977).method\(function)(with: Swift.Array<Swift.Int>) -> ()\n"
      lines += "INLINE 0 \(function % 300) \(function % 500) \(function % 1000) \(String(start + 32, radix: 16)) 20\n"
      for line in 0..<12 {
        lines += "\(String(start + UInt64(line) * 16, radix: 16)) 10 \(function % 900 + line * 3) \(function % 500)\n"
      }
      bytes += Array(lines.utf8)
    }
    for function in 0..<functions {
      let start = address(function)
      let rules = """
        STACK CFI INIT \(String(start, radix: 16)) c0 .cfa: sp 0 + .ra: x30
        STACK CFI \(String(start + 4, radix: 16)) .cfa: sp \(Self.frameSize) + x29: .cfa -16 + ^ .ra: .cfa -8 + ^

        """
      bytes += Array(rules.utf8)
    }
    return bytes
  }

  /// Threads whose frames the rules of the symbol file alone lead through.
  func dump(threads: Int, frames: Int) -> [UInt8] {
    var random = SplitMix64(seed: 7, area: 95)
    var dump = DumpBuilder(capacity: threads * frames * 80)
    dump.root { root in
      root.property(.version, [1])
      root.map(.processInfo) { $0.property(.pid, uint32: 42) }
      root.map(.systemInfo) { $0.property(.machineDescription, "iPhone14,2") }
      root.array(.modules) { modules in
        modules.mapInArray {
          $0.property(.name, "/private/var/containers/Bundle/Application/\(Self.name)")
          $0.property(.address, uint64: Self.base)
          $0.property(.size, uint64: address(functions) + 0x4000)
          $0.property(.fileType, uint32: 2)
          $0.property(.uuid, Self.uuid)
        }
      }
      root.array(.threads) { list in
        for thread in 0..<threads {
          list.mapInArray { self.thread(thread, frames, &random, &$0) }
        }
      }
    }
    return dump.bytes
  }

  private func thread(_ index: Int, _ frames: Int, _ random: inout SplitMix64, _ dump: inout DumpBuilder) {
    let stack = 0x1_6000_0000 + UInt64(index) * 0x10_0000
    func place() -> UInt64 { Self.base + address(random.below(functions)) + 4 * UInt64(random.between(2, 40)) }
    var words = [UInt64](repeating: 0, count: frames * Int(Self.frameSize) / 8)
    for frame in 0..<frames {
      let top = (frame + 1) * Int(Self.frameSize) / 8
      words[top - 1] = frame == frames - 1 ? 0 : place()
    }
    var registers = [UInt64](repeating: 0, count: 34)
    registers[31] = stack
    registers[32] = place()
    dump.property(.threadID, uint64: UInt64(index) + 1)
    dump.property(.threadState, Bytes.of(registers))
    dump.property(.floatState, [UInt8](repeating: 0, count: 528))
    dump.property(.debugState, [UInt8](repeating: 0, count: 520))
    dump.property(.stackRegionAddress, uint64: stack)
    dump.property(.stackRegionData, Bytes.of(words))
  }
}
