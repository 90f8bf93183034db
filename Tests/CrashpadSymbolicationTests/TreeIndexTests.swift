// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadSnapshot
import DumpSynth
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadSymbolication

/// The index of a tree of symbol files, beside a search without one.
@Suite("Indexes of trees")
struct TreeIndexTests {
  private static func id(_ number: Int) -> DebugID {
    DebugID(uuid: UUIDBytes(high: 0x1122_3344_0000_0000 | UInt64(number), low: 0x99aa_bbcc_ddee_ff00))
  }

  private static func sym(_ number: Int) -> [UInt8] {
    Array("MODULE mac arm64 \(id(number).text) M\(number)\nFUNC 100 20 0 main\n".utf8)
  }

  private static func dSYM(_ number: Int) -> [UInt8] {
    var file = MachOSynth()
    file.kind = 10
    file.uuid = uuid(number)
    return file.bytes()
  }

  private static func uuid(_ number: Int) -> [UInt8] {
    [id(number).uuid.high, id(number).uuid.low].flatMap { half in
      (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) }
    }
  }

  /// A tree with files of each kind, and the store of its index.
  private struct Tree {
    let folder: TemporaryFolder
    var root: FilePath { folder.path.appending("tree") }
    var store: IndexStore {
      var store = IndexStore(folder.path.appending("store"))
      store.thresholds.entries = 1
      store.thresholds.age = 0
      return store
    }

    init() throws {
      folder = try TemporaryFolder()
      try folder.write(sym(0), to: "tree/a/zero.txt")
      try folder.write(sym(1), to: "tree/a/deep/er/.hidden")
      try folder.write(sym(2), to: "tree/M2/\(id(2).text)/M2.sym")
      try folder.write(sym(3), to: "tree/M3/\(id(3).text)/other.txt")
      try folder.write(dSYM(4), to: "tree/A.xcarchive/dSYMs/Four.app.dSYM/Contents/Resources/DWARF/Four")
      try folder.write(dSYM(5), to: "tree/A.xcarchive/dSYMs/Flat.dSYM/Five")
      try folder.write(sym(6), to: "elsewhere")
      try folder.write(sym(7), to: "elsewhere7")
      try folder.write(Array("no symbols".utf8), to: "tree/readme")
      // A build id, which is no id of a symbol file.
      try folder.write(sym(11), to: "tree/M11/\(String(repeating: "ab", count: 20))/M11.sym")
      var library = MachOSynth()
      library.uuid = TreeIndexTests.uuid(10)
      try folder.write(library.bytes(), to: "tree/iPhone14,5 18.1 (22B83)/Symbols/usr/lib/system/libx.dylib")
      for (name, target) in [("link", "elsewhere"), ("dangling", "nothing")] {
        try FileManager.default.createSymbolicLink(
          atPath: folder.url("tree/\(name)").path, withDestinationPath: folder.url(target).path)
      }
    }

    func found(_ store: IndexStore?) -> [[FilePath]] {
      let search = SymbolSearch(paths: [root], looksInSystem: false, indexes: store)
      return (0..<12).map { number in
        search.find(ModuleIdentity(path: "/none", debugID: id(number))).files.map(\.path)
      }
    }

    /// Changes with the same time as a look before them can't be recognized: the file system's clock ticks each few milliseconds.
    static func wait() { usleep(30_000) }

    var isKept: Bool { TreeIndex.current(root, in: store, .whole) != nil }
  }

  @Test("Each file that a search finds is found by the index, and no other")
  func sameFiles() throws {
    let tree = try Tree()
    let plain = tree.found(nil)
    #expect(plain.map(\.count) == [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1])
    Tree.wait()
    #expect(tree.found(tree.store) == plain)
    #expect(tree.isKept)
    #expect(tree.found(tree.store) == plain)
  }

  private static let changes: [(name: String, change: @Sendable (TemporaryFolder) throws -> Void)] = [
    ("a new file", { try $0.write(sym(8), to: "tree/a/eight") }),
    ("a new directory", { try $0.write(sym(8), to: "tree/a/new/eight") }),
    ("a file removed", { try FileManager.default.removeItem(at: $0.url("tree/a/zero.txt")) }),
    ("a file renamed", { try FileManager.default.moveItem(at: $0.url("tree/a/zero.txt"), to: $0.url("tree/zero")) }),
    (
      "another build in place",
      { folder in
        let file = try FileHandle(forWritingTo: folder.url("tree/a/zero.txt"))
        try file.write(contentsOf: Data(sym(9)))
        try file.close()
      }
    ),
    (
      "another build in a bundle",
      { try overwrite("tree/A.xcarchive/dSYMs/Four.app.dSYM/Contents/Resources/DWARF/Four", $0) }
    ),
    (
      "a second file in a bundle",
      { try $0.write(dSYM(8), to: "tree/A.xcarchive/dSYMs/Four.app.dSYM/Contents/Resources/DWARF/Eight") }
    ),
    (
      "another directory in a bundle",
      { folder in
        let bundle = folder.url("tree/A.xcarchive/dSYMs/Four.app.dSYM")
        try FileManager.default.moveItem(at: bundle.appending(path: "Contents"), to: folder.url("old"))
        try folder.write(dSYM(8), to: "tree/A.xcarchive/dSYMs/Four.app.dSYM/Contents/Resources/DWARF/Four")
      }
    ),
    ("a new bundle", { try $0.write(dSYM(8), to: "tree/A.xcarchive/dSYMs/B.dSYM/Contents/Resources/DWARF/B") }),
    (
      "no file in a directory with an id",
      { try FileManager.default.removeItem(at: $0.url("tree/M3/\(id(3).text)/other.txt")) }
    ),
    ("a new directory with an id", { try $0.write(sym(8), to: "tree/M8/\(id(8).text)/M8.sym") }),
    (
      "another target of a link",
      { folder in
        try FileManager.default.removeItem(at: folder.url("tree/link"))
        try FileManager.default.createSymbolicLink(
          atPath: folder.url("tree/link").path, withDestinationPath: folder.url("elsewhere7").path)
      }
    ),
    ("another file at the target of a link", { try $0.write(sym(8), to: "elsewhere") }),
    ("a target for a link that had none", { try $0.write(sym(8), to: "nothing") }),
    ("a symbol file in place of another one", { try $0.write(sym(8), to: "tree/readme") }),
  ]

  private static func overwrite(_ name: String, _ folder: TemporaryFolder) throws {
    let file = try FileHandle(forWritingTo: folder.url(name))
    try file.write(contentsOf: Data(dSYM(8)))
    try file.close()
  }

  @Test("A change in the tree is seen", arguments: changes.indices)
  func change(_ number: Int) throws {
    let tree = try Tree()
    Tree.wait()
    let before = tree.found(tree.store)
    try #require(tree.isKept)
    Tree.wait()
    try Self.changes[number].change(tree.folder)
    let plain = tree.found(nil)
    #expect(plain != before, "\(Self.changes[number].name)")
    #expect(tree.found(tree.store) == plain, "\(Self.changes[number].name)")
    Tree.wait()
    #expect(tree.found(tree.store) == plain, "\(Self.changes[number].name)")
  }

  @Test("A damaged or foreign index is made anew")
  func damage() throws {
    let tree = try Tree()
    Tree.wait()
    let plain = tree.found(tree.store)
    let real = try #require(realPath(tree.root))
    let place = tree.store.place(.trees, of: real)
    let whole = try Data(contentsOf: URL(fileURLWithPath: place.string))
    var damaged: [Data] = [
      Data(), whole.dropLast(), whole + [0], Data(whole.prefix(48)), Data(repeating: 0, count: 900),
    ]
    for index in stride(from: 0, to: whole.count, by: 7) {
      var copy = whole
      copy[index] ^= 0x41
      damaged.append(copy)
    }
    for bytes in damaged {
      try bytes.write(to: URL(fileURLWithPath: place.string))
      #expect(!tree.isKept)
    }
    #expect(tree.found(tree.store) == plain)
    #expect(tree.isKept)
    // The index of another tree.
    let other = try Tree()
    Tree.wait()
    _ = other.found(other.store)
    let otherReal = try #require(realPath(other.root))
    try FileManager.default.removeItem(atPath: place.string)
    try FileManager.default.copyItem(atPath: other.store.place(.trees, of: otherReal).string, toPath: place.string)
    #expect(!tree.isKept)
    #expect(tree.found(tree.store) == plain)
  }

  @Test("An index with any numbers and paths leads to no file outside of the tree, and to no other crash")
  func hostile() throws {
    let tree = try Tree()
    Tree.wait()
    _ = tree.found(tree.store)
    let real = try #require(realPath(tree.root))
    let whole = [UInt8](
      try Data(contentsOf: URL(fileURLWithPath: tree.store.place(.trees, of: real).string)))
    var generator = Soak.random()
    for _ in 0..<Soak.times(40_000, or: 500) {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 16..<bytes.count, using: &generator)
        bytes[place] = [0, 1, 0x2e, 0x2f, 0x7f, 0xff, bytes[place] ^ 8].randomElement(using: &generator) ?? 0
      }
      guard let index = TreeIndex(InputFile(bytes: TreeIndex.sealed(Array(bytes[16...]))), tree.root, real) else {
        continue
      }
      let paths = (0..<12).flatMap { index.files(with: Self.id($0).uuid) + index.folders(with: Self.id($0).uuid) }
      #expect(
        (paths + index.unread).allSatisfy { $0.string.hasPrefix(tree.root.string + "/") && !$0.string.contains("/../") }
      )
      _ = index.isCurrent(.whole)
    }
  }

  @Test(
    "A directory that could not be read is not kept as an empty one",
    .enabled(if: Machine.hasSetpriv || !Machine.isRoot, "setpriv is not installed"))
  func unreadable() throws {
    let folder = try TemporaryFolder()
    for number in 0..<300 { try folder.write(Self.sym(number), to: "tree/m/\(number)") }
    try folder.write(Self.sym(400), to: "tree/closed/wanted")
    try folder.write(
      Array(
        "MODULE mac arm64 \(Self.id(400).text) M\n".utf8), to: "none.sym")
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.url("tree/closed").path)
    // Two runs at once, which make one index.
    let run = """
      mkdir -p cache && chmod 777 cache
      as-nobody sh -c 'XDG_CACHE_HOME=$PWD/cache; export XDG_CACHE_HOME
        for run in 1 2; do crashpadctl symbols index --prepare tree > /dev/null 2>&1 & done; wait'
      find cache -type f | wc -l
      """
    Thread.sleep(forTimeInterval: 3.2)
    let first = try Tool.shell(run, in: folder)
    #expect(first.text.hasSuffix("0\n"), "\(first.text)")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url("tree/closed").path)
    Thread.sleep(forTimeInterval: 3.2)
    let second = try Tool.shell(run, in: folder)
    #expect(second.text.hasSuffix("1\n"), "\(second.text)")
    // A cache that can't be written changes nothing but the time.
    let closed = """
      mkdir closed && chmod 555 closed; as-nobody sh -c 'XDG_CACHE_HOME=$PWD/closed crashpadctl symbols check \
      --no-system --symbols tree crash.idump'; rmdir closed
      """
    var parameters = SynthParameters(seed: 1)
    parameters.exception = .badAccess
    try folder.write(SynthDump(parameters).bytes, to: "crash.idump")
    let third = try Tool.shell(closed, in: folder)
    let expected = try Tool.shell(
      "crashpadctl symbols check --no-system --no-symbols-index --symbols tree crash.idump", in: folder)
    #expect(third.text == expected.text && third.errorText == expected.errorText, "\(third.text)\(third.errorText)")
  }
}
