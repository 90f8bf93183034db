// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import CrashpadFiles
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadSymbolication

/// The index of a file with debug information, beside the file read without one.
@Suite("Indexes of files")
struct FileIndexTests {
  private static let hasCompiler = (try? Tool.shell("cc --version && c++ --version", in: TemporaryFolder()).status) == 0
  private static let noCompiler = "cc or c++ is not installed"

  private static let first = """
    namespace shop {
    struct Cart { int items[4]; int total() const; };
    static inline __attribute__((always_inline)) int price(int item) { return item > 3 ? item * 5 : item + 1; }
    __attribute__((noinline)) int Cart::total() const { int sum = 0; for (int item : items) sum += price(item); return sum; }
    }
    extern "C" int second(int);
    __attribute__((noinline)) int first(int a) { shop::Cart cart{{a, a, 1, 2}}; return cart.total() + second(a); }
    int main(int count, char **) { return first(count); }
    """
  private static let second = """
    static int part(int a) { volatile int b = a; return b + 3; }
    int (*call)(int) = part;
    int second(int a) { return call(a) * part(a + 1); }
    """

  private static let builds = [
    "-g -O2", "-g -O2 -gz", "-g -O1 -gdwarf-4 -gz", "-g -gdwarf-2 -gstrict-dwarf -O2", "-g -O2 -gz -gsplit-dwarf",
    "-g -O2 -ffunction-sections -gz=zlib-gnu", "-g1 -O2", "-g -r -gz -nostdlib",
  ]

  private struct Sample {
    let folder: TemporaryFolder
    var file: FilePath { folder.path.appending("app") }
    var store: IndexStore {
      var store = IndexStore(folder.path.appending("store"))
      store.thresholds.fileSize = 0
      store.thresholds.information = 1
      store.thresholds.age = 0
      return store
    }

    init(_ options: String) throws {
      folder = try TemporaryFolder()
      try folder.write(Array(first.utf8), to: "first.cc")
      try folder.write(Array(second.utf8), to: "second.c")
      let build = """
        cc \(options.replacingOccurrences(of: "-r ", with: "")) -c second.c && \
        c++ \(options.replacingOccurrences(of: "-r ", with: "")) -c first.cc && \
        c++ \(options) first.o second.o -o app -Wl,--build-id
        """
      let made = try Tool.shell(build, in: folder)
      try #require(made.status == 0, "\(made.errorText)")
      usleep(30_000)
    }

    /// All that is known about each address of the code.
    func answers(_ store: IndexStore?) throws -> [String] {
      let symbols = try FileSymbols(file, indexes: store)
      let places = Array(0..<0x400).map { UInt64($0) } + stride(from: 0x400, to: 0x3000, by: 3)
      var answers = places.map { place in
        "\(String(describing: symbols.symbols.symbolize(place))) \(symbols.symbols.callPath(returningTo: place, to: nil, at: nil))"
          + " \(String(describing: symbols.symbols.functionAddress(place))) \(symbols.symbols.isInFunction(place))"
      }
      answers.append("\(symbols.symbols.findings.map { "\($0)" })")
      try symbols.checkReading()
      return answers
    }

    /// The index as it is used.
    var index: FileIndex? { get throws { try ElfFile(file, SymbolInputs(indexes: store)).index } }

    var place: FilePath { get throws { store.place(.files, of: try #require(realPath(file))) } }
  }

  @Test(
    "Each address has the same answers with the index as without it", .enabled(if: hasCompiler, "\(noCompiler)"),
    arguments: builds)
  func sameAnswers(_ options: String) throws {
    let sample = try Sample(options)
    let plain = try sample.answers(nil)
    #expect(plain.contains { $0.contains("second.c") })
    #expect(try sample.index == nil)
    #expect(try sample.answers(sample.store) == plain)
    let index = try #require(try sample.index)
    #expect(index.part("units") != nil)
    #expect((index.part(".debug_info") != nil) == options.contains("-gz"))
    #expect(try sample.answers(sample.store) == plain)
  }

  private static let changes: [(name: String, change: @Sendable (FilePath, FilePath) throws -> Void)] = [
    ("the file got another time", { file, _ in try change(file) { _ in } }),
    ("the index is cut", { _, index in try change(index) { $0.removeLast(5000) } }),
    ("the index is longer", { _, index in try change(index) { $0.append(contentsOf: [1, 2, 3]) } }),
    ("the index is empty", { _, index in try change(index) { $0 = Data() } }),
    ("the index is text", { _, index in try change(index) { $0 = Data("index".utf8) } }),
    ("a byte of the header differs", { _, index in try change(index) { $0[40] ^= 1 } }),
    ("a byte far behind differs", { _, index in try change(index) { $0[$0.count - 9] ^= 1 } }),
    (
      "the index is a directory",
      { _, index in
        try FileManager.default.removeItem(atPath: index.string)
        try FileManager.default.createDirectory(atPath: index.string, withIntermediateDirectories: false)
      }
    ),
  ]

  private static func change(_ path: FilePath, _ body: (inout Data) -> Void) throws {
    let url = URL(fileURLWithPath: path.string)
    var data = try Data(contentsOf: url)
    body(&data)
    try data.write(to: url)
  }

  @Test(
    "An index that is damaged, or of the file as it was, is made anew", .enabled(if: hasCompiler, "\(noCompiler)"),
    arguments: changes.indices)
  func change(_ number: Int) throws {
    let sample = try Sample("-g -O2 -gz")
    let plain = try sample.answers(sample.store)
    try #require(try sample.index != nil)
    usleep(30_000)
    try Self.changes[number].change(sample.file, sample.place)
    #expect(try sample.index == nil, "\(Self.changes[number].name)")
    usleep(30_000)
    #expect(try sample.answers(sample.store) == plain, "\(Self.changes[number].name)")
    #expect(try sample.answers(sample.store) == plain, "\(Self.changes[number].name)")
  }

  @Test("An index counts after a restart only if it was on the disk", .enabled(if: hasCompiler, "\(noCompiler)"))
  func restart() throws {
    let sample = try Sample("-g -O2 -gz")
    func index(_ bytes: [UInt8]) throws -> FileIndex? {
      let file = try ElfFile(sample.file, SymbolInputs(indexes: sample.store))
      let modified = try FileStatus(at: sample.place, followingLink: false).identity.modified
      return FileIndex(InputFile(bytes: bytes), of: try #require(file.indexed), modified: modified)
    }
    func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: sample.place.string))) }
    _ = try sample.answers(sample.store)
    var own = try bytes()
    #expect(try index(own) != nil)
    own[70] ^= 0x55
    #expect(try index(FileIndex.sealed(own)) == nil)
    var preparation = IndexPreparation(sample.store)
    #expect(preparation.prepare(file: sample.file))
    preparation = IndexPreparation(sample.store)
    let durable = try bytes()
    #expect(durable[64..<80].allSatisfy { $0 == 0 })
    #expect(try index(durable) != nil)
  }

  @Test("Parts with any content lead to no crash", .enabled(if: hasCompiler, "\(noCompiler)"))
  func hostile() throws {
    let sample = try Sample("-g -O2 -gz")
    let plain = try sample.answers(sample.store)
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: sample.place.string)))
    let file = try ElfFile(sample.file, SymbolInputs(indexes: sample.store))
    let indexed = try #require(file.indexed)
    let names = ["units", "ranges", "symbols", ".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists"]
    let parts = names.compactMap { name in file.index?.part(name).map { (name, $0.withBytes { $0.array() }) } }
    try #require(parts.count > 4 && whole.count > 4096)
    var generator = Soak.random()
    for _ in 0..<Soak.times(20_000, or: 60) {
      let changed = parts.map { name, bytes in
        var bytes = bytes
        for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
          let place = Int.random(in: 0..<bytes.count, using: &generator)
          bytes[place] = [0, 1, 0x7f, 0x80, 0xff, bytes[place] ^ 4].randomElement(using: &generator) ?? 0
        }
        if Int.random(in: 0..<8, using: &generator) == 0 {
          bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
        }
        return IndexPart(name: name, bytes: SharedBytes(bytes))
      }
      #expect(FileIndex.keep(changed, of: indexed, in: sample.store))
      _ = try sample.answers(sample.store)
    }
    try FileManager.default.removeItem(atPath: sample.place.string)
    #expect(try sample.answers(sample.store) == plain)
  }
}
