// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// An executable and a dylib for iOS on arm64, each with its dSYM bundle, made without a Mac.
struct AppleBuild {
  let folder: TemporaryFolder
  let library: Image
  let app: Image

  static let clang = Toolbox.clangxx
  static let linker = Toolbox.newest("ld64.lld")
  static let dsymutil = Toolbox.newest("dsymutil")
  /// In the order of preference: 19, whose answers these tests were written against.
  static let symbolizer = Toolbox.named("llvm-symbolizer-19") ?? Toolbox.llvmSymbolizer

  /// Whether all of them are there, and clang knows the target; what there is to see only by trying.
  static let isPossible = symbolizer != nil && (try? AppleBuild(dwarf: 4)) != nil

  init(dwarf: Int, in folder: TemporaryFolder? = nil) throws {
    let folder = try folder ?? TemporaryFolder()
    let (clang, linker) = (try #require(Self.clang), try #require(Self.linker))
    let dsymutil = try #require(Self.dsymutil)
    for (name, text) in [
      ("libSystem.tbd", ApplePrograms.system), ("shop.h", ApplePrograms.header), ("shop.cc", ApplePrograms.library),
      ("main.cc", ApplePrograms.main),
    ] { try folder.write(Array(text.utf8), to: name) }
    let link = "'\(linker)' -arch arm64 -platform_version ios 14.0 17.0"
    let result = try Tool.shell(
      """
      set -e
      for f in shop main; do
        '\(clang)' -target arm64-apple-ios14.0 -g -gdwarf-\(dwarf) -O2 -fno-rtti -fno-exceptions -c $f.cc -o $f.o
      done
      \(link) -dylib -install_name @rpath/libshop.dylib -o libshop.dylib shop.o libSystem.tbd
      \(link) -o app main.o libshop.dylib libSystem.tbd
      mkdir dSYMs
      for f in libshop.dylib app; do '\(dsymutil)' $f -o dSYMs/$f.dSYM; done
      """, in: folder)
    try #require(result.status == 0, "\(result.errorText)")
    self.folder = folder
    library = try Image("libshop.dylib", in: folder)
    app = try Image("app", in: folder)
  }

  /// A Mach-O file, as far as the tests have to know it.
  struct Image {
    let name: String
    let uuid: [UInt8]
    /// The address of `__TEXT`, and its section with the code.
    let base: UInt64
    let code: Range<UInt64>
    let instructions: [UInt32]

    var bundle: String { "dSYMs/\(name).dSYM" }
    var companion: String { "\(bundle)/Contents/Resources/DWARF/\(name)" }
    var addresses: [UInt64] { Array(stride(from: code.lowerBound, to: code.upperBound, by: 4)) }

    init(_ name: String, in folder: TemporaryFolder) throws {
      let bytes = try folder.bytes(of: name)
      func word(_ offset: Int, _ width: Int = 4) -> UInt64 { bytes.little(at: offset, width: width) ?? 0 }
      func text(_ offset: Int) -> String {
        String(decoding: bytes[offset..<offset + 16].prefix { $0 != 0 }, as: UTF8.self)
      }
      var (uuid, base, found): ([UInt8], UInt64, (Range<UInt64>, Int)?) = ([], 0, nil)
      var command = 32
      for _ in 0..<word(16) {
        switch word(command) {
        case 0x1b: uuid = Array(bytes[command + 8..<command + 24])
        case 0x19 where text(command + 8) == "__TEXT":
          base = word(command + 24, 8)
          for section in (0..<Int(word(command + 64))).map({ command + 72 + 80 * $0 }) where text(section) == "__text" {
            let start = word(section + 32, 8)
            found = (start..<start + word(section + 40, 8), Int(word(section + 48)))
          }
        default: break
        }
        command += Int(word(command + 4))
      }
      let (code, offset) = try #require(found)
      try #require(uuid.count == 16 && !code.isEmpty)
      (self.name, self.uuid, self.base, self.code) = (name, uuid, base, code)
      instructions = (0..<code.count / 4).map { UInt32(word(offset + 4 * $0)) }
    }

    /// The calls (`bl`) and where they lead.
    var calls: [(address: UInt64, target: UInt64)] {
      zip(addresses, instructions).compactMap { address, instruction in
        guard instruction >> 26 == 0b100101 else { return nil }
        let words = Int64(Int32(bitPattern: instruction << 6) >> 6)
        return (address, address &+ UInt64(bitPattern: words * 4))
      }
    }

    /// The output of llvm-symbolizer for every instruction.
    func expected(in folder: TemporaryFolder) throws -> [UInt64: Chain] {
      let chains = try Symbolizers.llvm(companion, addresses, in: folder, program: AppleBuild.symbolizer)
      return Dictionary(uniqueKeysWithValues: zip(addresses, chains))
    }
  }

  /// A universal file: the dylib's debugging information for arm64, and the executable's, which calls itself x86_64.
  func writeUniversal(_ name: String) throws {
    let first = try folder.bytes(of: library.companion)
    var second = try folder.bytes(of: app.companion)
    second.overwrite(0x0100_0007, width: 4, at: 4)
    second.overwrite(3, width: 4, at: 8)
    func big(_ values: Int...) -> [UInt8] { values.flatMap { Bytes.of(UInt32($0).byteSwapped) } }
    let start = 0x4000 + (first.count + 0x3fff) & ~0x3fff
    var bytes = big(0xcafe_babe, 2)
    bytes += big(0x0100_0007, 3, start, second.count, 14) + big(0x0100_000c, 0, 0x4000, first.count, 14)
    bytes += [UInt8](repeating: 0, count: 0x4000 - bytes.count) + first
    bytes += [UInt8](repeating: 0, count: start - bytes.count) + second
    try folder.write(bytes, to: name)
  }
}
