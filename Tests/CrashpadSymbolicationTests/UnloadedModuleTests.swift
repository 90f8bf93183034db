// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

@Suite("UnloadedModuleMap")
struct UnloadedModuleTests {
  private func map(_ modules: [(address: UInt64, size: UInt32)]) -> UnloadedModuleMap {
    UnloadedModuleMap(
      modules.map { UnloadedModuleSnapshot(name: .empty, address: $0.address, size: $0.size, timestamp: 0) })
  }

  private func places(_ map: UnloadedModuleMap, _ address: UInt64) -> [String] {
    map.places(at: address).map { "\($0.module)+\($0.offset)" }
  }

  @Test("All modules that were at an address are found, in the order of the list")
  func overlaps() {
    let log = map([(0x3000, 0x1000), (0x1000, 0x4000), (0x2000, 0x100), (0x3000, 0x1000)])
    #expect(places(log, 0xfff) == [])
    #expect(places(log, 0x1000) == ["1+0"])
    #expect(places(log, 0x20ff) == ["1+4351", "2+255"])
    #expect(places(log, 0x2100) == ["1+4352"])
    #expect(places(log, 0x3001) == ["0+1", "1+8193", "3+1"])
    #expect(places(log, 0x4fff) == ["1+16383"])
    #expect(places(log, 0x5000) == [])
  }

  @Test("Modules at the end of memory, without a size, and by the thousand at one place do no harm")
  func strange() {
    let log = map([(.max - 0xf, 0x100), (0x1000, 0)] + (0..<5000).map { _ in (0x7000, 0x1000) })
    #expect(places(log, .max - 1) == ["0+14"])
    #expect(places(log, 0x1000) == [])
    #expect(log.places(at: 0x7001).count == 64)
    #expect(map([]).places(at: 0) == [])
  }
}
