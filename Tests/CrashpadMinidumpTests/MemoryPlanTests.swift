// SPDX-License-Identifier: Apache-2.0
import DumpSynth
@testable import CrashpadMinidump
import CrashpadSnapshot
import Testing

/// A region of memory with the bytes themselves.
struct ModelRegion: Equatable {
  var address: UInt64
  var bytes: [UInt8]

  /// Nil where it is 2^64 or more: such a range is no range for Crashpad, and overlaps nothing.
  var end: UInt64? {
    let (end, overflow) = address.addingReportingOverflow(UInt64(bytes.count))
    return overflow ? nil : end
  }

  func touches(_ other: ModelRegion) -> Bool {
    guard let end, let otherEnd = other.end else { return false }
    return address <= otherEnd && other.address <= end
  }
}

/// Crashpad's three steps, spelled out region by region and byte by byte.
enum MemoryModel {
  static func plan(_ regions: [ModelRegion], stacks: [ModelRegion]) -> [ModelRegion] {
    let kept = regions.filter { region in !stacks.contains { !$0.bytes.isEmpty && $0.touches(region) } }
    let sorted = kept.enumerated().sorted {
      ($0.element.address, $0.element.bytes.count, $0.offset) < ($1.element.address, $1.element.bytes.count, $1.offset)
    }.map(\.element)
    var blocks: [ModelRegion] = []
    for region in sorted where !region.bytes.isEmpty {
      guard let current = blocks.last, current.touches(region), let end = region.end, let currentEnd = current.end
      else {
        blocks.append(region)
        continue
      }
      let union = max(end, currentEnd) - current.address
      if union == UInt64(current.bytes.count) { continue }
      blocks[blocks.count - 1].bytes = current.bytes.prefix(Int(union) - region.bytes.count) + region.bytes
    }
    return blocks
  }
}

@Suite("MemoryPlan")
struct MemoryPlanTests {
  /// The plan's blocks with their bytes, put together from the pieces.
  private func planned(_ regions: [ModelRegion], stacks: [ModelRegion] = []) -> [ModelRegion] {
    var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .arm64, operatingSystem: .ios))
    for region in regions {
      snapshot.extraMemory.append(MemoryRegion(address: region.address, content: snapshot.store(region.bytes)))
    }
    for stack in stacks {
      var thread = ThreadSnapshot()
      thread.stack = ThreadSnapshot.Stack(
        region: MemoryRegion(address: stack.address, content: snapshot.store(stack.bytes)))
      snapshot.threads.append(thread)
    }
    let plan = MemoryPlan(snapshot.extraMemory, beside: snapshot.threads)
    var blocks: [ModelRegion] = []
    plan.forEachBlock { block in
      var bytes: [UInt8] = []
      for piece in plan.pieces[block.pieces] {
        // Each piece lies where the one before it ends.
        #expect(!piece.content.isEmpty)
        #expect(piece.address == block.address &+ UInt64(bytes.count))
        bytes += snapshot.arena[piece.content.offset..<piece.content.offset + piece.content.count]
      }
      #expect(bytes.count == block.size)
      blocks.append(ModelRegion(address: block.address, bytes: bytes))
    }
    return blocks
  }

  private func region(_ address: UInt64, _ count: Int, _ fill: UInt8 = 1) -> ModelRegion {
    ModelRegion(address: address, bytes: [UInt8](repeating: fill, count: count))
  }

  @Test("Regions that are apart stay apart, in the order of their addresses")
  func apart() {
    let sorted = [region(10, 5, 1), region(20, 5, 2), region(30, 3, 3)]
    #expect(planned([sorted[2], sorted[0], sorted[1]]) == sorted)
    #expect(planned([]) == [])
    #expect(planned([region(5, 0)]) == [])
  }

  @Test("Regions that touch become one")
  func abut() {
    #expect(planned([region(10, 2, 1), region(12, 2, 2)]) == [ModelRegion(address: 10, bytes: [1, 1, 2, 2])])
    #expect(planned([region(10, 2, 1), region(13, 2, 2)]).count == 2)
  }

  @Test("The later one of overlapping regions counts, and so does the beginning of the earlier one")
  func overlap() {
    #expect(planned([region(10, 4, 1), region(12, 4, 2)]) == [ModelRegion(address: 10, bytes: [1, 1, 2, 2, 2, 2])])
  }

  @Test("A region inside of another changes nothing")
  func contained() {
    #expect(planned([region(10, 6, 1), region(12, 2, 2)]) == [region(10, 6, 1)])
    #expect(planned([region(10, 6, 1), region(12, 4, 2)]) == [region(10, 6, 1)])
    #expect(planned([region(10, 6, 1), region(10, 6, 2)]) == [region(10, 6, 1)])
  }

  @Test("The longer one of regions with the same address counts")
  func sameAddress() {
    #expect(planned([region(10, 6, 1), region(10, 2, 2)]) == [region(10, 6, 1)])
    #expect(planned([region(10, 2, 1), region(10, 6, 2)]) == [region(10, 6, 2)])
  }

  @Test("A long chain of overlaps is one block")
  func chain() {
    let chain = (0..<100).map { region(UInt64($0) * 2, 3, UInt8($0)) }
    let blocks = planned(chain.reversed())
    #expect(blocks.count == 1)
    #expect(blocks == MemoryModel.plan(chain, stacks: []))
    #expect(blocks.first?.bytes.prefix(6) == [0, 0, 1, 1, 2, 2])
  }

  @Test("A region that touches a stack is left out whole, on either side")
  func stacks() {
    let stack = region(100, 10)
    for address: UInt64 in [90, 95, 100, 105, 110] {
      #expect(planned([region(address, 10)], stacks: [stack]) == [], "\(address)")
    }
    for address: UInt64 in [89, 111] {
      #expect(planned([region(address, 10)], stacks: [stack]).count == 1, "\(address)")
    }
    #expect(planned([region(50, 200)], stacks: [stack]) == [])
    #expect(planned([region(100, 10)], stacks: [region(100, 0)]).count == 1, "an empty stack touches nothing")
  }

  @Test("A long stack that begins before a short one still counts")
  func longStack() {
    let stacks = [region(0, 1000), region(10, 1), region(500, 1)]
    #expect(planned([region(900, 10)], stacks: stacks) == [])
    #expect(planned([region(1001, 10)], stacks: stacks).count == 1)
  }

  @Test("A range that reaches 2^64 neither merges nor is left out")
  func endOfMemory() {
    let top = UInt64.max
    #expect(planned([region(top - 1, 2, 1), region(top - 2, 1, 2)]).count == 2)
    #expect(planned([region(top - 3, 2, 1), region(top - 1, 2, 2)]).count == 2)
    #expect(planned([region(top - 3, 2, 1), region(top - 1, 1, 2)]).count == 1)
    #expect(planned([region(top - 1, 2)], stacks: [region(top - 5, 5)]).count == 1)
    #expect(planned([region(top - 5, 5)], stacks: [region(top - 1, 2)]).count == 1)
    #expect(planned([region(top, 9), region(top, 9)]).count == 2)
  }

  @Test("Random small regions give what the model gives", arguments: 0..<20)
  func random(_ part: UInt64) {
    var random = SplitMix64(seed: 0x9e3, area: part)
    for round in 0..<300 {
      let base: UInt64 = [0, 0x1000, .max - 40, .max - 20][random.below(4)]
      let spread = [8, 20, 60][random.below(3)]
      func regions(_ count: Int) -> [ModelRegion] {
        (0..<count).map { _ in
          ModelRegion(address: base &+ UInt64(random.below(spread)), bytes: random.bytes(random.below(9)))
        }
      }
      let extra = regions(random.between(0, 9)).filter { !$0.bytes.isEmpty }
      let stacks = random.oneIn(2) ? regions(random.between(0, 3)) : []
      #expect(
        planned(extra, stacks: stacks) == MemoryModel.plan(extra, stacks: stacks),
        "part \(part), round \(round): \(extra) and \(stacks)")
    }
  }
}
