// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// One program, whose debug information is stored in several ways: the answers are the same.
@Suite(
  "Debug information is read in every form that linkers and packagers give it",
  .enabled(if: Toolbox.gxx != nil && Toolbox.nm != nil, "g++ or nm is not installed"))
struct StoredFormsTests {
  /// The output of `symbols lookup` for addresses in the functions of `build/prog`.
  private static func answers(
    _ file: String, _ options: String = "", at addresses: [UInt64], in folder: TemporaryFolder
  ) throws -> String {
    let input = addresses.map { "0x\(String($0, radix: 16))\n" }.joined()
    try folder.write(Array(input.utf8), to: "addresses")
    let result = try Tool.shell("crashpadctl symbols lookup \(options) \(file) < addresses", in: folder)
    try #require(result.status == 0, "\(result.errorText)")
    #expect(result.errorText.isEmpty)
    return result.text
  }

  private static func addresses(in folder: TemporaryFolder) throws -> [UInt64] {
    var random = SplitMix64(seed: Toolbox.seed, area: 5)
    return try FunctionSymbol.all("build/prog", in: folder).addresses(300, &random)
  }

  private static func make(_ options: String, compiler: String? = Toolbox.gxx, in folder: TemporaryFolder) throws {
    let build = Build(language: .cxx, compiler: try #require(compiler), options: "-w -O2 \(options)")
    try build.make(in: folder)
  }

  private static func run(_ command: String, in folder: TemporaryFolder) throws {
    let result = try Tool.shell(command, in: folder)
    try #require(result.status == 0, "\(result.errorText)")
  }

  private static let dwp = Toolbox.named("dwp")
  private static let llvmDwp = Toolbox.newest("llvm-dwp")

  @Test(
    "A package of split files has what the files have, beside the program or in a folder that is named",
    .enabled(if: dwp != nil, "dwp is not installed"))
  func package() throws {
    let folder = try TemporaryFolder()
    try Self.make("-gdwarf-4 -gsplit-dwarf", in: folder)
    try Self.comparePackage("'\(Self.dwp!)' -e prog -o prog.dwp", in: folder)
  }

  @Test(
    "A package of DWARF 5 too",
    .enabled(if: llvmDwp != nil && Toolbox.clangxx != nil, "clang++ or llvm-dwp is not installed"))
  func package5() throws {
    let folder = try TemporaryFolder()
    try Self.make("-gdwarf-5 -gsplit-dwarf", compiler: Toolbox.clangxx, in: folder)
    try Self.comparePackage("'\(Self.llvmDwp!)' -e prog -o prog.dwp", in: folder)
  }

  private static func comparePackage(_ command: String, in folder: TemporaryFolder) throws {
    let addresses = try addresses(in: folder)
    let expected = try answers("build/prog", at: addresses, in: folder)
    #expect(expected.contains("main.cc:"))
    try run("cd build && \(command) && rm *.dwo", in: folder)
    #expect(try answers("build/prog", at: addresses, in: folder) == expected)
    try run("mkdir other && mv build/prog.dwp other", in: folder)
    #expect(try answers("build/prog", "--symbols other", at: addresses, in: folder) == expected)
    try run("mv other/prog.dwp other/renamed.dwp", in: folder)
    #expect(try answers("build/prog", "--symbols other/renamed.dwp", at: addresses, in: folder) == expected)
    let missing = try Tool.shell("crashpadctl symbols lookup build/prog < addresses", in: folder)
    #expect(missing.errorText.contains("split"), "\(missing.errorText)")
  }

  @Test("Split files are found in a folder that is named", arguments: Soak.some(1, of: [4, 5]))
  func splitElsewhere(version: Int) throws {
    let folder = try TemporaryFolder()
    try Self.make("-gdwarf-\(version) -gsplit-dwarf", in: folder)
    let addresses = try Self.addresses(in: folder)
    let expected = try Self.answers("build/prog", at: addresses, in: folder)
    try Self.run("mkdir split && mv build/*.dwo split", in: folder)
    #expect(try Self.answers("build/prog", "--symbols split", at: addresses, in: folder) == expected)
  }

  @Test(
    "Split units may stay in the object files", .enabled(if: Toolbox.clangxx != nil, "clang++ is not installed"))
  func single() throws {
    let folder = try TemporaryFolder()
    try Self.make("-gdwarf-5 -gsplit-dwarf=single", compiler: Toolbox.clangxx, in: folder)
    let addresses = try Self.addresses(in: folder)
    let single = try Self.answers("build/prog", at: addresses, in: folder)
    try Self.make("-gdwarf-5", compiler: Toolbox.clangxx, in: folder)
    #expect(try Self.answers("build/prog", at: addresses, in: folder) == single)
  }

  @Test(
    "Sections compressed by zlib, in both forms, or by zstd", arguments: Soak.some(1, of: ["zlib", "zlib-gnu", "zstd"]))
  func compressed(method: String) throws {
    let folder = try TemporaryFolder()
    try Self.make("-gdwarf-5", in: folder)
    let addresses = try Self.addresses(in: folder)
    let expected = try Self.answers("build/prog", at: addresses, in: folder)
    let command = "objcopy --compress-debug-sections=\(method) build/prog build/small"
    guard try Tool.shell(command, in: folder).status == 0 else {
      try Test.cancel("objcopy here does not know \(method)")
    }
    try Self.run("test $(stat -c %s build/small) -lt $(stat -c %s build/prog)", in: folder)
    #expect(try Self.answers("build/small", at: addresses, in: folder) == expected)
  }

  @Test("DWARF 2 gives a unit one range, which leaves out what is in sections of its own")
  func dwarf2() throws {
    let folder = try TemporaryFolder()
    try Self.make("-gdwarf-3 -gstrict-dwarf", in: folder)
    let addresses = try Self.addresses(in: folder)
    let new = try Self.answers("build/prog", at: addresses, in: folder)
    try Self.make("-gdwarf-2 -gstrict-dwarf", in: folder)
    let old = try Self.answers("build/prog", at: addresses, in: folder)
    // The function that was compiled, and the place: of calls in several parts DWARF 2 has the first part alone.
    func ends(_ answers: String) -> [String] {
      answers.components(separatedBy: "\n\n").map { $0.split(separator: "\n") }
        .map { "\($0.dropLast().last ?? "") \($0.dropFirst().first ?? "")" }
    }
    let differing = zip(ends(old), ends(new)).filter { $0 != $1 }
    #expect(ends(old).count == ends(new).count)
    #expect(differing.isEmpty, "\(differing.count): \(differing.prefix(3))")
  }

  @Test(
    "Debug information that dwz moved to a shared file is read there, and a missing file is reported",
    .enabled(if: Toolbox.named("dwz") != nil, "dwz is not installed"))
  func shared() throws {
    let folder = try TemporaryFolder()
    try Self.make("-gdwarf-4", in: folder)
    let addresses = try Self.addresses(in: folder)
    let expected = try Self.answers("build/prog", at: addresses, in: folder)
    try Self.run("cp build/prog build/other; dwz -m build/common -M common build/prog build/other", in: folder)
    #expect(try Self.answers("build/prog", at: addresses, in: folder) == expected)
    let info = try Tool.shell("crashpadctl symbols info build/prog", in: folder)
    #expect(info.text.contains("\nShared with  common, found\n"))
    try Self.run("rm build/common", in: folder)
    let lookup = try Tool.shell("crashpadctl symbols lookup build/prog < addresses", in: folder)
    #expect(lookup.errorText.contains("[shared-dwarf-missing]"), "\(lookup.errorText)")
    let without = try Tool.shell("crashpadctl symbols info build/prog", in: folder)
    #expect(without.text.contains("\nShared with  common, not found\n"))
  }

  @Test("A label inside of a function is not taken for one, unless it is in none")
  func labels() throws {
    let folder = try TemporaryFolder()
    let source = """
      .text
      .globl outer
      .type outer, @function
      outer: nop; nop
      inner: nop; nop
      second: nop
      .size outer, . - outer
      behind: nop; nop
      """
    try folder.write(Array((source + "\n").utf8), to: "a.s")
    try Self.run("'\(try #require(Toolbox.gxx))' -shared -nostdlib a.s -o prog", in: folder)
    let symbols = try Tool.shell("'\(try #require(Toolbox.nm))' prog", in: folder).outputLines
    let start = try #require(symbols.first { $0.hasSuffix(" outer") }?.split(separator: " ").first)
    let outer = try #require(UInt64(start, radix: 16))
    let names = try (0..<7 as Range<UInt64>).map { offset in
      let address = String(outer + offset, radix: 16)
      let result = try Tool.shell("crashpadctl symbols lookup prog 0x\(address)", in: folder)
      return ["outer", "inner", "second", "behind"].first { result.text.contains($0) }
    }
    #expect(names == Array(repeating: "outer", count: 5) + ["behind", "behind"])
  }

  @Test("An object file has the lines and the inlined calls of its code")
  func object() throws {
    let folder = try TemporaryFolder()
    try Self.make("-gdwarf-5", in: folder)
    let nm = try #require(Toolbox.nm)
    let symbols = try Tool.shell("'\(nm)' -P -S --defined-only build/main.o", in: folder).outputLines
    func fields(_ name: String, _ lines: [Substring]) -> [UInt64] {
      for line in lines {
        let fields: [Substring] = line.split(separator: " ")
        guard fields.count == 4, fields[0] == name, ["t", "T"].contains(fields[1]) else { continue }
        return fields[2...].compactMap { UInt64($0, radix: 16) }
      }
      return []
    }
    let linked = try Tool.shell("'\(nm)' -P -S --defined-only build/prog", in: folder).outputLines
    var compared = 0
    for name in symbols.compactMap({ $0.split(separator: " ").first.map(String.init) }) {
      let (own, other) = (fields(name, symbols), fields(name, linked))
      // The addresses of `.text` itself; `main` and cold code have sections of their own.
      guard own.count == 2, other.count == 2, name != "main", !name.contains(".cold"), !name.hasPrefix("_GLOBAL__")
      else { continue }
      let distances = stride(from: 0, to: own[1], by: 7)
      let mine = try Self.answers("build/main.o", at: distances.map { own[0] + $0 }, in: folder)
      #expect(try mine == Self.answers("build/prog", at: distances.map { other[0] + $0 }, in: folder), "\(name)")
      compared += 1
    }
    #expect(compared > 2)
  }
}
