// SPDX-License-Identifier: Apache-2.0
import CrashpadSnapshot
import DumpSynth
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadSymbolication

/// Addresses of data, of sections, and of several files.
@Suite("Lookups")
struct LookupTests {
  private static let hasCompiler = (try? Tool.shell("cc --version", in: TemporaryFolder()).status) == 0

  private static func compile(_ source: String, _ options: String, in folder: TemporaryFolder) throws {
    try folder.write(Array(source.utf8), to: "shop.c")
    let made = try Tool.shell("cc \(options) shop.c", in: folder)
    try #require(made.status == 0, "\(made.errorText)")
  }

  /// The lines of the answers; the arguments are a line of the shell, in which `at NAME BYTES` is an address behind a symbol.
  private static func lookup(_ line: String, _ file: String, in folder: TemporaryFolder) throws -> [String] {
    let script = """
      at() { printf '0x%x' $((0x$(nm \(file) | awk -v n="$1" '$3 == n { print $1 }') + $2)); }
      crashpadctl symbols lookup \(line)
      """
    let outcome = try Tool.shell(script, in: folder)
    #expect(outcome.status == 0, "\(outcome.errorText)")
    return outcome.outputLines.map(String.init)
  }

  @Test("An address of data has the name of what contains it", .enabled(if: hasCompiler, "cc is not installed"))
  func data() throws {
    let folder = try TemporaryFolder()
    let source = """
      int prices[4] = {1, 2, 3, 4};
      const char *const words[2] = {"a", "b"};
      static int hidden[8];
      __asm__(".data\\n.balign 16\\nlabel: .quad 1\\n.quad 2\\n.text");
      int shop(int a) { hidden[a & 7]++; return prices[a & 3] + hidden[0]; }
      """
    try Self.compile(source, "-O0 -fPIC -shared -o shop.so", in: folder)
    let all = "$(at prices 0) $(at prices 15) $(at words 8) $(at hidden 4) $(at label 0) $(at label 8) $(at shop 0)"
    let lines = try Self.lookup("shop.so \(all)", "shop.so", in: folder)
    #expect(
      lines.filter { !$0.isEmpty && $0 != "??:0:0" } == [
        "prices (data)", "prices + 15 (data)", "words + 8 (data)", "hidden + 4 (data)", "label (data)",
        "label + 8 (nearest data)", "shop",
      ], "\(lines)")
    let json = try Self.lookup("-f json shop.so $(at label 8)", "shop.so", in: folder).joined()
    #expect(json.contains(#""is_nearest": true"#) && json.contains(#""name": "label""#), "\(json)")
  }

  @Test(
    "Addresses of an object file are those of the section that is named",
    .enabled(if: hasCompiler, "cc is not installed"))
  func sections() throws {
    let folder = try TemporaryFolder()
    let source = """
      int counter = 7;
      int runs(int a) { return a + counter; }
      __attribute__((section(".init.text"))) int starts(int a) { return a * 3; }
      """
    try Self.compile(source, "-O1 -g -c -o shop.o", in: folder)
    func first(_ arguments: String) throws -> [String] {
      Array(try Self.lookup(arguments, "shop.o", in: folder).prefix(2))
    }
    #expect(try first("shop.o 0")[0] == "runs")
    let other = try first("--section .init.text shop.o 0")
    #expect(other[0] == "starts" && other[1].contains("shop.c:3:"), "\(other)")
    #expect(try first("--section .data shop.o 0")[0] == "counter (data)")
    let none = try Tool.run(["symbols", "lookup", "--section", ".none", "shop.o", "0"], in: folder)
    #expect(none.status == 65 && none.errorText.contains("no section .none"), "\(none.errorText)")
    // In a linked file they are counted from the section's start.
    try Self.compile(source, "-O1 -g -fPIC -shared -o shop.so", in: folder)
    #expect(try first("--section .init.text shop.so 0")[0] == "starts")
  }

  @Test("An address may be in another file", .enabled(if: hasCompiler, "cc is not installed"))
  func files() throws {
    let folder = try TemporaryFolder()
    try Self.compile("int one(int a) { return a; }", "-O1 -c -o one.o", in: folder)
    try Self.compile("int two(int a) { return a; }", "-O1 -c -o 'a b.o'", in: folder)
    let lines = try Self.lookup("one.o 0 'a b.o 0' 'one.o 0x0'", "one.o", in: folder)
    #expect(lines.filter { !$0.isEmpty && $0 != "??:0:0" } == ["one", "two", "one"])
    let missing = try Tool.shell("printf '0\\nnone.o 0\\n' | crashpadctl symbols lookup one.o", in: folder)
    #expect(missing.status == 2 && missing.text.hasPrefix("one\n"), "\(missing.text)")
    #expect(missing.errorText.hasPrefix("none.o: error: "), "\(missing.errorText)")
  }

  @Test("The symbol file of a module is found in an archive with several")
  func archive() throws {
    let folder = try TemporaryFolder()
    func id(_ number: Int) -> DebugID {
      DebugID(uuid: UUIDBytes(high: 0x1122_3344_0000_0000 | UInt64(number), low: 7))
    }
    for number in 0..<3 {
      let text = "MODULE Linux x86_64 \(id(number).text) M\(number)\nFUNC 1000 10 0 function_\(number)\n"
      try folder.write(Array(text.utf8), to: "M\(number).sym")
    }
    let made = try Tool.shell(
      "mkdir tree && python3 -m zipfile -c tree/all.zip M0.sym M1.sym M2.sym", in: folder)
    try #require(made.status == 0, "\(made.errorText)")
    for place in ["tree", "tree/all.zip"] {
      let search = SymbolSearch(paths: [folder.path.pushing(FilePath(place))], looksInSystem: false)
      let names = (0..<4).map { number in
        search.find(ModuleIdentity(path: "/none", debugID: id(number))).symbols.first?.symbolize(0x1000)?.frames[0]
          .function
      }
      #expect(names == ["function_0", "function_1", "function_2", nil], "\(place)")
      #expect(search.faults.findings.isEmpty, "\(search.faults.findings)")
    }
  }

  @Test(
    "A file of an archive that can't be read hides none of the others, and is no absence", arguments: [true, false])
  func damagedArchive(isEncrypted: Bool) throws {
    let folder = try TemporaryFolder()
    func id(_ number: Int) -> DebugID {
      DebugID(uuid: UUIDBytes(high: 0x1122_3344_0000_0000 | UInt64(number), low: 7))
    }
    let members = (0..<3).map { number in
      let text = "MODULE Linux x86_64 \(id(number).text) M\(number)\nFUNC 1000 10 0 function_\(number)\n"
      return Packing.Member(
        "M\(number).sym", Array(text.utf8), isDeflated: true, isEncrypted: number == 0 && isEncrypted)
    }
    var bytes = Packing.zip(members)
    // The kind of the first block of the first member, behind its header and name.
    if !isEncrypted { bytes[30 + 6] = 7 }
    try folder.write(bytes, to: "tree/all.zip")
    var store = IndexStore(folder.path.appending("store"))
    (store.thresholds.entries, store.thresholds.age) = (1, 0)
    usleep(30_000)
    for (place, indexes) in [("tree/all.zip", nil), ("tree", nil), ("tree", store), ("tree", store)] {
      let search = SymbolSearch(
        paths: [folder.path.pushing(FilePath(place))], looksInSystem: false, indexes: indexes)
      let names = [1, 2, 0, 3].map { number in
        search.find(ModuleIdentity(path: "/none", debugID: id(number))).symbols.first?.symbolize(0x1000)?.frames[0]
          .function
      }
      #expect(names == ["function_1", "function_2", nil, nil], "\(place)")
      #expect(search.faults.findings.count == 1 && !search.isWhole, "\(search.faults.findings)")
    }
    let index = try Tool.run(["symbols", "index", "tree"], in: folder)
    #expect(index.errorText.contains("zip archive with 3 files"), "\(index.errorText)")
  }
}
