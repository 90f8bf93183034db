// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Real binaries, random addresses, other programs. `CRASHPADCTL_SEED` repeats a run.
@Suite(
  "Agreement on compiled programs",
  .enabled(if: Toolbox.nm != nil && Toolbox.llvmSymbolizer != nil, "nm or llvm-symbolizer is not installed"))
struct AgreementTests {
  static let count = 2_000

  /// - Parameters:
  ///   - file: of the folder, that we are asked about.
  ///   - peers: what llvm-symbolizer is asked about.
  private func compareWithLLVM(
    _ file: String, _ peers: String, symbolsOf source: String, in folder: TemporaryFolder
  ) throws {
    var random = SplitMix64(seed: Toolbox.seed, area: 1)
    let symbols = try FunctionSymbol.all(source, in: folder)
    // Few addresses of a program that is linked statically are in its own code.
    let own = symbols.filter { $0.name == "main" }.addresses(20, &random)
    let addresses = symbols.addresses(Self.count - own.count, &random) + own
    try #require(addresses.count == Self.count)
    let ours = try Symbolizers.ours(file, addresses, in: folder)
    let llvm = try Symbolizers.llvm(peers, addresses, in: folder)
    var lines = 0
    var examples: [String] = []
    for (index, address) in addresses.enumerated() {
      if !ours[index].knowsNoFile { lines += 1 }
      if ours[index] == llvm[index] { continue }
      let names = symbols.names(at: address)
      if KnownDifference.fromLLVM(ours: ours[index], llvm: llvm[index], symbols: names) != nil { continue }
      examples.append("0x\(String(address, radix: 16))\n  ours \(ours[index])\n  llvm \(llvm[index])")
    }
    #expect(
      examples.isEmpty,
      "CRASHPADCTL_SEED=\(Toolbox.seed): \(examples.count) differ:\n\(examples.prefix(3).joined(separator: "\n"))"
    )
    // Two programs that know nothing agree too.
    #expect(lines > 0)
  }

  @Test(
    "C and C++ have llvm-symbolizer's functions, files, lines, columns and inlined calls", arguments: Build.compiled)
  func llvm(_ build: Build) throws {
    let folder = try TemporaryFolder()
    try build.make(in: folder)
    try compareWithLLVM("build/prog", "build/prog", symbolsOf: "build/prog", in: folder)
  }

  @Test(
    "Swift has them too", .enabled(if: !Build.swift.isEmpty, "swiftc is not installed"),
    arguments: Soak.some(2, of: Build.swift))
  func swift(_ build: Build) throws {
    let folder = try TemporaryFolder()
    try build.make(in: folder)
    try compareWithLLVM("build/prog", "build/prog", symbolsOf: "build/prog", in: folder)
  }

  private static let separated: [Build] = [(Build.Language.cxx, Toolbox.gxx), (.cxx, Toolbox.clangxx)].compactMap {
    language, compiler in
    guard let compiler, let objcopy = Toolbox.objcopy else { return nil }
    return Build(
      language: language, compiler: compiler, options: "\(Build.warnings) -O2 -g",
      after: """
        '\(objcopy)' --only-keep-debug prog prog.debug && '\(objcopy)' --strip-all prog stripped && \
        '\(objcopy)' --add-gnu-debuglink=prog.debug stripped
        """)
  }

  @Test("A file with the debug information alone has what the whole program has", arguments: separated)
  func debugFile(_ build: Build) throws {
    let folder = try TemporaryFolder()
    try build.make(in: folder)
    try compareWithLLVM("build/prog.debug", "build/stripped", symbolsOf: "build/prog", in: folder)
  }

  @Test(
    ".gnu_debugdata has the names that .symtab had",
    .enabled(
      if: Toolbox.gxx != nil && Toolbox.objcopy != nil && Toolbox.xz != nil, "g++, objcopy or xz is not installed"))
  func miniDebugInfo() throws {
    let folder = try TemporaryFolder()
    let objcopy = try #require(Toolbox.objcopy)
    let build = Build(
      language: .cxx, compiler: try #require(Toolbox.gxx), options: "\(Build.warnings) -O2 -g",
      after: """
        '\(objcopy)' --strip-debug prog symtab && '\(objcopy)' --strip-debug prog mini && \
        '\(try #require(Toolbox.xz))' mini && '\(objcopy)' --strip-all prog stripped && \
        '\(objcopy)' --add-section .gnu_debugdata=mini.xz stripped
        """)
    try build.make(in: folder)
    var random = SplitMix64(seed: Toolbox.seed, area: 2)
    let symbols = try FunctionSymbol.all("build/prog", in: folder)
    let addresses = symbols.addresses(Self.count, &random)
    let ours = try Symbolizers.ours("build/stripped", addresses, in: folder)
    for (address, chain) in zip(addresses, ours) {
      let name = chain.frames.last?.function ?? ""
      #expect(symbols.names(at: address).contains(name), "0x\(String(address, radix: 16)) \(chain)")
    }
    #expect(try Symbolizers.ours("build/symtab", addresses, in: folder) == ours)
  }

  /// eu-addr2line finds units by .debug_aranges alone, which clang does not write, and has no inlined calls of units that
  /// are split or optimised at link time.
  private static let forElfutils = ["-O0 -gdwarf-4", "-O1 -gdwarf-5", "-O2 -gdwarf-5"].flatMap { options in
    [(Build.Language.c, Toolbox.gcc), (.cxx, Toolbox.gxx)].compactMap { language, compiler in
      compiler.map { Build(language: language, compiler: $0, options: "\(Build.warnings) \(options)") }
    }
  }

  @Test(
    "gcc's programs have what eu-addr2line prints",
    .enabled(if: Toolbox.euAddr2line != nil && !forElfutils.isEmpty, "eu-addr2line or gcc is not installed"),
    arguments: Soak.some(3, of: forElfutils))
  func elfutils(_ build: Build) throws {
    let folder = try TemporaryFolder()
    try build.make(in: folder)
    var random = SplitMix64(seed: Toolbox.seed, area: 3)
    let symbols = try FunctionSymbol.all("build/prog", in: folder)
    // It needs milliseconds for each address of an optimised program in C++.
    let addresses = symbols.addresses(build.language == .c ? 1_000 : 300, &random)
    let ours = try Symbolizers.ours("build/prog", addresses, in: folder)
    let theirs = try Symbolizers.elfutils("build/prog", addresses, in: folder)
    let llvm = try Symbolizers.llvm("build/prog", addresses, in: folder)
    var known: [KnownDifference: Int] = [:]
    var examples: [String] = []
    for (index, address) in addresses.enumerated() where ours[index] != theirs[index] {
      let difference = KnownDifference.fromElfutils(
        ours: ours[index], elfutils: theirs[index], llvm: llvm[index], symbols: symbols.names(at: address))
      if let difference {
        known[difference, default: 0] += 1
      } else {
        examples.append(
          """
          0x\(String(address, radix: 16))
            ours \(ours[index])
            elfutils \(theirs[index])
            llvm \(llvm[index])
          """)
      }
    }
    #expect(
      examples.isEmpty,
      "CRASHPADCTL_SEED=\(Toolbox.seed): \(examples.count) differ:\n\(examples.prefix(3).joined(separator: "\n"))"
    )
    #expect(known[.elfutilsChain, default: 0] <= addresses.count / 20)
  }
}
