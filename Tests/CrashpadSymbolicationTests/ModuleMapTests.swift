// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import Testing

struct ModuleMapTests {
  @Test func `The outer module has what is behind the inner one`() {
    let map = ModuleMap([(0x1000, 0x4000, 0), (0x2000, 0x1000, 1), (0x4800, 0x4800, 2), (0x6000, 0, 3)])
    #expect(map.lookup(0x1fff)?.module == 0)
    #expect(map.lookup(0x2000)?.module == 1 && map.lookup(0x2000)?.offset == 0)
    #expect(map.lookup(0x2fff)?.module == 1)
    #expect(map.lookup(0x3000)?.module == 0 && map.lookup(0x3000)?.offset == 0x2000)
    #expect(map.lookup(0x4800)?.module == 2 && map.lookup(0x8fff)?.offset == 0x47ff)
    #expect(map.lookup(0xfff) == nil && map.lookup(0x9000) == nil)
  }

  @Test func `Each address of random modules is in the one that begins last`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SplitMix(seed: seed)
    print("ModuleMap: seed \(seed)")
    for _ in 0..<300 {
      let base: UInt64 = Bool.random(using: &generator) ? 0 : .max - 63
      let modules = (0..<Int.random(in: 0...8, using: &generator)).map { index in
        (
          address: base + UInt64.random(in: 0..<64, using: &generator),
          size: UInt64.random(in: 0...40, using: &generator), index: index
        )
      }
      let map = ModuleMap(modules)
      for address in base...(base + 63) {
        let expected = modules.filter { $0.address <= address && address - $0.address < $0.size }
        let found = map.lookup(address)
        #expect(found.map { modules[$0.module].address } == expected.map(\.address).max(), "seed \(seed)")
        if let found { #expect(found.offset == address - modules[found.module].address) }
      }
    }
  }
}
