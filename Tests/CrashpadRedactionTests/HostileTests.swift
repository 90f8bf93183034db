// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import CrashpadRedaction
import Testing
import ToolRunner

/// Minidumps that were made to do harm, or were damaged in the same way.
@Suite("Hostile minidumps")
struct HostileTests {
  /// A minidump without threads, with the streams of a test.
  private struct File {
    var bytes: [UInt8] = []
    var streams: [(type: UInt64, size: Int, rva: Int)] = []

    /// - Parameter streams: how many there will be.
    init(streams count: Int) {
      bytes = Bytes.of(UInt32(0x504d_444d)) + Bytes.of(UInt32(0xa793))
      bytes += Bytes.of(UInt32(count)) + Bytes.of(UInt32(32)) + [UInt8](repeating: 0, count: 16 + 12 * count)
    }

    mutating func add(_ type: UInt64, _ content: [UInt8]) {
      add(type, content.count, at: bytes.count)
      bytes += content
    }

    mutating func add(_ type: UInt64, _ size: Int, at rva: Int) {
      let entry = 32 + 12 * streams.count
      bytes.overwrite(type, width: 4, at: entry)
      bytes.overwrite(UInt64(size), width: 4, at: entry + 4)
      bytes.overwrite(UInt64(rva), width: 4, at: entry + 8)
      streams.append((type, size, rva))
    }

    /// SystemInfo of Linux on x86_64.
    mutating func addSystem() {
      var system = [UInt8](repeating: 0, count: 56)
      system.overwrite(9, width: 2, at: 0)
      system.overwrite(0x8201, width: 4, at: 20)
      add(7, system)
    }
  }

  /// The elements of the lists.
  enum Entries: CaseIterable {
    /// They point to nothing.
    case outside
    /// All have one name and one value that stay.
    case kept
    /// The same, but for a few that point to nothing, so that the list becomes shorter.
    case mixed
    /// All have one long name.
    case long
    /// Values without text that share most of their bytes.
    case values
  }

  /// As many lists of annotations as `count`, each of which begins four bytes behind the last and runs on to the file's end.
  private func lists(_ count: Int, byteCount: Int, _ entries: Entries, member: Int) -> [UInt8] {
    var file = File(streams: 2)
    file.addSystem()
    let info = file.bytes.count
    file.add(0x4350_0001, [UInt8](repeating: 0, count: 64))
    let modules = file.bytes.count
    file.bytes += Bytes.of(UInt32(count)) + [UInt8](repeating: 0, count: 12 * count)
    let infos = file.bytes.count
    file.bytes += [UInt8](repeating: 0, count: 28 * count)
    let text = file.bytes.count
    let length = entries == .long ? 4096 : 3
    file.bytes += Bytes.of(UInt32(length)) + [UInt8](repeating: 0x61, count: length) + [0]
    file.bytes += [UInt8](repeating: 0, count: 3 - length % 4)
    let lists = file.bytes.count
    for index in 0..<byteCount / 4 {
      var word = UInt32(text)
      switch entries {
      case .outside: word = 0x7fff_ffff
      case .mixed where index % 1000 == 999: word = 0x7fff_ffff
      // Three words are an object: name, type, value. What is there is the length of a value too.
      case .values where index % 3 == 2: word = UInt32(lists + 4 * (index / 4))
      default: break
      }
      file.bytes += Bytes.of(word)
    }
    let end = file.bytes.count
    for index in 0..<count {
      let entry = modules + 4 + 12 * index
      for (place, value) in [index, 28, infos + 28 * index].enumerated() {
        file.bytes.overwrite(UInt64(value), width: 4, at: entry + 4 * place)
      }
      let start = lists + 4 * index
      file.bytes.overwrite(1, width: 4, at: infos + 28 * index)
      file.bytes.overwrite(UInt64(end - start), width: 4, at: infos + 28 * index + member)
      file.bytes.overwrite(UInt64(start), width: 4, at: infos + 28 * index + member + 4)
    }
    file.bytes.overwrite(1, width: 4, at: info)
    file.bytes.overwrite(UInt64(4 + 12 * count), width: 4, at: info + 44)
    file.bytes.overwrite(UInt64(modules), width: 4, at: info + 48)
    return file.bytes
  }

  /// How long a redaction takes that should take no more than a moment. As others use the machine too, and this is no
  /// optimized code, the limit is far above that, and far below the minutes that it must not take.
  private func expectQuick(_ bytes: [UInt8], _ what: String, _ policy: RedactionPolicy = RedactionPolicy()) throws {
    let time = try ContinuousClock().measure { _ = try Redacted(bytes, policy) }
    #expect(time < .seconds(10), "\(what): \(bytes.count) bytes took \(time)")
  }

  @Test(
    "Lists that run on to the file's end take time in proportion to its size",
    arguments: Soak.some(2, of: Entries.allCases))
  func lists(_ entries: Entries) throws {
    let byteCount = Soak.times(80_000, or: 40_000)
    for (what, member) in [("messages", 4), ("dictionaries", 12), ("objects", 20)] {
      try expectQuick(lists(byteCount / 200, byteCount: byteCount, entries, member: member), "\(what), \(entries)")
    }
  }

  @Test("Memory that lists beyond the limit refer to is not in the output")
  func beyond() throws {
    var bytes = lists(400, byteCount: 80_000, .outside, member: 12)
    // The last list has an annotation, whose bytes nothing else leads to.
    let secret = bytes.count
    bytes += Bytes.of(UInt32(Secret.text.utf8.count)) + Array(Secret.text.utf8) + [0, 0]
    let entry = bytes.count
    bytes += Bytes.of(UInt32(1)) + Bytes.of(UInt32(secret)) + Bytes.of(UInt32(secret))
    let last = 32 + 24 + 56 + 64 + 4 + 12 * 400 + 28 * 399
    bytes.overwrite(12, width: 4, at: last + 12)
    bytes.overwrite(UInt64(entry), width: 4, at: last + 16)
    #expect(Secret.offset(in: try Redacted(bytes).bytes) == nil)
  }

  @Test("As many annotations as there are modules stay")
  func many() throws {
    var dump = SynthLinuxDump(.x86_64)
    for index in dump.modules.indices {
      dump.modules[index].objects = (0..<300).map { ("o\(index).\($0)", 1, Array("value".utf8)) }
    }
    dump.annotations = (0..<1000).map { ("a\($0)", "value") }
    let redacted = try Redacted(minidump(of: dump.bytes))
    #expect(redacted.annotations.count { $0.hasSuffix("=value") } == 1000 + 300 * dump.modules.count)
  }

  @Test(
    "Memory that is listed many times, with many stacks inside, takes time in proportion to the file's size",
    arguments: [RedactionPolicy.Memory.stacks, .pointers])
  func memory(_ memory: RedactionPolicy.Memory) throws {
    let threads = 4000
    let regions = 12_000
    var file = File(streams: 3)
    file.addSystem()
    let list = file.bytes.count
    file.add(3, Bytes.of(UInt32(threads)) + [UInt8](repeating: 0, count: 48 * threads))
    let memoryList = file.bytes.count
    file.add(5, Bytes.of(UInt32(regions)) + [UInt8](repeating: 0, count: 16 * regions))
    let start = file.bytes.count
    file.bytes += [UInt8](repeating: 0x55, count: 16 * threads)
    let base: UInt64 = 0x7fff_0000_0000
    for index in 0..<threads {
      let stack = list + 4 + 48 * index + 24
      file.bytes.overwrite(base + UInt64(16 * index), width: 8, at: stack)
      file.bytes.overwrite(8, width: 4, at: stack + 8)
      file.bytes.overwrite(UInt64(start + 16 * index), width: 4, at: stack + 12)
    }
    for index in 0..<regions {
      let entry = memoryList + 4 + 16 * index
      file.bytes.overwrite(base, width: 8, at: entry)
      file.bytes.overwrite(UInt64(16 * threads - index), width: 4, at: entry + 8)
      file.bytes.overwrite(UInt64(start), width: 4, at: entry + 12)
    }
    var policy = RedactionPolicy()
    policy.memory = memory
    try expectQuick(file.bytes, "\(memory)", policy)
  }

  // MARK: What is no minidump any more

  @Test(
    "A stream that goes, on top of everything or of the directory, leaves no minidump", arguments: [0, 8, 16, 20, 32])
  func covered(_ rva: Int) {
    var file = File(streams: 2)
    file.addSystem()
    file.add(0x1234_5678, file.bytes.count - rva, at: rva)
    #expect(throws: Redaction.NotADump.self) { try Redacted(file.bytes) }
  }

  @Test("Header and directory stay, however many claims the streams behind them make")
  func exhausted() throws {
    // The texts of Linux, all in one place; each of their lines is a claim.
    var file = File(streams: 7)
    file.addSystem()
    let text = file.bytes.count
    file.bytes += [UInt8](repeating: 0x0a, count: 20_000)
    for type in 0x4767_0003...0x4767_0009 where type != 0x4767_0008 { file.add(UInt64(type), 20_000, at: text) }
    let redacted = try Redacted(file.bytes)
    #expect(redacted.bytes.prefix(32 + 7 * 12) == file.bytes.prefix(32 + 7 * 12))
    #expect(redacted.snapshot != nil)
  }

  @Test("One on top of something else goes alone, and so does one that is the only one")
  func other() throws {
    var file = File(streams: 3)
    file.addSystem()
    file.add(0x1234_5678, Secret.bytes(40))
    file.add(0x1234_5679, 4, at: file.bytes.count - 8)
    let redacted = try Redacted(file.bytes)
    #expect(redacted.snapshot != nil && Secret.offset(in: redacted.bytes) == nil)
    var single = File(streams: 1)
    single.add(0x1234_5678, Secret.bytes(40))
    #expect(try Redacted(single.bytes).bytes.count >= 32)
  }

  @Test("The tool says so, and sends nothing")
  func sentences() throws {
    let folder = try TemporaryFolder()
    var file = File(streams: 2)
    file.addSystem()
    file.add(0x1234_5678, file.bytes.count, at: 0)
    try folder.write(file.bytes, to: "a.dmp")
    let redacted = try Tool.run(["redact", "a.dmp", "-o", "b.dmp"], in: folder)
    #expect(redacted.status == 65 && !folder.exists("b.dmp"))
    #expect(redacted.errorText == "a.dmp: error: is not an intermediate dump, a minidump or a crash report\n")
    let id = "4f2a91d0-3c55-4e8a-9d2b-7f1e60a4c0b1"
    let made = try Tool.shell(
      "crashpadctl database create -d db && crashpadctl database import -d db a.dmp --id \(id)"
        + " && crashpadctl database request-upload -d db \(id)", in: folder)
    #expect(made.status == 0, "\(made.errorText)")
    for option in ["--dry-run", ""] {
      let result = try Tool.shell("crashpadctl upload -d db --url http://127.0.0.1:1/ --redact \(option)", in: folder)
      #expect(result.status != 0)
      let expected =
        "\(id): error: can't be redacted: it is not an intermediate dump, a minidump or a crash report\n"
      #expect(result.errorText.hasPrefix(expected), "\(result.errorText)")
    }
  }
}
