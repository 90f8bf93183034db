// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSnapshot
import DumpSynth
import Testing

@testable import CrashpadElfCore

/// The first and the last byte of everything that a core places in memory.
@Suite struct CoreEdgeTests {
  private static func segment(_ address: UInt64, _ size: UInt64, bytes: Int) -> CoreSegment {
    CoreSegment(address: address, memorySize: size, bytes: ByteRange(offset: 1000, count: bytes), flags: 4)
  }

  private static let space = AddressSpace(
    [
      segment(0xffff_ffff_ffff_fff0, 16, bytes: 16), segment(100, 10, bytes: 10), segment(200, 20, bytes: 5),
      segment(220, 10, bytes: 0), segment(219, 4, bytes: 4), segment(300, 0, bytes: 0),
    ], overlapping: { _ in })

  @Test(
    "A segment contains the addresses from its first to its last",
    arguments: [
      (99, nil), (100, 0), (109, 0), (110, nil), (199, nil), (200, 1), (219, 1), (220, 2), (229, 2), (230, nil),
      (300, nil), (0xffff_ffff_ffff_ffef, nil), (0xffff_ffff_ffff_fff0, 3), (.max, 3),
    ] as [(UInt64, Int?)])
  func segments(_ address: UInt64, _ index: Int?) {
    #expect(Self.space.segment(at: address) == index)
  }

  @Test("Bytes of a segment end where the file's end, which may be before the segment's end")
  func bytes() {
    #expect(Self.space.bytes(from: 204) == ByteRange(offset: 1004, count: 1))
    #expect(Self.space.bytes(from: 205) == nil)
    #expect(Self.space.bytes(from: 220) == nil)
    #expect(Self.space.bytes(at: 100, count: 10) == ByteRange(offset: 1000, count: 10))
    #expect(Self.space.bytes(at: 100, count: 11) == nil)
    #expect(Self.space.bytes(at: .max, count: 1) == ByteRange(offset: 1015, count: 1))
  }

  @Test(
    "Threads that share a stack have each their own limit, and no byte of it is in memory twice", arguments: [0, 1])
  func sharedStack(_ crashed: Int) throws {
    var core = SynthCore(threads: 2)
    // The first thread's own has the process's arguments above it.
    core.threads[0].registers[19] = core.threads[1].stackPointer
    for index in core.threads.indices { core.threads[index].registers[21] = 0 }
    core.threads.swapAt(0, crashed)
    var options = CoreReader.Options()
    (options.maximumStack, options.maximumKnownStack) = (64, 200)
    let reading = Reading(core: core.bytes, options: options)
    let snapshot = try #require(reading.snapshot)
    let ids = snapshot.threads.map { $0.id == snapshot.exception?.threadID ? 200 : 64 }
    #expect(snapshot.threads.map { $0.stack?.region.content.count ?? 0 } == ids)
    let rest = snapshot.extraMemory.reduce(0) { $0 + $1.content.count }
    #expect(rest + 200 == core.segments.reduce(0) { $0 + $1.bytes.count })
  }

  @Test("A stack pointer behind the last byte that the file has of its segment has no stack there")
  func behindBytes() throws {
    var core = SynthCore(threads: 2)
    let index = try #require(core.segments.firstIndex { $0.bytes.count == 1024 })
    core.segments[index].size = 2048
    for (offset, hasStack) in [(1023, true), (1024, false)] as [(UInt64, Bool)] {
      core.threads[1].registers[19] = core.segments[index].address + offset
      #expect((Reading(core: core.bytes).snapshot?.threads[1].stack != nil) == hasStack)
    }
  }

  @Test("The stack of a pointer that overflowed is at most a mebibyte above it, and at most two segments")
  func overflowedPointer() throws {
    var core = SynthCore(threads: 2)
    let stack = try #require(core.segments.first { $0.bytes.count == 1024 })
    func stackStart(_ pointer: UInt64) -> UInt64? {
      core.threads[1].registers[19] = pointer
      return Reading(core: core.bytes).snapshot?.threads[1].stack?.region.address
    }
    let mebibyte: UInt64 = 1 << 20
    #expect(stackStart(stack.address - mebibyte) == stack.address)
    #expect(stackStart(stack.address - mebibyte - 1) == nil)
    // Guard pages have no bytes in the file.
    for (guards, isFound) in [(1, true), (2, false)] as [(UInt64, Bool)] {
      var guardPages = stack
      (guardPages.address, guardPages.size, guardPages.bytes) = (stack.address - 4096 * guards, 4096, [])
      core.segments.append(guardPages)
      core.segments.sort { $0.address < $1.address }
      #expect((stackStart(stack.address - 4096 * guards - 16) != nil) == isFound)
    }
  }

  @Test("The command line and the environment are found in a segment that has nothing else")
  func bareInitialStack() throws {
    let arguments = ["./example", "--fast", "a b"]
    var core = SynthCore(threads: 1, arguments: arguments)
    // 384 bytes in use are below the number of arguments.
    let last = core.segments.count - 1
    core.segments[last].bytes.removeFirst(384)
    core.segments[last].address += 384
    let name = Array("./example\0".utf8)
    let end = try #require(
      (name.count...core.segments[last].bytes.count).last {
        Array(core.segments[last].bytes[($0 - name.count)..<$0]) == name
      })
    core.segments[last].bytes.removeLast(core.segments[last].bytes.count - end)
    core.segments[last].size = UInt64(end)
    let reading = Reading(core: core.bytes)
    #expect(reading.text(reading.snapshot?.linux?.commandLine) == arguments.map { $0 + "\0" }.joined())
    #expect(reading.text(reading.snapshot?.linux?.environment) == "HOME=/root\0LANG=C.UTF-8\0")
  }

  @Test(
    "A file is too short up to the last byte of an ELF header",
    arguments: [
      (3, false, "core-too-short"), (4, false, "core-signature"), (63, true, "core-too-short"),
      (64, true, "core-headers-outside"),
    ] as [(Int, Bool, String)])
  func shortest(_ count: Int, _ isCore: Bool, _ code: String) {
    let bytes = isCore ? Array(SynthCore().bytes.prefix(count)) : [UInt8](repeating: 0x41, count: count)
    #expect(Reading(core: bytes).codes.first == code)
  }

  @Test("A file that ends with its last program header has all of them")
  func headersOnly() throws {
    let file = SynthCore().file()
    let last = file.fields.filter { $0.key.hasPrefix("phdr[") }.map(\.value).max()
    let end = try #require(last) + 56
    #expect(!Reading(core: Array(file.bytes.prefix(end))).codes.contains("core-headers-outside"))
    #expect(Reading(core: Array(file.bytes.prefix(end - 1))).codes.contains("core-headers-outside"))
  }
}
