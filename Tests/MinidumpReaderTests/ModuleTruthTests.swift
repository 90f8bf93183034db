// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot
import Testing

@Suite("MinidumpReader: modules and annotations")
struct ModuleTruthTests {
  @Test("Modules have name, place, time and identity", arguments: Layout.allCases)
  func modules(_ layout: Layout) throws {
    for example in layout.examples {
      let reading = example.reading
      let modules = try #require(reading.snapshot).modules
      let truth = example.dump.modules
      #expect(modules.map { reading.text($0.name) } == truth.map(\.path), "\(example)")
      #expect(modules.map(\.address) == truth.map(\.base))
      #expect(modules.map(\.size) == truth.map { UInt64($0.size) })
      #expect(modules.map(\.timestamp) == truth.map { UInt64($0.timestamp) })
      // The synthesiser's words are 0x0001_0002 and 0x0003_0004; each system reads them in its own way.
      let (dylib, file): (UInt32?, String?) =
        switch example.dump.parameters.system {
        case .ios, .macos, .windows: (nil, "1.2.3.4")
        case .linux, .android: (nil, "65538.196612.0.0")
        }
      #expect(modules.allSatisfy { $0.dylibVersion == dylib && $0.fileVersion?.text == file }, "\(example)")
      #expect(modules.allSatisfy { $0.sourceVersion == nil && $0.fileType == nil })
      for (module, truth) in zip(modules, truth) { checkIdentity(module, truth, reading, "\(example)") }
    }
  }

  private func checkIdentity(
    _ module: ModuleSnapshot, _ truth: MinidumpModuleTruth, _ reading: Reading, _ example: String
  ) {
    switch (truth.identity, module.identity) {
    case (.pdb70(let guid, let age, let name), .uuid(let uuid, let foundAge)):
      #expect(uuid == UUIDBytes(guid: guid), "\(example)")
      #expect(foundAge == age)
      #expect(reading.text(module.debugName) == name)
    case (.elf(let id), .buildID(let content)):
      #expect(reading.data(content) == id, "\(example)")
      #expect(module.debugName == nil)
    case (.none, nil): #expect(module.debugName == nil)
    default: Issue.record("\(example): \(truth.identity) became \(String(describing: module.identity))")
    }
  }

  @Test("An older CodeView record has a name, and a time in place of a GUID")
  func oldCodeView() throws {
    let dump = Example.small(.x86, .windows)
    let reading = Reading(dump.writing(0x3031_424e, width: 4, at: dump.value("moduleList[0].codeView.rva")))
    let module = try #require(reading.snapshot?.modules.first)
    #expect(reading.codes == [])
    #expect(module.identity == nil)
    #expect(module.debugName != nil)
    let record = dump.value("moduleList[0].codeView.rva")
    let (time, age) = withBytes(dump.bytes) { ($0.uint32(at: record + 8), $0.uint32(at: record + 12)) }
    #expect(module.oldPDB == ModuleSnapshot.OldPDB(time: time, age: age))
    let whole = Reading(dump.bytes).snapshot?.modules
    #expect(whole?.allSatisfy { $0.oldPDB == nil } == true)
  }

  @Test("A GUID of zeros is no identity")
  func zeroGUID() throws {
    let dump = Example.small(.x86, .windows)
    var bytes = dump.bytes
    for index in 0..<16 { bytes[dump.value("moduleList[0].codeView.rva") + 4 + index] = 0 }
    let module = try #require(Reading(bytes).snapshot?.modules.first)
    #expect(module.identity == nil)
    #expect(module.debugName != nil)
  }

  @Test("A build id without bytes is no identity")
  func emptyBuildID() throws {
    let reading = Reading(Example.small(.x86_64, .linux).setting("moduleList[0].codeView.size", to: 4))
    let module = try #require(reading.snapshot?.modules.first)
    #expect(module.identity == nil)
  }

  @Test("A build id of zeros is no identity")
  func zeroBuildID() throws {
    let dump = Example.small(.x86_64, .linux)
    var bytes = dump.bytes
    for index in 0..<20 { bytes[dump.value("moduleList[0].codeView.rva") + 4 + index] = 0 }
    #expect(try #require(Reading(bytes).snapshot?.modules.first).identity == nil)
  }

  @Test("A version that a Mach-O file can have is one, and another has four parts")
  func versionsOfApple() throws {
    let dump = Example.small(.arm64, .macos)
    let entry = dump.value("moduleList.rva") + 4
    func version(_ high: UInt64, _ low: UInt64) throws -> String {
      var bytes = dump.writing(high, width: 4, at: entry + 32)
      bytes.overwrite(low, width: 4, at: entry + 36)
      let module = try #require(Reading(bytes).snapshot?.modules.first)
      return module.fileVersion?.text ?? module.dylibVersion.map { String($0, radix: 16) } ?? "none"
    }
    #expect(try version(0x0001_0002, 0x0003_0000) == "10203")
    #expect(try version(0x0000_07f6, 0x0078_0001) == "0.2038.120.1")
    #expect(try version(0x0001_0002, 0x0003_0004) == "1.2.3.4")
    #expect(try version(0, 0) == "none")
  }

  @Test("A version of zeros is one on Windows, and none on Linux")
  func zeroVersion() throws {
    func version(_ system: MinidumpSystem) throws -> String? {
      let dump = Example.small(.x86_64, system)
      let entry = dump.value("moduleList.rva") + 4
      return try #require(Reading(dump.writing(0, width: 8, at: entry + 32)).snapshot?.modules.first).fileVersion?.text
    }
    #expect(try version(.windows) == "0.0.0.0")
    #expect(try version(.linux) == nil)
  }

  @Test("Unloaded modules are those of Windows", arguments: Layout.allCases)
  func unloaded(_ layout: Layout) throws {
    for example in layout.examples {
      let modules = try #require(example.reading.snapshot).unloadedModules
      guard example.dump.parameters.system == .windows else {
        #expect(modules.isEmpty, "\(example)")
        continue
      }
      let names = ["old.dll", "C:\\Windows\\System32\\gone.dll"]
      #expect(modules.map { example.reading.text($0.name) } == names, "\(example)")
      #expect(modules.map(\.address) == [0x6f00_0000, 0x6f10_0000])
      #expect(modules.map(\.size) == [0x20000, 0x20000])
      #expect(modules.map(\.timestamp) == [0x5f00_0000, 0x5f00_0000])
    }
  }

  @Test("Crashpad's ids and annotations are those of its stream", arguments: Layout.allCases)
  func crashpad(_ layout: Layout) throws {
    for example in layout.examples {
      let reading = example.reading
      let snapshot = try #require(reading.snapshot)
      var random = SplitMix64(seed: example.dump.parameters.seed, area: 12)
      let ids = random.bytes(32)
      #expect(snapshot.reportID == UUIDBytes(guid: Array(ids[..<16])), "\(example)")
      #expect(snapshot.clientID == UUIDBytes(guid: Array(ids[16...])))
      #expect(reading.texts(snapshot.annotations) == (0..<3).map { "key-\($0)=wért \($0)" }, "\(example)")
      let first = try #require(snapshot.modules.first)
      #expect(first.messages.map { reading.text($0) } == ["abort() called"])
      #expect(reading.texts(first.simpleAnnotations) == ["key-0=wért 0", "key-1=wért 1"])
      #expect(first.annotationObjects.map { reading.text($0.name) } == ["object"])
      #expect(first.annotationObjects.map(\.type) == [1])
      #expect(first.annotationObjects.map { reading.text($0.value) } == ["value"])
      for module in snapshot.modules.dropFirst() {
        #expect(module.messages.isEmpty && module.simpleAnnotations.isEmpty && module.annotationObjects.isEmpty)
      }
    }
  }

  @Test("An older CrashpadInfo without an address mask is read")
  func oldCrashpadInfo() throws {
    let reading = Reading(Example.small(.arm64, .macos).setting("crashpadInfo.size", to: 52))
    let snapshot = try #require(reading.snapshot)
    #expect(reading.codes == [])
    #expect(snapshot.annotations.count == 2)
    #expect(snapshot.system.addressMask == nil)
  }

  @Test("A list of RVAs whose count is one too small gives its first entries, not its last")
  func shorterRVAList() throws {
    // Entries are as large as the padding that some lists have behind their count.
    let dump = Example.small(.arm64, .ios)
    let info = dump.value("crashpadInfo.modules[0].rva")
    let annotations = dump.value("crashpadInfo.annotations.rva")
    var bytes = dump.bytes
    // A list of two messages at the end of the file, of which the count says one.
    let list = bytes.count
    bytes += Bytes.of(UInt32(1))
    for index in 0..<2 {
      bytes += Bytes.of(UInt32(dump.bytes.little(at: annotations + 4 + 8 * index, width: 4) ?? 0))
    }
    bytes.overwrite(12, width: 4, at: info + 4)
    bytes.overwrite(UInt64(list), width: 4, at: info + 8)
    let reading = Reading(bytes)
    #expect(reading.snapshot?.modules.first?.messages.map { reading.text($0) } == ["key-0"])
  }
}
