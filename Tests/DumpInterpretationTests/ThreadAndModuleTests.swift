// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import CrashpadSnapshot
import Testing

@Suite("DumpInterpreter: threads and modules")
struct ThreadAndModuleTests {
  private func thread(_ part: @escaping SmallDump.Part) -> Interpreted {
    var dump = SmallDump()
    dump.threads = [part]
    return Interpreted(dump.bytes)
  }

  private func module(_ part: @escaping SmallDump.Part) -> Interpreted {
    var dump = SmallDump()
    dump.modules = { $0.mapInArray(part) }
    return Interpreted(dump.bytes)
  }

  // MARK: Threads

  @Test("A stack without an address lies at 0, with a finding if it has bytes")
  func stackWithoutAddress() throws {
    let result = thread { $0.property(.stackRegionData, [1, 2]) }
    #expect(
      result.regions(result.snapshot?.threads.compactMap { $0.stack?.region }) == [.init(address: 0, bytes: [1, 2])])
    #expect(result.codes == ["stack-without-address"])
    #expect(result.findings.first?.path == "kThreads[0].kStackRegionData")
    #expect(thread { $0.property(.stackRegionData, []) }.codes == [])
    #expect(thread { $0.property(.stackRegionAddress, uint64: 9) }.snapshot?.threads[0].stack == nil)
  }

  @Test("A thread without members is a thread all the same")
  func emptyThread() {
    var dump = SmallDump()
    dump.threads = [{ _ in }, { _ in }]
    let result = Interpreted(dump.bytes)
    #expect(result.snapshot?.threads.map(\.id) == [nil, nil])
    #expect(result.snapshot?.threads.map { $0.name == nil } == [true, true])
  }

  @Test("Regions need an address of eight bytes and data, and keep their order")
  func regions() {
    let result = thread {
      $0.array(.threadContextMemoryRegions) { regions in
        func region(_ address: [UInt8]?, _ data: [UInt8]?) {
          regions.mapInArray {
            if let data { $0.property(.threadContextMemoryRegionData, data) }
            if let address { $0.property(.threadContextMemoryRegionAddress, address) }
          }
        }
        region(Bytes.of(UInt64(0x900)), [1])
        region(Bytes.of(UInt64(0x800)), [2, 3])
        region(Bytes.of(UInt32(0x700)), [4])
        region(nil, [5])
        region(Bytes.of(UInt64(0x600)), nil)
        region(Bytes.of(UInt64(0x500)), [])
        region(Bytes.of(UInt64.max), [6])
        // Keys of another kind of region do not count.
        regions.mapInArray {
          $0.property(.moduleExtraMemoryRegionAddress, uint64: 1)
          $0.property(.moduleExtraMemoryRegionData, [7])
        }
      }
    }
    #expect(
      result.regions(result.snapshot?.extraMemory)
        == [.init(address: 0x900, bytes: [1]), .init(address: 0x800, bytes: [2, 3]), .init(address: .max, bytes: [6])])
  }

  @Test("A thread without usable registers has a finding at its place")
  func noRegisters() throws {
    var dump = SmallDump()
    dump.threads = [{ _ in }, { _ in }, { $0.property(.debugState, [1]) }]
    let result = Interpreted(dump.bytes)
    #expect(result.codes == ["no-registers"])
    let finding = try #require(result.findings.first)
    #expect(finding.path == "kThreads[2]")
    #expect(finding.offset == DumpRecords.walk(dump.bytes).records.last { $0.isInArray && $0.opens }?.start)
  }

  // MARK: Modules

  @Test(
    "Mach-O file types become the snapshot's", arguments: [(2, 0), (6, 1), (8, 2), (7, 3), (1, 4), (UInt32.max, 4)])
  func fileType(_ machO: UInt32, _ expected: Int) {
    let types: [ModuleSnapshot.FileType] = [.executable, .sharedLibrary, .loadableModule, .dynamicLoader, .other]
    let module = module {
      $0.property(.fileType, uint32: machO)
      $0.property(.dylibCurrentVersion, uint32: 0x1020304)
    }.snapshot?.modules.first
    #expect(module?.fileType == types[expected])
    #expect(module?.dylibVersion == (machO == 6 ? 0x1020304 : nil), "only a dylib has a version")
  }

  @Test("The debug name is the last part of the path, up to its first NUL")
  func debugName() {
    let cases: [(String, String)] = [
      ("/usr/lib/dyld", "dyld"), ("dyld", "dyld"), ("/usr/lib/", "lib"), ("/usr/lib///", "lib"), ("", ""), ("/", "/"),
      ("//", "//"),
      ("///", "/"), ("/a", "a"), ("a/", "a"), ("/usr/lib\u{0}/dyld", "lib"), ("\u{0}/usr", ""), ("//a", "a"),
      ("//\u{0}x", "//"),
      ("/usr/é", "é"),
    ]
    for (path, name) in cases {
      let result = module { $0.property(.name, path) }
      #expect(result.text(result.snapshot?.modules.first?.debugName) == name, "\(path)")
      #expect(result.text(result.snapshot?.modules.first?.name) == path)
    }
    #expect(module { _ in }.snapshot?.modules.first?.debugName == nil)
  }

  @Test("A UUID has sixteen bytes")
  func uuid() {
    let bytes = (0..<16).map { UInt8($0) }
    #expect(
      module { $0.property(.uuid, bytes) }.snapshot?.modules.first?.identity
        == .uuid(UUIDBytes(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f), age: 0))
    #expect(module { $0.property(.uuid, Array(bytes.dropLast())) }.snapshot?.modules.first?.identity == nil)
  }

  @Test("Messages that are not empty come in order: the first, the second, the loader's error")
  func messages() {
    func messages(_ texts: [String?]) -> [String]? {
      let result = module {
        if let text = texts[2] { $0.property(.annotationsDyldErrorString, text) }
        $0.map(.annotationsCrashInfo) {
          if let text = texts[1] { $0.property(.annotationsCrashInfoMessage2, text) }
          if let text = texts[0] { $0.property(.annotationsCrashInfoMessage1, text) }
        }
      }
      return result.snapshot?.modules.first?.messages.compactMap { result.text($0) }
    }
    #expect(messages(["a", "b", "c"]) == ["a", "b", "c"])
    #expect(messages(["", "b", nil]) == ["b"])
    #expect(messages([nil, nil, "c"]) == ["c"])
    #expect(messages([nil, "", ""]) == [])
  }

  @Test("Typed annotations have names of 1 to 256 bytes, values of 1 to 20,480, and a type of two")
  func objects() {
    func accepted(_ name: Int?, _ value: Int?, _ type: [UInt8]?) -> Bool {
      let result = module { module in
        module.array(.annotationObjects) {
          $0.mapInArray {
            if let name { $0.property(.annotationName, [UInt8](repeating: 0x6e, count: name)) }
            if let value { $0.property(.annotationValue, [UInt8](repeating: 0x76, count: value)) }
            if let type { $0.property(.annotationType, type) }
          }
        }
      }
      let isThere = result.snapshot?.modules.first?.annotationObjects.isEmpty == false
      #expect(result.codes == (isThere ? [] : ["bad-annotation"]))
      if !isThere { #expect(result.findings.first?.path == "kModules[0].kAnnotationObjects") }
      return isThere
    }
    #expect(accepted(1, 1, [1, 0]))
    #expect(accepted(256, 20480, [0, 0x80]))
    #expect(!accepted(257, 1, [1, 0]))
    #expect(!accepted(1, 20481, [1, 0]))
    #expect(!accepted(0, 1, [1, 0]))
    #expect(!accepted(1, 0, [1, 0]))
    #expect(!accepted(nil, 1, [1, 0]))
    #expect(!accepted(1, nil, [1, 0]))
    #expect(!accepted(1, 1, nil))
    #expect(!accepted(1, 1, [1]))
    #expect(!accepted(1, 1, [1, 0, 0, 0]))
  }

  @Test("Duplicate objects are kept in order; of duplicate simple annotations the first")
  func duplicates() {
    let result = module { module in
      for array in [DumpKey.annotationObjects, .annotationsSimpleMap] {
        module.array(array) { list in
          for (name, value) in [("b", "1"), ("a", "2"), ("b", "3")] {
            list.mapInArray {
              $0.property(.annotationName, name)
              $0.property(.annotationValue, value)
              $0.property(.annotationType, [1, 0])
            }
          }
        }
      }
    }
    let read = result.snapshot?.modules.first
    #expect(read?.annotationObjects.map { result.text($0.value) } == ["1", "2", "3"])
    #expect(result.texts(read?.simpleAnnotations) == ["a=2", "b=1"])
  }

  @Test("More threads or modules than real ones could be are left out", arguments: [DumpKey.threads, .modules])
  func tooMany(_ key: DumpKey) throws {
    var builder = DumpBuilder()
    builder.root { dump in
      dump.property(.version, [1])
      dump.map(.processInfo) { _ in }
      dump.map(.systemInfo) { _ in }
      dump.array(key) { array in for _ in 0..<80_000 { array.mapInArray { _ in } } }
    }
    let result = Interpreted(builder.bytes, architecture: .arm64)
    let snapshot = try #require(result.snapshot)
    let limit = builder.bytes.count / 512 + 16384
    #expect(key == .threads ? snapshot.threads.count == limit : snapshot.modules.count == limit)
    let list = result.findings.first { $0.rule.code == "too-many-entries" }
    #expect(key == .threads || list?.path == "kModules")
    #expect(key == .threads || list?.expected == .number(UInt64(limit)))
  }
}
