// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import DumpSynth
import Testing

@Suite("The vDSO in the memory of a dump")
struct KernelImageTests {
  private static let image: UInt64 = 0x7fff_f7fc_1000
  private static let stack: UInt64 = 0x7000_0000

  /// A thread in the second function of the image, which a function of a program called.
  private func thread(
    in name: String, of image: [UInt8], cutTo count: Int = .max
  ) throws -> (thread: Symbolization.Thread, module: Symbolization.Module) {
    var process = try TestProcess(.x86_64)
    process.snapshot.system.operatingSystem = .linux
    // Memory before the image is in the same region.
    let bytes = [UInt8](repeating: 0xcc, count: 64) + image.prefix(count)
    process.snapshot.extraMemory.append(
      MemoryRegion(address: Self.image - 64, content: process.snapshot.store(bytes)))
    process.memory(at: Self.stack, [1, 2, 3, 0x40_0123, 0, 0])
    for (name, address) in [("/bin/app", 0x40_0000), (name, Self.image)] {
      var module = ModuleSnapshot()
      (module.name, module.address, module.size) = (process.snapshot.store(name), address, 0x3000)
      process.snapshot.modules.append(module)
    }
    var context = X86_64Context()
    (context.rip, context.rsp) = (Self.image + 0x1048, Self.stack)
    var thread = ThreadSnapshot()
    (thread.id, thread.context) = (1, .x86_64(context))
    process.snapshot.threads = [thread]
    let symbols = Symbolization(process.snapshot, InputFile(bytes: []), process.cache, threads: .all)
    return (try #require(symbols.threads.first), symbols.modules[1])
  }

  @Test("Its symbols name frames, and its rules lead to their callers")
  func namesAndRules() throws {
    for name in ["linux-gate.so", "[vdso]", "linux-vdso.so.1"] {
      let (thread, module) = try thread(in: name, of: SynthElf().bytes)
      #expect(thread.frames.map(\.frame.instruction) == [Self.image + 0x1048, 0x40_0123])
      #expect(thread.frames.map(\.frame.trust) == [.context, .callFrameInfo])
      #expect(thread.frames[0].symbol?.frames.map(\.name) == ["twice(int)"])
      #expect(module.symbols?.isFound == true && module.symbols?.search.files.isEmpty == true)
    }
  }

  @Test("Its debug information is not read: it may refer to files of this machine")
  func debugInformation() throws {
    let (thread, _) = try thread(in: "[vdso]", of: SynthElf().bytes)
    #expect(thread.frames[0].symbol?.frames.allSatisfy { $0.location == nil } == true)
  }

  @Test("Other modules have no names from memory, and neither has an image that is cut or no ELF file")
  func others() throws {
    let image = SynthElf().bytes
    #expect(try thread(in: "/lib/libc.so.6", of: image).thread.frames[0].symbol == nil)
    #expect(try thread(in: "[vdso]", of: [UInt8](repeating: 0x7f, count: 0x3000)).thread.frames[0].symbol == nil)
    for count in stride(from: 0, to: 0x1800, by: 333) {
      #expect(try thread(in: "[vdso]", of: image, cutTo: count).thread.frames[0].symbol == nil)
    }
  }
}
