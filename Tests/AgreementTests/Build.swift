// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// One program as one compiler makes it with one set of options.
struct Build: CustomTestStringConvertible {
  enum Language { case c, cxx, swift }
  let language: Language
  let compiler: String
  let options: String
  /// Commands that follow, with the program as `prog`.
  var after = ""

  var testDescription: String {
    let name = URL(fileURLWithPath: compiler).lastPathComponent
    return "\(name) \(options)\(after.isEmpty ? "" : "; ")\(after)"
  }

  /// Compiles into the folder, as `build/prog`. The sources are in a directory beside, so that the names that the
  /// compiler is given are relative, with `..` in them.
  func make(in folder: TemporaryFolder) throws {
    let quoted = "'\(compiler)'"
    let command: String
    switch language {
    case .c:
      try folder.write(Array(Programs.cHeader.utf8), to: "source/program.h")
      try folder.write(Array(Programs.cLibrary.utf8), to: "source/library.c")
      try folder.write(Array(Programs.cMain.utf8), to: "source/main.c")
      command = """
        for f in main library; do \(quoted) \(options) -c ../source/$f.c -o $f.o || exit 1; done
        \(quoted) \(options) main.o library.o -o prog
        """
    case .cxx:
      try folder.write(Array(Programs.cxx.utf8), to: "source/main.cc")
      command = """
        \(quoted) -std=c++17 \(options) -c ../source/main.cc -o main.o || exit 1
        \(quoted) \(options) main.o -o prog
        """
    case .swift:
      try folder.write(Array(Programs.swift.utf8), to: "source/program.swift")
      command = """
        \(quoted) -parse-as-library -module-name Program -module-cache-path cache -g \(options) \
        ../source/program.swift -o prog
        """
    }
    let result = try Tool.shell("mkdir -p build && cd build || exit 1\n\(command) || exit 1\n\(after)", in: folder)
    try #require(result.status == 0, "\(testDescription): \(result.errorText)")
  }

  /// Warnings of one compiler are not another's.
  static let warnings = "-w"

  /// C and C++, by gcc and clang, from -O0 to -O2, DWARF 4 and 5, and the ways to link and to store.
  static let compiled: [Build] = Soak.some(5, of: allCompiled)

  private static let allCompiled: [Build] = {
    var builds: [Build] = []
    for (language, compiler, isClang) in [
      (Language.c, Toolbox.gcc, false), (.c, Toolbox.clang, true), (.cxx, Toolbox.gxx, false),
      (.cxx, Toolbox.clangxx, true),
    ] {
      guard let compiler else { continue }
      var options = ["-O0", "-O1", "-O2"].flatMap { level in ["-gdwarf-4", "-gdwarf-5"].map { "\(level) \($0)" } }
      options += ["-O2 -gdwarf-5 -gsplit-dwarf", "-O2 -gdwarf-5 -fdebug-types-section"]
      if !isClang { options.append("-O2 -gdwarf-5 -flto") }
      if isClang, Toolbox.lld != nil { options.append("-O2 -gdwarf-5 -flto -fuse-ld=lld") }
      // C compiles in no time.
      if language == .c {
        options += [
          "-O2 -gdwarf-4 -gsplit-dwarf", "-O2 -gdwarf-5 -gz=zlib", "-O2 -gdwarf-5 -fno-pie -no-pie",
          "-O2 -gdwarf-5 -ffunction-sections -Wl,--gc-sections", "-O2 -gdwarf-5 -static", "-O2 -g1",
        ]
        if isClang, Toolbox.lld != nil { options.append("-O2 -gdwarf-5 -fuse-ld=lld") }
      }
      builds += options.map { Build(language: language, compiler: compiler, options: "\(warnings) \($0)") }
    }
    return builds
  }()

  static let swift: [Build] =
    Toolbox.swiftc.map { compiler in
      ["-Onone", "-O", "-O -dwarf-version=4", "-Osize -dwarf-version=5"].map {
        Build(language: .swift, compiler: compiler, options: $0)
      }
    } ?? []
}

/// A symbol of a function, by `nm`.
struct FunctionSymbol {
  let name: String
  let range: Range<UInt64>

  /// The symbols of a file in the folder, in order of address.
  static func all(_ file: String, in folder: TemporaryFolder) throws -> [FunctionSymbol] {
    let nm = try #require(Toolbox.nm)
    let result = try Tool.shell("'\(nm)' -P -S --defined-only '\(file)'", in: folder)
    return result.outputLines.compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count == 4, "TtWwi".contains(fields[1]), let start = UInt64(fields[2], radix: 16),
        let size = UInt64(fields[3], radix: 16), size > 0
      else { return nil }
      return FunctionSymbol(name: String(fields[0]), range: start..<(start + size))
    }.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }
}

extension [FunctionSymbol] {
  /// Addresses spread evenly over the bytes of the functions.
  func addresses(_ count: Int, _ random: inout SplitMix64) -> [UInt64] {
    var ends: [UInt64: UInt64] = [:]
    for symbol in self { ends[symbol.range.lowerBound] = symbol.range.upperBound }
    let bytes = ends.sorted { $0.key < $1.key }.flatMap { $0.key..<$0.value }
    guard !bytes.isEmpty else { return [] }
    return (0..<count).map { _ in bytes[random.below(bytes.count)] }
  }

  /// The names of all that cover an address.
  func names(at address: UInt64) -> Set<String> { Set(filter { $0.range.contains(address) }.map(\.name)) }
}
