// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadSymbolication
import CrashpadCore
import DumpSynth
import CrashpadFiles
import CrashpadMeaning
import CrashpadSnapshot
import Testing

@Suite("Dump: intermediate dump and minidump alike")
struct DumpTests {
  private func inspect(_ bytes: [UInt8]) throws -> Dump { Dump(try DumpInput(InputFile(bytes: bytes))) }

  @Test("A dump and its minidump describe the exception with the same words", arguments: RoundTripCase.all)
  func exceptions(_ example: RoundTripCase) throws {
    let trip = try #require(example.trip)
    let before = try #require(try inspect(example.dump.bytes).snapshot)
    let after = try #require(try inspect(trip.reading.bytes).snapshot)
    #expect(
      before.exception.map { ExceptionDescription($0, before.system) }
        == after.exception.map { ExceptionDescription($0, after.system) })
  }

  @Test("A dump and its minidump name the same crashed thread", arguments: RoundTripCase.all)
  func crashedThread(_ example: RoundTripCase) throws {
    let trip = try #require(example.trip)
    let before = try inspect(example.dump.bytes)
    let after = try inspect(trip.reading.bytes)
    #expect(before.crashedThread == after.crashedThread)
    #expect((before.crashedThread == nil) == (example.dump.parameters.exception == .none))
    #expect(before.streams.isEmpty && !after.streams.isEmpty)
  }

  @Test("The instruction pointer of a synthetic minidump lies in the module that it was made for")
  func lookup() throws {
    for example in Layout.plain.examples {
      let dump = try inspect(example.dump.bytes)
      #expect(dump.format == .minidump)
      #expect(dump.crashedThread == 0)
      let snapshot = try #require(dump.snapshot)
      let map = ModuleMap(snapshot.modules)
      let pc = try #require(snapshot.exception?.context?.instructionPointer)
      #expect(map.lookup(pc)?.module == 0, "\(example)")
      let module = try #require(example.dump.modules.last)
      #expect(map.lookup(module.base)?.offset == 0)
      #expect(map.lookup(module.base + UInt64(module.size) - 1)?.module == example.dump.modules.count - 1)
      #expect(map.lookup(module.base + UInt64(module.size)) == nil)
      #expect(map.lookup(0) == nil)
    }
  }

  @Test("Captured memory is the stacks and the rest, each once")
  func capturedMemory() throws {
    for layout in [Layout.plain, .memory64] {
      for example in layout.examples {
        let memory = try #require(try inspect(example.dump.bytes).snapshot).capturedMemory
        let expected = example.dump.threads.map(\.stackAddress) + example.dump.regions.map(\.address)
        #expect(memory.map(\.address) == expected, "\(example)")
      }
    }
  }
}
