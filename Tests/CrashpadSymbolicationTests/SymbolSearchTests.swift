// SPDX-License-Identifier: Apache-2.0
import Foundation
import CrashpadBytes
import CrashpadSymbolication
import SystemPackage
import Testing
import ToolRunner

@Suite("SymbolSearch")
struct SymbolSearchTests {
  private static let id = "0011223344556677AABBCCDDEEFF00112"
  private static let otherID = "FFFF223344556677AABBCCDDEEFF00112"
  private static func sym(_ id: String = id, _ name: String = "App") -> String {
    "MODULE mac arm64 \(id) \(name)\nFUNC 100 20 0 main\n"
  }
  private static let identity = ModuleIdentity(path: "/private/var/App.app/App", debugID: DebugID(text: id))

  @Test(
    "Finds a symbol file in the layouts that people use",
    arguments: [
      "App/\(id)/App.sym", "App/\(id.lowercased())/App.sym", "App.sym", "deep/er/anything.txt", ".hidden/x",
      "00/11223344556677aabbccddeeff0011/breakpad", "0011/2233/4455/6677/AABB/CCDDEEFF0011",
    ])
  func layouts(_ place: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(place, Self.sym())
    let found = SymbolSearch(paths: [folder.path], looksInSystem: false).find(Self.identity)
    #expect(found.files.map(\.path) == [path])
    #expect(found.files.first?.isVerified == true)
    #expect(found.symbols.first?.symbolize(0x110)?.frames.first?.function == "main")
  }

  @Test(
    "A file whose path has another id is not opened",
    arguments: ["Other/\(otherID)/Other.sym", ".build-id/ff/ff223344556677aabbccddeeff0011.debug"])
  func pathWithID(_ place: String) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(place, Self.sym())
    #expect(SymbolSearch(paths: [folder.path], looksInSystem: false).find(Self.identity).files.isEmpty)
  }

  @Test("A folder with the name of an id is listed only for that id")
  func folderOfID() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("a/\(Self.otherID)/other.txt", Self.sym(Self.otherID, "Other"))
    let late = folder.work.appending(path: "b/\(Self.id)")
    try FileManager.default.createDirectory(at: late, withIntermediateDirectories: true)
    let search = SymbolSearch(paths: [folder.path], looksInSystem: false)
    #expect(
      search.find(ModuleIdentity(path: "/Other", debugID: DebugID(text: Self.otherID))).files.count == 1,
      "a name of its own in a folder of another name")
    // Had the folder been listed for the other id, this file would not be found.
    let path = try folder.write("b/\(Self.id)/x.sym", Self.sym())
    #expect(search.find(Self.identity).files.map(\.path) == [path])
    #expect(search.faults.findings.isEmpty)
  }

  @Test("A file that was named is used for its module only")
  func file() throws {
    let folder = try TemporaryFolder()
    let search = SymbolSearch(
      paths: [try folder.write("other", Self.sym(Self.otherID, "Other")), try folder.write("x", Self.sym())],
      looksInSystem: false)
    #expect(search.find(Self.identity).files.map { $0.path.lastComponent?.string } == ["x"])
    #expect(search.find(Self.identity).refused.isEmpty)
  }

  @Test("A file of another build is not used, and named with its id")
  func otherBuild() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("App/\(Self.id)/App.sym", Self.sym(Self.otherID))
    let found = SymbolSearch(paths: [folder.path], looksInSystem: false).find(Self.identity)
    #expect(found.files.isEmpty)
    #expect(found.refused.map(\.path) == [path])
    #expect(found.refused.first?.reason == .otherBuild(Self.otherID))
  }

  /// - Parameters:
  ///   - age: that of the file; the module has age 1.
  ///   - code: the code id of the file; the module has 5F00112233000.
  @Test(
    "The age of a PDB and the code id tell the builds of a module of Windows apart",
    arguments: [
      ("1", nil, true), ("0", nil, true), ("", nil, true), ("8", nil, false), ("11", nil, false),
      ("1", "5F00112233000", true), ("1", "5f00112233000", true), ("8", "5F00112233000", true),
      ("1", "5F00112334000", false), ("1", "5F00112233001", false), ("8", "5F00112334000", false),
      // Code ids of other systems say nothing of a module of Windows.
      ("1", "A0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3", true), ("8", "A0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3", false),
    ], [true, false])
  func age(_ file: (age: String, code: String?, isBuild: Bool), _ isFolder: Bool) throws {
    let digits = Self.id.prefix(32)
    let folder = try TemporaryFolder()
    let info = file.code.map { "INFO GENERATOR a writer\nINFO CODE_ID \($0) App.exe\n" } ?? ""
    let path = try folder.write(
      "any.sym", "MODULE windows x86_64 \(digits)\(file.age) App.pdb\n\(info)FUNC 100 20 0 main\n")
    let module = ModuleIdentity(
      path: "C:\\App.exe", debugName: "App.pdb", debugID: DebugID(text: digits + "1"), isOfWindows: true,
      codeID: WindowsCodeID(timestamp: 0x5f00_1122, size: 0x33000))
    let found = SymbolSearch(paths: [isFolder ? folder.path : path], looksInSystem: false).find(module)
    #expect(found.files.map(\.path) == (file.isBuild ? [path] : []))
    #expect(found.refused.map(\.path) == (file.isBuild ? [] : [path]))
    guard !file.isBuild else { return }
    let isCode = file.code?.count == 13
    let reason: SymbolRefusal.Reason =
      try isCode
      ? .otherCode(#require(file.code.flatMap { WindowsCodeID(text: $0) })) : .otherBuild(digits + file.age)
    #expect(found.refused.map(\.reason) == [reason])
  }

  @Test("A PDB of the format 2.00 has a time and an age", arguments: ["App.pdb/458B3F981/App.sym", "any.sym"])
  func oldPDB(_ place: String) throws {
    let folder = try TemporaryFolder()
    func found(_ time: UInt32, age: UInt32) -> SymbolMatches {
      let module = ModuleIdentity(
        path: "C:\\App.exe", debugName: "App.pdb", debugID: DebugID(oldPDB: time, age: age), isOfWindows: true)
      return SymbolSearch(paths: [folder.path], looksInSystem: false).find(module)
    }
    let path = try folder.write(place, "MODULE windows x86 458B3F981 App.pdb\nFUNC 100 20 0 main\n")
    #expect(found(0x458b_3f98, age: 1).files.map(\.path) == [path])
    #expect(found(0x458b_3f98, age: 2).files.isEmpty && found(0x458b_3f99, age: 1).files.isEmpty)
  }

  @Test("The ages of ids of other systems say nothing", arguments: ["0", "1", "2", ""])
  func ageElsewhere(_ age: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("any.sym", Self.sym(Self.id.prefix(32) + age))
    let found = SymbolSearch(paths: [folder.path], looksInSystem: false).find(Self.identity)
    #expect(found.files.map(\.path) == [path])
  }

  @Test(
    "A file at the place of an id that can't be used does not hide one elsewhere in the folder",
    arguments: [sym(otherID), "", "MODULE"], [true, false])
  func wrongPlace(_ text: String, _ isIndexed: Bool) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("tree/App/\(Self.id)/App.sym", text)
    let path = try folder.write("tree/z/other.txt", Self.sym())
    var store = IndexStore(folder.path.appending("indexes"))
    (store.thresholds.entries, store.thresholds.age) = (1, 0)
    for _ in 0..<2 {
      let search = SymbolSearch(
        paths: [folder.path.appending("tree")], looksInSystem: false, indexes: isIndexed ? store : nil)
      #expect(search.find(Self.identity).files.map(\.path) == [path])
    }
  }

  @Test("Records are found wherever their lines begin and end", arguments: 0..<18)
  func places(_ count: Int) throws {
    let folder = try TemporaryFolder()
    let blank = String(repeating: "\n", count: count)
    let line = String(repeating: "\u{8a}", count: count)
    for end in ["", "\n", "\r\n", "\n\n"] {
      let text = Self.sym() + blank + "FUNC 1000 10 0 a\n" + line + "\nPUBLIC 3000 0 b\n\(line)\nFUNC 5000 10 0 c\(end)"
      let path = try folder.write("x.sym", text)
      let symbols = try SymbolFiles.open(path)
      let names = [0x110, 0x1000, 0x3000, 0x5000].map { symbols.symbolize($0)?.frames.first?.function }
      #expect(names == ["main", "a", "b", "c"])
    }
  }

  @Test("A file with the mark of UTF-8 is read, and one in UTF-16 named")
  func marks() throws {
    let folder = try TemporaryFolder()
    try folder.write([0xef, 0xbb, 0xbf] + Array(Self.sym().utf8), to: "marked/x.sym")
    let marked = SymbolSearch(paths: [folder.path.appending("marked")], looksInSystem: false).find(Self.identity)
    #expect(marked.symbols.first?.symbolize(0x110)?.frames.first?.function == "main")
    try folder.write([0xff, 0xfe] + Self.sym().utf8.flatMap { [$0, 0] }, to: "wide/x.sym")
    let search = SymbolSearch(paths: [folder.path.appending("wide")], looksInSystem: false)
    #expect(search.find(Self.identity).files.isEmpty)
    // That it has none is not known of a folder with a file that can't be read.
    #expect(search.faults.findings.map { $0.file.lastComponent?.string } == ["x.sym"])
    #expect(search.faults.findings.map { "\($0.finding)".contains("UTF-16") } == [true])
  }

  @Test("A folder with PDBs alone says that they have to be converted", arguments: [true, false])
  func onlyPDBs(_ isIndexed: Bool) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("tree/Other.pdb", "Microsoft C/C++ MSF 7.00\r\n\u{1a}DS")
    var store = IndexStore(folder.path.appending("indexes"))
    (store.thresholds.entries, store.thresholds.age) = (1, 0)
    for _ in 0..<2 {
      let search = SymbolSearch(
        paths: [folder.path.appending("tree")], looksInSystem: false, indexes: isIndexed ? store : nil)
      #expect(search.find(Self.identity).files.isEmpty)
      #expect(search.faults.findings.map { $0.finding.rule.code } == ["no-symbol-files"])
      #expect(search.faults.findings.allSatisfy { "\($0.finding)".contains("dump_syms") })
    }
  }

  @Test("A file that is no symbol file is refused")
  func garbage() throws {
    let folder = try TemporaryFolder()
    try folder.write("App.sym", [0, 1, 2, 3])
    let found = SymbolSearch(paths: [folder.path], looksInSystem: false).find(Self.identity)
    #expect(found.refused.map(\.reason) == [.unknownFormat])
  }

  @Test("A module without an id takes a file by its path, unverified")
  func noIdentity() throws {
    let folder = try TemporaryFolder()
    try folder.write("App.sym", Self.sym())
    let module = ModuleIdentity(path: "/opt/App", debugID: nil)
    let found = SymbolSearch(paths: [folder.path], looksInSystem: false).find(module)
    #expect(found.files.first?.isVerified == false)
  }

  @Test("A module whose name leads out of the folder finds nothing there")
  func escape() throws {
    let folder = try TemporaryFolder()
    try folder.write("App.sym", Self.sym(Self.id, "App"))
    try FileManager.default.createDirectory(at: folder.work.appending(path: "in"), withIntermediateDirectories: true)
    for path in ["../App", "/../App", "/x/../../App"] {
      let search = SymbolSearch(paths: [folder.path.appending("in")], looksInSystem: false)
      #expect(search.find(ModuleIdentity(path: path, debugID: nil)).files.isEmpty)
    }
  }

  @Test("Symbols are looked for once for all dumps")
  func cache() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("App.sym", Self.sym())
    let cache = SymbolCache(SymbolSearch(paths: [folder.path], looksInSystem: false))
    let first = cache.symbols(for: Self.identity)
    try FileManager.default.removeItem(atPath: path.string)
    #expect(cache.symbols(for: Self.identity) === first)
    #expect(first.symbolize(0x110)?.frames.first?.name == "main")
  }

  @Test("Debug ids read and write as Breakpad has them")
  func debugIDs() {
    #expect(DebugID(text: Self.id)?.text == Self.id)
    #expect(DebugID(text: Self.id)?.age == 2)
    let buildID: [UInt8] = Array(0x10...0x23)
    #expect(DebugID(buildID: buildID)?.text == "13121110151417161819" + "1A1B1C1D1E1F0")
    #expect(DebugID(buildID: [1, 2])?.text == "00000201000000000000" + "0000000000000")
    let others = [String(repeating: "0", count: 31), String(repeating: "g", count: 33), "\(Self.id)00000000"]
    for text in ["", "0011"] + others {
      #expect(DebugID(text: text) == nil)
    }
    // As other writers have them.
    let uuid = DebugID(text: Self.id)?.uuid
    for (text, age) in [
      (Self.id.prefix(32).lowercased(), 0), ("00112233-4455-6677-AABB-CCDDEEFF0011", 0),
      ("00112233-4455-6677-aabb-ccddeeff0011-a", 10),
    ] {
      #expect(DebugID(text: text)?.uuid == uuid && DebugID(text: text)?.age == UInt32(age))
    }
  }

  @Test("The kernel's module, and one without an id, have no symbol file")
  func withoutSymbols() {
    let id = DebugID(text: Self.id)
    for name in ["linux-gate.so", "linux-vdso.so.1", "/x/[vdso]"] {
      #expect(ModuleIdentity(path: name, debugID: id, buildID: [1, 2]).symbolObstacle == .kernel)
    }
    #expect(ModuleIdentity(path: "/lib/libx.so", debugID: nil).symbolObstacle == .noID)
    #expect(ModuleIdentity(path: "/lib/libx.so", debugID: id).symbolObstacle == nil)
    #expect(ModuleIdentity(path: "/lib/libx.so", debugID: nil, buildID: [1, 2, 3]).symbolObstacle == nil)
  }

  @Test(
    "Links to files are followed, those that lead nowhere or in a circle are not", arguments: ["other.sym", "App.sym"])
  func links(_ name: String) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("elsewhere/real.txt", Self.sym())
    try FileManager.default.createDirectory(at: folder.url("syms"), withIntermediateDirectories: true)
    for (link, target) in [(name, "../elsewhere/real.txt"), ("broken", "nowhere"), ("circle", "circle"), ("up", "..")] {
      try FileManager.default.createSymbolicLink(atPath: folder.url("syms/\(link)").path, withDestinationPath: target)
    }
    let search = SymbolSearch(paths: [folder.path.appending("syms")], looksInSystem: false)
    #expect(search.find(Self.identity).symbols.first?.symbolize(0x110)?.frames.first?.function == "main")
    #expect(search.faults.findings.isEmpty)
  }

  @Test("A path without symbol files is a fault", arguments: [true, false])
  func nothing(_ isFolder: Bool) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("folder/notes.txt", "text")
    let path = isFolder ? file.removingLastComponent() : file
    let search = SymbolSearch(paths: [path], looksInSystem: false)
    _ = search.find(Self.identity)
    #expect(search.faults.findings.map(\.file) == [path])
    #expect(search.faults.findings.first?.finding.rule.code == (isFolder ? "no-symbol-files" : "unknown-symbol-format"))
  }
}
