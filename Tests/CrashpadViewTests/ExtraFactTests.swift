// SPDX-License-Identifier: Apache-2.0
import CrashpadCore
import CrashpadFiles
import CrashpadSnapshot
import CrashpadSymbolication
import CrashpadView
import DumpSynth
import Foundation
import SystemPackage
import Testing
import ToolRunner

/// Facts that few dumps have.
struct ExtraFactTests {
  @Test func `The limits of a Linux process are those of its file, in columns`() throws {
    let text = """
      Limit                     Soft Limit           Hard Limit           Units
      Max cpu time              unlimited            unlimited            seconds
      Max open files            1024                 524288               files
      Max nice priority         0                    0
      Max something             many                 7                    things
      short line

      """
    var parameters = SynthMinidumpParameters()
    parameters.processor = .x86_64
    parameters.system = .linux
    let bytes = SynthMinidump(parameters).replacing(.crashpadInfo, with: 0x4d7a_0003) { _ in Array(text.utf8) }
    let dump = Dump(try DumpInput(InputFile(bytes: bytes)))
    let snapshot = try #require(dump.snapshot)
    let limits = try #require(CrashView(dump, snapshot).processLimits)
    #expect(limits.map(\.name) == ["Max cpu time", "Max open files", "Max nice priority", "Max something"])
    #expect(limits.map(\.soft) == [.unlimited, .number(1024), .number(0), .unknown])
    #expect(limits.map(\.hard) == [.unlimited, .number(524288), .number(0), .number(7)])
    #expect(limits.map(\.unit) == ["seconds", "files", nil, "things"])
    let without = Dump(try DumpInput(InputFile(bytes: SynthMinidump(parameters).bytes)))
    #expect(CrashView(without, try #require(without.snapshot)).processLimits == nil)
  }

  // MARK: Thrown types

  /// The compiler's description of a type in a module at 0x7f0000 (64 bits), or at its absolute addresses (32 bits).
  private static func thrown(_ name: String, isWide: Bool) -> (memory: [UInt64: [UInt8]], codes: [UInt64]) {
    let base: UInt64 = isWide ? 0x7f0000 : 0
    func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    let descriptor = [UInt8](repeating: 9, count: isWide ? 16 : 8) + Array(name.utf8) + [0, 77]
    let memory: [UInt64: [UInt8]] = [
      base + 0x100: word(0) + word(0) + word(0) + word(0x200), base + 0x200: word(2) + word(0x300) + word(0x380),
      base + 0x300: word(0) + word(0x400), base + 0x400: descriptor,
    ]
    return (memory, [0x1993_0520, 0x5000, base + 0x100] + (isWide ? [base] : []))
  }

  private static func name(_ memory: [UInt64: [UInt8]], _ codes: [UInt64], isWide: Bool) -> String? {
    var exception = ExceptionSnapshot(kind: .windows, threadID: 1, code: 0xe06d_7363)
    exception.codes = codes
    return ThrownType.name(exception, isWide ? .x86_64 : .x86) { address, count in
      memory.first { $0.key <= address && address - $0.key < UInt64($0.value.count) }.map {
        Array($0.value.dropFirst(Int(address - $0.key)).prefix(count))
      }
    }
  }

  @Test(arguments: [true, false])
  func `The thrown type is that of the compiler's description`(isWide: Bool) {
    for (mangled, plain) in [
      (".?AVruntime_error@std@@", "std::runtime_error"), (".?AUFailure@@", "Failure"), (".H", "int"),
      (".PEBD", "const char *"), (".?AW4Kind@Shop@@", "Shop::Kind"), (".?AV?$Box@H@@", ".?AV?$Box@H@@"),
      (".?AV1@@", ".?AV1@@"),
    ] {
      let (memory, codes) = Self.thrown(mangled, isWide: isWide)
      #expect(Self.name(memory, codes, isWide: isWide) == plain)
    }
  }

  @Test func `A description that is not there, or of something else, gives no type`() {
    let (memory, codes) = Self.thrown(".H", isWide: true)
    for missing in memory.keys {
      #expect(Self.name(memory.filter { $0.key != missing }, codes, isWide: true) == nil)
    }
    #expect(Self.name(memory, [1, 2, 3, 4], isWide: true) == nil)
    #expect(Self.name(memory, Array(codes.prefix(3)), isWide: true) == nil)
    #expect(Self.name(memory, [codes[0], codes[1], 0, codes[3]], isWide: true) == nil)
    let (noName, _) = Self.thrown("H", isWide: true)
    #expect(Self.name(noName, codes, isWide: true) == nil)
    let (endless, _) = Self.thrown("." + String(repeating: "x", count: 600), isWide: true)
    #expect(Self.name(endless, codes, isWide: true) == nil)
  }

  // MARK: Perf maps

  /// The names of frame 0 at each address, and whether they are inferred.
  private static func names(
    at addresses: [UInt64], processID: Int32?, _ paths: [FilePath]
  ) throws -> [String] {
    let dump = Dump(try DumpInput(InputFile(bytes: SynthMinidump().bytes)))
    let cache = SymbolCache(SymbolSearch(paths: paths, looksInSystem: false))
    return addresses.map { address in
      var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .x86_64, operatingSystem: .linux))
      snapshot.processID = processID
      var thread = ThreadSnapshot()
      var context = X86_64Context()
      context.rip = address
      thread.context = .x86_64(context)
      snapshot.threads = [thread]
      let view = CrashView(dump, snapshot, cache, threads: .all, signatures: nil)
      let row = view.threadStacks[0].rows[0]
      return row.name.map { "\($0) + \(row.functionOffset ?? 0)\(row.isInferred ? " inferred" : "")" } ?? "-"
    }
  }

  private static let map = """
    1000 100 Interpreter
    0x2000 0x80 LazyCompile:~main /srv/app.js:1:1
    2040 40 later code
    2060 8 inner
    3000 0 nothing
    ffffffffffffff00 200 beyond the end
    not a line
    4000 10
    5000 1 last
    """

  @Test func `A perf map names code of no module, where its name has the id of the process`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.map.utf8), to: "maps/perf-42.map")
    try folder.write(Array("1000 100 of another process\n".utf8), to: "maps/perf-43.map")
    let addresses: [UInt64] = [0x1000, 0x10ff, 0x1100, 0x2010, 0x2040, 0x2064, 0x207f, 0x2080, 0x3000, 0x4000, 0x5000]
    let expected = [
      "Interpreter + 0 inferred", "Interpreter + 255 inferred", "-", "LazyCompile:~main /srv/app.js:1:1 + 16 inferred",
      "later code + 0 inferred", "inner + 4 inferred", "later code + 63 inferred", "-", "-", "-", "last + 0 inferred",
    ]
    let (file, directory) = (FilePath(folder.url("maps/perf-42.map").path), FilePath(folder.url("maps").path))
    #expect(try Self.names(at: addresses, processID: 42, [directory]) == expected)
    #expect(try Self.names(at: addresses, processID: 42, [file]) == expected)
    for (id, path) in [(Int32?.some(44), directory), (43, file), (4, directory), (nil, directory)] {
      #expect(try Self.names(at: addresses, processID: id, [path]) == addresses.map { _ in "-" })
    }
  }

  @Test func `Only the exact name of a perf map has a process id`() {
    #expect(PerfMap.processID("/tmp/perf-42.map") == 42)
    for name in [
      "perf-042.map", "perf-+42.map", "perf--1.map", "perf-0.map", "perf-.map", "xperf-42.map", "perf-42.map2",
    ] {
      #expect(PerfMap.processID(FilePath(name)) == nil)
    }
  }
}
