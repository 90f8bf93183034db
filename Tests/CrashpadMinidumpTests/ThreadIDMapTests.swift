// SPDX-License-Identifier: Apache-2.0
@testable import CrashpadMinidump
import CrashpadSnapshot
import Testing

@Suite("ThreadIDMap")
struct ThreadIDMapTests {
  private func map(_ ids: [UInt64?]) -> ThreadIDMap {
    ThreadIDMap(
      ids.map {
        var thread = ThreadSnapshot()
        thread.id = $0
        return thread
      })
  }

  @Test("Ids whose low halves differ are cut to 32 bits")
  func cut() {
    let map = map([1, 0x1_0000_0002, .max])
    #expect([1, 0x1_0000_0002, .max].map { map[$0] } == [1, 2, 0xffff_ffff])
  }

  @Test("If two would become one, all are numbered in the order of their first appearance")
  func renumbered() {
    let map = map([7, 0x1_0000_0005, 7, 5, 9])
    #expect([7, 0x1_0000_0005, 5, 9].map { map[$0] } == [0, 1, 2, 3])
  }

  @Test("The same id twice is no collision")
  func duplicates() {
    let map = map([0x1_0000_0005, 6, 0x1_0000_0005])
    #expect(map[0x1_0000_0005] == 5)
    #expect(map[6] == 6)
  }

  @Test("A missing id is 0")
  func missing() {
    #expect(map([nil, 3])[0] == 0)
    let collision = map([3, nil, 0x1_0000_0000])
    #expect([3, 0, 0x1_0000_0000].map { collision[$0] } == [0, 1, 2])
  }

  @Test("An id that no thread has is cut, renumbered or not")
  func unknown() {
    #expect(map([1])[0xdead_0000_beef] == 0xbeef)
    #expect(map([1, 0x1_0000_0001])[0xdead_0000_beef] == 0xbeef)
    #expect(map([])[5] == 5)
  }
}
