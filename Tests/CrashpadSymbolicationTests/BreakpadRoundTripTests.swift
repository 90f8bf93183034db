// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadFiles
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadSymbolication

@Suite("Symbol files that are written and read")
struct BreakpadRoundTripTests {
  private static let program = """
    #include <stdlib.h>
    #include <stdio.h>
    static inline __attribute__((always_inline)) int inner(int a) { return a * 3 + (int)strtol("7", 0, 10); }
    static inline __attribute__((always_inline)) int outer(int a) { int b = inner(a); return b + inner(b + 1); }
    __attribute__((noinline)) int many(int a, int b) {
      char text[64]; int sum = 0;
      for (int i = 0; i < b; i++) { sum += outer(i); if (sum > a) sum -= snprintf(text, 64, "%d", sum); }
      return sum;
    }
    int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
    int main(int count, char **arguments) {
      int list[16];
      for (int i = 0; i < 16; i++) list[i] = many(i, count + outer(i));
      qsort(list, 16, sizeof(int), compare);
      return list[0] == 12345;
    }
    """

  /// The installed ones of `cc` and `clang`, with some ways to call them.
  private static let compilers: [String] = {
    let all = [
      "cc -g -O0", "cc -g -O2", "cc -g -O2 -gdwarf-4", "cc -g -O1 -no-pie", "clang -g -O2", "clang -g -O1 -gdwarf-4",
    ]
    return all.filter { command in
      ["/usr/bin", "/opt/swift/usr/bin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(command.prefix { $0 != " " })")
      }
    }
  }()

  /// The files that are compared: the synthetic one is always there.
  private static func check(_ body: (String, FilePath, TemporaryFolder) throws -> Void) throws {
    let folder = try TemporaryFolder()
    try folder.write(SynthElf().bytes, to: "synthetic")
    try body("synthetic", FilePath(folder.url("synthetic").path), folder)
    try folder.write(Array(program.utf8), to: "program.c")
    for command in compilers {
      let result = try Tool.shell("PATH=$PATH:/opt/swift/usr/bin; \(command) program.c -o program", in: folder)
      // A compiler without a C library, or without one of the options.
      guard result.status == 0 else { continue }
      try body(command, FilePath(folder.url("program").path), folder)
    }
  }

  private static func sym(_ path: FilePath) throws -> BreakpadFile {
    let output = MemoryOutput()
    var options = BreakpadWriter.Options()
    options.demangles = false
    _ = try BreakpadWriter.write(BreakpadInput(path), options, to: output)
    return try BreakpadFile(InputFile(bytes: output.bytes))
  }

  @Test("Every address in a function has the names, files and lines that the ELF file itself gives")
  func names() throws {
    try Self.check { name, path, _ in
      let elf = try ElfSymbols(path)
      let sym = try Self.sym(path)
      #expect(sym.findings.isEmpty)
      var compared = 0
      for function in sym.functions {
        for address in function.address..<function.end {
          let expected = elf.symbolize(address)
          let found = sym.symbolize(address)
          #expect(Self.plain(found) == Self.plain(expected), "\(name) at 0x\(String(address, radix: 16))")
          compared += 1
        }
      }
      #expect(compared >= 0x60, "\(name)")
      for symbol in sym.publics {
        let expected = elf.symbolize(symbol.address)
        #expect(sym.symbolize(symbol.address)?.frames.map(\.function) == expected?.frames.map(\.function), "\(name)")
      }
    }
  }

  /// Without columns, which the format has not.
  private static func plain(_ address: SymbolizedAddress?) -> [String] {
    (address?.frames ?? []).map { frame in
      "\(frame.function ?? "??") \(frame.location?.file ?? "??"):\(frame.location?.line ?? 0)"
    }
  }

  @Test("Every address has the frame rules that the file itself gives")
  func frames() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix64(seed: seed)
    try Self.check { name, path, _ in
      let elf = try ElfSymbols(path)
      let sym = try Self.sym(path)
      let memory = UInt64.random(in: 0 ... .max, using: &random)
      func load(_ address: UInt64) -> UInt64? { address &* 0x9e37_79b9_7f4a_7c15 ^ memory }
      var compared = 0
      for entry in sym.frameRules {
        for address in entry.address..<entry.end {
          guard let expected = elf.frameRules(at: address, .x86_64) else {
            Issue.record("\(name): the file has nothing at 0x\(String(address, radix: 16))")
            continue
          }
          guard let found = sym.frameRules(at: address, .x86_64) else {
            Issue.record("\(name): no rules at 0x\(String(address, radix: 16))")
            continue
          }
          var registers = FrameRegisters(.x86_64)
          for number in 0...16 { registers[number] = random.next() }
          let place: Comment = "\(name) at 0x\(String(address, radix: 16)), seed \(seed)"
          let cfa = expected.frameAddress?.evaluate(registers, frameAddress: nil, load)
          #expect(found.frameAddress?.evaluate(registers, frameAddress: nil, load) == cfa, place)
          let caller = found.returnAddress?.evaluate(registers, frameAddress: cfa, load)
          if expected.isOutermost {
            #expect(caller == 0, place)
          } else {
            #expect(caller == expected.returnAddress?.evaluate(registers, frameAddress: cfa, load), place)
          }
          for number in FrameRegisters.Architecture.x86_64.preserved {
            let own = registers[number]
            let a = expected.registers[number].map { $0.evaluate(registers, frameAddress: cfa, load) } ?? own
            let b = found.registers[number].map { $0.evaluate(registers, frameAddress: cfa, load) } ?? own
            #expect(a == b, "register \(number), \(place)")
          }
          compared += 1
        }
      }
      #expect(compared >= 0x70, "\(name)")
    }
  }

  @Test("The same file gives the same bytes")
  func deterministic() throws {
    try Self.check { name, path, _ in
      func text() throws -> [UInt8] {
        let output = MemoryOutput()
        _ = try BreakpadWriter.write(BreakpadInput(path), .init(), to: output)
        return output.bytes
      }
      let first = try text()
      #expect(try text() == first, "\(name)")
    }
  }

  @Test("Damaged files end in fewer records, or in none, and never in a crash")
  func hostile() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix64(seed: seed)
    let folder = try TemporaryFolder()
    let whole = SynthElf().bytes
    var written = 0
    for _ in 0..<300 {
      var bytes = whole
      for _ in 0..<random.between(1, 8) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
      if random.oneIn(5) { bytes.removeLast(random.below(bytes.count)) }
      try folder.write(bytes, to: "app")
      guard let source = try? BreakpadInput(FilePath(folder.url("app").path)) else { continue }
      let output = MemoryOutput()
      _ = try BreakpadWriter.write(source, .init(), to: output)
      let sym = try BreakpadFile(InputFile(bytes: output.bytes))
      #expect(sym.findings.isEmpty, "seed \(seed)")
      for index in sym.functions.indices.dropFirst() {
        #expect(sym.functions[index - 1].end <= sym.functions[index].address, "seed \(seed)")
      }
      written += 1
    }
    #expect(written > 50, "seed \(seed)")
  }
}
