// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import DumpSynth
import Foundation
import CrashpadSnapshot
import CrashpadSymbolication
import SystemPackage
import Testing
import ToolRunner

/// Real files, made by compilers and linkers, against what LLVM's tools say of them.
@Suite("Mach-O files of real tools")
struct MachOToolTests {
  /// The path of the first of these that there is.
  private static func find(_ names: String...) -> String? {
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    for name in names {
      for folder in path where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
        return "\(folder)/\(name)"
      }
    }
    return nil
  }

  private static let clang = find("clang", "clang-19")
  private static let linker = find("ld64.lld-19")
  private static let dsymutil = find("dsymutil-19", "dsymutil")
  private static let nm = find("llvm-nm-19", "llvm-nm")
  private static let objdump = find("llvm-objdump-19", "llvm-objdump")
  private static let symbolizer = find("llvm-symbolizer-19", "llvm-symbolizer")
  private static let hasTools = [clang, linker, dsymutil, nm, objdump, symbolizer].allSatisfy { $0 != nil }

  private static let source = """
    namespace geo {
    inline int square(int x) { return x * x + 1; }
    __attribute__((noinline)) static int leaf(volatile int *p) { return square(*p) + square(p[1]); }
    int faulty(int *p, int depth) {
      volatile int buffer[64];
      buffer[depth & 63] = depth;
      if (depth <= 0) return leaf(p) + buffer[3];
      return faulty(p, depth - 1) + buffer[depth & 63];
    }
    }
    extern "C" int entry(int n) { int a[2] = {n, n}; return geo::faulty(a, n); }
    """

  private static let stub = """
    --- !tapi-tbd
    tbd-version: 4
    targets: [ arm64-ios, arm64_32-watchos, x86_64-macos ]
    install-name: '/usr/lib/libSystem.B.dylib'
    exports:
      - targets: [ arm64-ios, arm64_32-watchos, x86_64-macos ]
        symbols: [ dyld_stub_binder, ___stack_chk_fail, ___stack_chk_guard ]
    ...
    """

  private struct Built {
    let folder: TemporaryFolder
    let file: MachOFile
    let companion: MachOFile
    static let companionPath = "lib.dylib.dSYM/Contents/Resources/DWARF/lib.dylib"
  }

  private func build(_ architecture: String, dwarf: Int) throws -> Built {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.source.utf8), to: "a.cpp")
    try folder.write(Array((Self.stub + "\n").utf8), to: "libSystem.tbd")
    let (target, platform) =
      switch architecture {
      case "arm64": ("arm64-apple-ios14.0", "ios 14.0 17.0")
      case "arm64_32": ("arm64_32-apple-watchos8.0", "watchos 8.0 9.0")
      default: ("x86_64-apple-macos12.0", "macos 12.0 14.0")
      }
    let command = """
      set -e
      '\(Self.clang!)' -target \(target) -g -gdwarf-\(dwarf) -O1 -c a.cpp -o a.o
      '\(Self.linker!)' -arch \(architecture) -platform_version \(platform) -dylib -install_name @rpath/lib.dylib \
        -o lib.dylib a.o libSystem.tbd
      '\(Self.dsymutil!)' lib.dylib -o lib.dylib.dSYM
      """
    let result = try Tool.shell(command, in: folder)
    try #require(result.status == 0, "\(result.errorText)")
    func open(_ name: String) throws -> MachOFile {
      try MachOFile(InputFile(FilePath(folder.url(name).path)))
    }
    return Built(folder: folder, file: try open("lib.dylib"), companion: try open(Built.companionPath))
  }

  private func lines(_ command: String, _ built: Built) throws -> [String] {
    let result = try Tool.shell(command, in: built.folder)
    try #require(result.status == 0, "\(result.errorText)")
    return result.outputLines.map(String.init).filter { !$0.isEmpty }
  }

  @Test(
    "Symbols, function starts and unwind information are those that LLVM's tools show",
    .enabled(if: hasTools, "LLVM's tools are not installed"),
    arguments: ["arm64", "arm64_32", "x86_64"])
  func tables(architecture: String) throws {
    let built = try build(architecture, dwarf: 5)
    #expect(built.file.findings.isEmpty)
    #expect(built.companion.kind == .debugSymbols)
    #expect(built.file.uuid == built.companion.uuid)
    let headers = try lines("'\(Self.objdump!)' --macho --private-headers lib.dylib", built)
    let uuid = try #require(headers.first { $0.contains(" uuid ") }?.split(separator: " ").last)
    #expect(built.file.uuid?.text == uuid.lowercased())

    let listed = try lines("'\(Self.nm!)' -n --defined-only lib.dylib", built)
    let symbols = listed.compactMap { (line: String) -> String? in
      let fields: [Substring] = line.split(separator: " ")
      guard ["T", "t"].contains(fields[1]), let address = UInt64(fields[0], radix: 16) else { return nil }
      let name = fields[2].hasPrefix("_") ? fields[2].dropFirst() : fields[2]
      return name.contains("_mh_") ? nil : "\(address) \(name)"
    }
    #expect(symbols.count >= 3)
    #expect(built.file.symbols().map { "\($0.address) \($0.name)" } == symbols)
    #expect(built.companion.symbols().map { "\($0.address) \($0.name)" } == symbols)

    let starts = try lines("'\(Self.objdump!)' --macho --function-starts lib.dylib", built)
      .compactMap { UInt64($0, radix: 16) }
    #expect(starts.count >= 3)
    #expect(built.file.functionStarts == starts)

    let faulty = try #require(built.file.symbols().first { $0.name.contains("faulty") })
    let address = "0x\(String(faulty.address + 16, radix: 16))"
    let own = try lines("crashpadctl symbols lookup lib.dylib.dSYM \(address)", built)
    let other = try lines("'\(Self.symbolizer!)' --obj=\(Built.companionPath) -f -C \(address)", built)
    #expect(own.joined(separator: "\n").contains("geo::faulty(int*, int)"))
    #expect(other.first == "geo::faulty(int*, int)")
    let line = try #require(other.dropFirst().first?.split(separator: ":").dropFirst().first)
    #expect(own.joined(separator: "\n").contains("a.cpp:\(line)"))

    let entries = try lines("'\(Self.objdump!)' --macho --unwind-info lib.dylib", built)
      .compactMap { $0.firstMatch(of: #/function offset=0x([0-9a-f]+), encoding(?:\[\d+\])?=0x([0-9a-f]+)/#) }
    #expect(entries.count >= 2)
    for entry in entries {
      let address = built.file.textAddress + UInt64(entry.1, radix: 16)!
      // 0 is that of functions without such information.
      #expect(built.file.compactUnwindEncoding(at: address) ?? 0 == UInt32(entry.2, radix: 16))
    }
  }

  // MARK: Debug maps

  private static let parts = [
    "one.cpp": """
    inline __attribute__((always_inline)) int square(int x) { return x * x + 1; }
    __attribute__((noinline)) static int hidden(volatile int *p) { return square(*p) + square(p[1]); }
    int one(int *p, int depth) { return depth > 3 ? hidden(p) : one(p, depth + 1) + 2; }
    int unused(int x) { return x * 7; }
    """,
    "two.cpp": """
    int one(int *p, int depth);
    template <class T> __attribute__((noinline)) T twice(T x) { int y = int(x); return x + one(&y, 1) + y; }
    int three(int x);
    extern "C" int entry(int x) { return twice(x) + int(twice(long(x))) + three(x); }
    """,
    "three.cpp": """
    template <class T> __attribute__((noinline)) T twice(T x);
    __attribute__((noinline)) static int hidden(volatile int *p) { return *p - p[1]; }
    int three(int x) { int a[2] = {x, x + 1}; return hidden(a); }
    """,
  ]

  /// A program of three objects, one of which is in an archive, and its dSYM.
  private func linked(_ architecture: String) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (name, text) in Self.parts { try folder.write(Array(text.utf8), to: name) }
    try folder.write(Array((Self.stub + "\n").utf8), to: "libSystem.tbd")
    let (target, platform) =
      architecture == "arm64"
      ? ("arm64-apple-ios14.0", "ios 14.0 17.0") : ("x86_64-apple-macos12.0", "macos 12.0 14.0")
    let command = """
      set -e
      for part in one two three; do
        '\(Self.clang!)' -target \(target) -g -gdwarf-4 -O1 -c $part.cpp -o $part.o
      done
      '\(Self.archiver!)' rc libthree.a three.o
      '\(Self.linker!)' -arch \(architecture) -platform_version \(platform) -dylib -install_name @rpath/lib.dylib \
        -o lib.dylib one.o two.o libthree.a libSystem.tbd
      '\(Self.dsymutil!)' lib.dylib -o dSYM/lib.dSYM
      mkdir objects && mv three.o objects
      """
    let result = try Tool.shell(command, in: folder)
    try #require(result.status == 0, "\(result.errorText)")
    return folder
  }

  private static let archiver = find("llvm-ar-19", "llvm-ar", "ar")

  /// Sets the times of the objects in a program. Returns how many there are.
  private func setTimes(_ folder: TemporaryFolder, _ time: UInt64) throws -> Int {
    var bytes = [UInt8](try Data(contentsOf: folder.url("lib.dylib")))
    var count = 0
    var command = 32
    while bytes.little(at: command, width: 4) != 2 { command += Int(bytes.little(at: command + 4, width: 4)!) }
    let (table, entries) = (bytes.little(at: command + 8, width: 4)!, bytes.little(at: command + 12, width: 4)!)
    for place in stride(from: Int(table), to: Int(table + 16 * entries), by: 16) where bytes[place + 4] == 0x66 {
      bytes.overwrite(time, width: 8, at: place + 8)
      count += 1
    }
    try Data(bytes).write(to: folder.url("lib.dylib"))
    return count
  }

  @Test(
    "Without a dSYM, functions and lines are those of the object files, as LLVM's tools have them with one",
    .enabled(if: hasTools, "LLVM's tools are not installed"), arguments: ["arm64", "x86_64"])
  func debugMap(architecture: String) throws {
    let folder = try linked(architecture)
    let file = try MachOFile(InputFile(FilePath(folder.url("lib.dylib").path)))
    let text = try #require(file.section("__TEXT", "__text"))
    let addresses = stride(from: text.address, to: text.end, by: 1).map { "0x\(String($0, radix: 16))\n" }.joined()
    try folder.write(Array(addresses.utf8), to: "addresses")
    func answers(_ command: String) throws -> [String] {
      let result = try Tool.shell("\(command) < addresses", in: folder)
      try #require(result.status == 0, "\(result.errorText)")
      return result.text.components(separatedBy: "\n\n")
    }
    let other = try answers(
      "'\(Self.symbolizer!)' --no-demangle --obj=dSYM/lib.dSYM/Contents/Resources/DWARF/lib.dylib")
    // The names are in one of the two with an underscore.
    let own = try answers("crashpadctl symbols lookup --no-demangle lib.dylib 2>/dev/null")
    #expect(own.count > 300)
    #expect(own.filter { $0.contains(".cpp:") }.count > 200)
    #expect(zip(own, other).filter { $0 != $1 }.map { "\($0) | \($1)" }.prefix(3).isEmpty)
    #expect(own.count == other.count)
  }

  @Test("An object of another time is not used, and is said", .enabled(if: hasTools, "LLVM's tools are not installed"))
  func debugMapTimes() throws {
    let folder = try linked("arm64")
    func lookup() throws -> (lines: Int, codes: Set<String>) {
      let file = try MachOFile(InputFile(FilePath(folder.url("lib.dylib").path)))
      let addresses = file.symbols().map { "0x\(String($0.address, radix: 16))" }.joined(separator: " ")
      let result = try Tool.shell("crashpadctl symbols lookup lib.dylib \(addresses)", in: folder)
      let codes = result.errorText.matches(of: #/\[([a-z-]+)\]/#).map { String($0.1) }
      return (result.outputLines.count { $0.contains(".cpp:") }, Set(codes))
    }
    let objects = try setTimes(folder, 0)
    #expect(objects == 3)
    let all = try lookup()
    #expect(all.lines >= 5)
    #expect(all.codes == ["unverified-object"])

    let set = try Tool.shell("touch -d @1700000000 one.o two.o", in: folder)
    #expect(set.status == 0)
    _ = try setTimes(folder, 1_700_000_000)
    // The member of the archive has another time.
    let two = try lookup()
    #expect(two.lines < all.lines && two.lines > 0)
    #expect(two.codes == ["other-object"])

    _ = try setTimes(folder, 1_600_000_000)
    let none = try lookup()
    #expect(none.lines == 0)
    #expect(none.codes == ["other-object"])

    _ = try Tool.shell("rm one.o two.o libthree.a", in: folder)
    let gone = try lookup()
    #expect(gone.codes == ["missing-object"])
  }
}
