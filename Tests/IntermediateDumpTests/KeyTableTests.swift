// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
@testable import IntermediateDump
import Testing

@Suite("KeyTable")
struct KeyTableTests {
  @Test("Numbers and names are those of the independent table, none missing and none more")
  func numbersAndNames() {
    let here = KeyTable.all.map { "\($0.key.rawValue) \($0.name)" }
    let there = DumpSynth.DumpKey.allCases.map { "\($0.rawValue) \($0.crashpadName)" }
    #expect(here == there.sorted { Int($0.prefix { $0 != " " })! < Int($1.prefix { $0 != " " })! })
  }

  @Test("Keys are found by number and by name", arguments: DumpSynth.DumpKey.allCases)
  func lookUp(_ key: DumpSynth.DumpKey) throws {
    let number = IntermediateDump.DumpKey(rawValue: key.rawValue)
    #expect(KeyTable[number]?.name == key.crashpadName)
    #expect(KeyTable[name: key.crashpadName]?.key == number)
    #expect(KeyTable.name(of: number) == key.crashpadName)
  }

  @Test("Unknown keys have their number for a name")
  func unknown() {
    #expect(KeyTable[IntermediateDump.DumpKey(rawValue: 65535)] == nil)
    #expect(KeyTable[IntermediateDump.DumpKey.invalid] == nil)
    #expect(KeyTable.name(of: IntermediateDump.DumpKey(rawValue: 65535)) == "65535")
    #expect(KeyTable[name: "65535"] == nil)
    #expect(KeyTable[name: "kpid"] == nil)
  }

  /// Sizes in bytes as the format's description lists them; every key that is not here has any size.
  private static let sizes: [(sizes: [Int], keys: [DumpSynth.DumpKey])] = [
    ([1], [.version, .hasDaylightSavingTime, .isDaylightSavingTime]),
    ([2], [.annotationType]),
    (
      [4],
      [
        .pid, .parentPID, .cpuCount, .osVersionMajor, .osVersionMinor, .osVersionBugfix, .standardOffsetSeconds,
        .daylightOffsetSeconds, .active, .inactive, .wired, .free, .suspendCount, .priority, .exception, .flavor,
        .signalNumber, .signalCode, .dylibCurrentVersion, .fileType, .threadCapture, .raisedAgain,
      ]
    ),
    (
      [8],
      [
        .pageSize, .addressMask, .crashpadUptime, .threadID, .threadDataAddress, .stackRegionAddress, .address,
        .moduleExtraMemoryRegionAddress, .moduleIntermediateDumpExtraMemoryRegionAddress,
        .threadContextMemoryRegionAddress, .size, .sourceVersion, .timestamp, .signalAddress, .userTime, .systemTime,
        .captureDuration,
      ]
    ),
    ([16], [.uuid, .snapshotTime, .startTime]),
    ([272, 168], [.threadState]),
    ([528, 524], [.floatState]),
    ([520, 64], [.debugState]),
  ]

  @Test("Every key has the sizes that Crashpad reads", arguments: DumpSynth.DumpKey.allCases)
  func sizes(_ key: DumpSynth.DumpKey) throws {
    let descriptor = try #require(KeyTable[IntermediateDump.DumpKey(rawValue: key.rawValue)])
    #expect(descriptor.sizes == Self.sizes.first { $0.keys.contains(key) }?.sizes)
  }

  @Test(
    "Every record of a synthetic dump stands where its key belongs, with its kind and size",
    arguments: SynthArchitecture.allCases)
  func synthetic(_ architecture: SynthArchitecture) {
    for exception in [SynthException.badAccess, .abort, .nsException(frames: 5)] {
      var parameters = SynthParameters(architecture: architecture, seed: 3)
      parameters.exception = exception
      parameters.intermediateOnlyRegionsPerModule = 1
      let dump = SynthDump(parameters).bytes
      withBytes(dump) { bytes in
        let tree = DumpTree(parsing: bytes)
        check(tree.root, tree, bytes)
      }
    }
  }

  private func check(_ node: DumpNode, _ tree: DumpTree, _ bytes: RawSpan) {
    var records = tree.records(of: node)
    while let record = records.next(of: tree, in: bytes) {
      if node.isArray {
        check(record.node, tree, bytes)
        continue
      }
      guard let descriptor = KeyTable[record.key] else {
        Issue.record("no key \(record.key.rawValue)")
        continue
      }
      #expect(descriptor.containers.contains(node.key), "\(descriptor.name) in \(KeyTable.name(of: node.key))")
      switch record.kind {
      case .map: #expect(descriptor.shape == .map, "\(descriptor.name)")
      case .array: #expect(descriptor.shape == .array, "\(descriptor.name)")
      case .property:
        #expect(descriptor.shape != .map && descriptor.shape != .array, "\(descriptor.name)")
        if let sizes = descriptor.sizes { #expect(sizes.contains(record.value.count), "\(descriptor.name)") }
      }
      if record.kind != .property { check(record.node, tree, bytes) }
    }
  }

  @Test("Exactly the keys are required without which Crashpad makes no report")
  func required() {
    let required = KeyTable.all.filter { $0.presence == .required }.map(\.name)
    #expect(required == ["kVersion", "kProcessInfo", "kSystemInfo", "kThreadID"])
    #expect(KeyTable.keys(in: .vmStat, .expected).map(\.name) == ["kActive", "kFree", "kInactive", "kWired"])
  }
}
