// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
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

  @Test("Symbols behind 4 GiB of an archive are found, and an archive of which none can be used is said")
  func largeArchives() throws {
    let folder = try TemporaryFolder()
    let id = DebugID(uuid: UUIDBytes(high: 0x1122_3344_0000_0000, low: 7))
    let text = Array("MODULE Linux x86_64 \(id.text) M\nFUNC 1000 10 0 far_away\n".utf8)
    let zeros = 5 << 30
    let large = Packing.largeZip([.init("M.sym", text, isDeflated: true)], zeros: zeros)
    try folder.write(large.start, to: "large/all.zip")
    try folder.write(large.end, behind: zeros, to: "large/all.zip")
    let zip = Packing.zip([.init("M.sym", text)])
    try folder.write(Array(zip.dropLast(30)), to: "cut/all.zip")
    var damaged = zip
    damaged[damaged.count - 6] ^= 1
    try folder.write(damaged, to: "damaged/all.zip")
    try folder.write(Packing.zip([.init("program", text)]), to: "others/all.zip")
    try folder.write(text, to: "M.sym")
    let made = try Tool.shell(
      "mkdir tar tgz; tar cf tar/all.zip M.sym && tar czf tgz/all.zip M.sym", in: folder)
    try #require(made.status == 0, "\(made.errorText)")

    func find(_ place: String) -> (name: String?, findings: String) {
      let search = SymbolSearch(paths: [folder.path.pushing(FilePath(place))], looksInSystem: false)
      let symbols = search.find(ModuleIdentity(path: "/none", debugID: id)).symbols.first
      return (symbols?.symbolize(0x1000)?.frames[0].function, "\(search.faults.findings)")
    }
    for place in ["large", "large/all.zip"] { #expect(find(place).name == "far_away", "\(find(place).findings)") }
    let reasons = [
      "cut": "is compressed (zip) and ends early", "damaged": "is compressed (zip) and damaged",
      "tar": "is a tar archive, which has to be unpacked", "tgz": "is a tar archive, which has to be unpacked",
      "others": "a zip archive without dSYM bundles",
    ]
    for (place, reason) in reasons {
      let given = find("\(place)/all.zip")
      #expect(given.name == nil && given.findings.contains(reason), "\(given.findings)")
      // There are many archives of other things.
      if place != "others" { #expect(find(place).findings.contains(reason), "\(find(place).findings)") }
      let lookup = try Tool.run(["symbols", "lookup", "\(place)/all.zip", "0x1000"], in: folder)
      #expect(lookup.status == 65 && lookup.errorText.contains(reason), "\(lookup.errorText)")
    }
  }

  @Test(
    "The version of a symbol is no part of its name; other signs in a name are",
    .enabled(if: hasCompiler, "cc is not installed"),
    arguments: [
      ("plain_QQVERS_2Z1", "plain_@@VERS_2.1", "plain_"), ("plain_QVERS", "plain_@VERS", "plain_"),
      ("tag_QtypeLmainZaR", "tag_@type(main.a)", "tag_@type(main.a)"),
      ("two_QtypeLaRQVERS_1", "two_@type(a)@VERS_1", "two_@type(a)"), ("only_name_QQ", "only_name_@@", "only_name_@@"),
    ])
  func versions(_ made: String, _ kept: String, _ name: String) throws {
    let folder = try TemporaryFolder()
    try Self.compile("int \(made)(void) { return 1; } int main(void) { return 0; }", "-o app", in: folder)
    let address = try Tool.shell(
      "nm app | awk '$3 == \"\(made)\" { print $1 }'; sed -i 's/\(made)/\(kept)/g' app", in: folder)
    let lookup = try Tool.run(
      ["symbols", "lookup", "app", address.text.trimmingCharacters(in: .whitespacesAndNewlines)], in: folder)
    #expect(lookup.text.hasPrefix("\(name)\n"), "\(lookup.text)\(lookup.errorText)")
  }

  @Test("An archive or compression that is not read is named, by lookup and where symbols are searched")
  func packed() throws {
    let folder = try TemporaryFolder()
    #expect(FileMagic.packed.count > 15)
    for (start, name) in FileMagic.packed {
      try folder.write(
        start + Array("\nMODULE Linux x86_64 \(String(repeating: "0", count: 33)) M\n".utf8), to: "all/file")
      let lookup = try Tool.run(["symbols", "lookup", "all/file", "0x1000"], in: folder)
      let reason = "is \(name), which has to be unpacked"
      #expect(lookup.status == 65 && lookup.errorText == "all/file: error: \(reason)\n", "\(lookup.errorText)")
      for place in ["all", "all/file"] {
        let search = SymbolSearch(paths: [folder.path.pushing(FilePath(place))], looksInSystem: false)
        let found = search.find(ModuleIdentity(path: "/none", debugID: DebugID(uuid: UUIDBytes(high: 1, low: 2))))
        #expect(found.symbols.isEmpty)
        #expect("\(search.faults.findings)".contains(reason), "\(search.faults.findings)")
      }
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

  @Test(
    "A function has the file that declares it, whatever its lines are of",
    .enabled(if: hasCompiler, "cc is not installed"))
  func declaredFile() throws {
    let folder = try TemporaryFolder()
    // GCC writes a value that many entries have in common once, in their abbreviation.
    let many = (0..<40).map { "part\($0)" }
    let source = """
      #line 5 "/usr/include/gear/gear.h"
      int gear(int *p) { return *p; }
      #line 7 "/srv/shop.c"
      int shop(int *p) { int a = 1;
      #line 9 "/usr/include/gear/gear.h"
        return a + *p; }
      #line 11 "/srv/shop.c"
      \(many.map { "int \($0)(int *p) { return *p; }" }.joined(separator: "\n"))
      """
    let id = (1...20).map { UInt8($0) }
    let text = id.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
    try Self.compile(source, "-g -O0 -fPIC -shared -Wl,--build-id=0x\(text) -o shop.so", in: folder)
    let cache = SymbolCache(SymbolSearch(paths: [folder.path], looksInSystem: false))
    let symbols = LazySymbols(ModuleIdentity(path: "/srv/shop.so", debugID: nil, buildID: id), cache).symbols
    let functions = [("gear", "/usr/include/gear/gear.h"), ("shop", "/srv/shop.c")] + many.map { ($0, "/srv/shop.c") }
    for (name, file) in functions {
      let line = try Tool.shell("nm shop.so | awk '$3 == \"\(name)\" { print $1 }'", in: folder).outputLines.first
      let start = try #require(line.flatMap { UInt64($0, radix: 16) })
      #expect(symbols.symbolize(start + 4)?.frames.last?.declaredFile == file)
    }
  }

  @Test(
    "A constructor has the file that declares it, as other functions", .enabled(if: hasCompiler, "cc is not installed"))
  func declaredFileOfConstructor() throws {
    let folder = try TemporaryFolder()
    let source = """
      #line 5 "/usr/include/gear/gear.h"
      struct Gear { int teeth; Gear(int n) { teeth = 60 / n; } ~Gear() { teeth = 1 / teeth; } };
      #line 7 "/srv/shop.cc"
      struct Shop { int size; Shop(int n) { size = 60 / n; } };
      int make(int n) { Gear gear(n); Shop shop(n); return gear.teeth + shop.size; }
      """
    let id = (1...20).map { UInt8($0 + 40) }
    let text = id.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
    try Self.compile(source, "-x c++ -g -O0 -fPIC -shared -Wl,--build-id=0x\(text) -o shop.so", in: folder)
    let cache = SymbolCache(SymbolSearch(paths: [folder.path], looksInSystem: false))
    let symbols = LazySymbols(ModuleIdentity(path: "/srv/shop.so", debugID: nil, buildID: id), cache).symbols
    for (name, file) in [
      ("_ZN4GearC2Ei", "/usr/include/gear/gear.h"), ("_ZN4GearD2Ev", "/usr/include/gear/gear.h"),
      ("_ZN4ShopC2Ei", "/srv/shop.cc"), ("_Z4makei", "/srv/shop.cc"),
    ] {
      let line = try Tool.shell("nm shop.so | awk '$3 == \"\(name)\" { print $1 }'", in: folder).outputLines.first
      let start = try #require(line.flatMap { UInt64($0, radix: 16) })
      let frame = symbols.symbolize(start + 4)?.frames.last
      #expect(frame?.declaredFile == file, "\(String(describing: frame))")
    }
  }
}
