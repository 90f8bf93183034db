// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// Dumps with one fault each: the name says the rule that must find it.
extension Samples {
  private static func dump(_ body: (inout DumpBuilder) -> Void) -> [UInt8] {
    var builder = DumpBuilder()
    body(&builder)
    return builder.bytes
  }

  // MARK: Framing and nesting

  static let framing: [String: [UInt8]] = [
    "damaged-bad-start.idump": Damage.replacing(crash, at: 0, with: 0x16),
    "damaged-bad-command.idump": crash.inserting(before: .threads) { $0.raw([0x09]) },
    "damaged-no-root-end.idump": Array(crash.dropLast()),
    "damaged-truncated-key.idump": Array(crash.prefix(crash.record(.modules).start + 2)),
    "damaged-truncated-length.idump": Array(crash.prefix(crash.record(.threadID, 1).start + 7)),
    "damaged-truncated-value.idump": Array(crash.prefix(crash.record(.stackRegionData, 1).start + 200)),
    "damaged-trailing-bytes.idump": crash + Array("what is this?".utf8),
    "damaged-second-root.idump": crash.inserting(before: .vmStat) { $0.rootStart() },
    "damaged-root-end-nested.idump": crash.inserting(before: .vmStat) { $0.rootEnd() },
    "damaged-record-in-array.idump": crash.replacingFirstElement(of: .threads) {
      $0.property(.priority, int32: 31)
    },
    "damaged-wrong-end.idump": crash.inserting(before: .vmStat) { $0.arrayEnd() },
    "damaged-end-at-root.idump": crash.inserting(before: .threads) { $0.mapEnd() },
    "damaged-zero-key.idump": crash.inserting(before: .vmStat) { $0.property(number: 0, [1, 2, 3]) },
    "damaged-value-too-long.idump": Damage.settingLength(
      crash, of: crash.record(.stackRegionData), to: 64 << 20 + 1),
    "damaged-too-deep.idump": crash.inserting(before: .threads) { $0.nested(levels: 11, number: 9000) },
  ]

  // MARK: Keys and values

  static let keys: [String: [UInt8]] = [
    "damaged-unknown-key.idump": crash.inserting(before: .vmStat) { $0.property(number: 9999, [1, 2, 3]) },
    "damaged-misplaced-key.idump": crash.inserting(before: .vmStat) { $0.property(.pid, uint32: 1) },
    "damaged-wrong-kind.idump": crash.without(.vmStat).inserting(before: .crashpadUptime) {
      $0.property(.vmStat, [1, 2, 3, 4])
    },
    "damaged-wrong-size.idump": crash.setting(.pid, to: [1, 2]).setting(.codes, to: [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    "damaged-duplicate-key.idump": crash.inserting(before: .pid) { $0.property(.pid, uint32: 1) },
    "damaged-missing-required.idump": crash.without(.version),
    "damaged-missing-expected.idump": crash.without(.pid).without(.osVersionBuild),
    "damaged-bad-version.idump": crash.setting(.version, to: [2]),
    "damaged-bad-boolean.idump": crash.setting(.isDaylightSavingTime, to: [2]),
  ]

  // MARK: Meaning

  static let meaning: [String: [UInt8]] = [
    "damaged-empty-dump.idump": [6, 7],
    "damaged-no-version.idump": crash.setting(.version, to: [1, 0]),
    "damaged-no-process-info.idump": crash.without(.processInfo),
    "damaged-no-system-info.idump": crash.without(.systemInfo),
    "damaged-exception-without-thread.idump": crash.without(.threadID),
    "doubtful-architecture.idump": simulator.without(.machException).without(.threadState).without(.threadState)
      .without(.floatState).without(.floatState).without(.debugState).without(.debugState),
    "doubtful-mixed-architecture.idump": mixed,
    "doubtful-several-exceptions.idump": Damage.inserting(
      Array(signal[signal.range(.signalException)]), into: crash, at: crash.record(.machException).start),
    "doubtful-too-many-codes.idump": crash.setting(.codes, to: Bytes.of(Array(UInt64(1)...20))),
    "doubtful-bad-codes.idump": crash.setting(.codes, to: []),
    "doubtful-unknown-flavor.idump": crash.setting(.flavor, to: Bytes.of(UInt32(99))),
    "doubtful-state-size.idump": crash.setting(.state, to: Array(crash[crash.record(.state).value!].prefix(100))),
    "doubtful-no-registers.idump": crash.without(.threadState, 1),
    "doubtful-stack-without-address.idump": crash.without(.stackRegionAddress, 1),
    "doubtful-stack-and-frames.idump": crash.inserting(before: .stackRegionAddress, 1) {
      $0.property(.threadUncaughtNSExceptionFrames, Bytes.of([0x1_0000_4000, 0x1_0000_5000]))
    },
    "doubtful-bad-annotation.idump": crash.setting(.annotationName, 3, to: []).setting(.annotationValue, 3, to: []),
    "damaged-too-many-modules.idump": dump {
      $0.root {
        $0.property(.version, [1])
        $0.map(.processInfo) { _ in }
        $0.map(.systemInfo) { $0.property(.machineDescription, "iPhone14,2") }
        $0.array(.modules) { for _ in 0..<67_000 { $0.mapInArray { _ in } } }
      }
    },
  ]

  /// Three threads of arm64 and one of x86_64.
  private static let mixed: [UInt8] = {
    var parameters = small()
    parameters.threadCount = 3
    let dump = SynthDump(parameters).bytes
    let elements = DumpRecords.walk(simulator).records.filter { $0.isInArray && $0.depth == 2 }
    guard let thread = elements.first?.subtree else { return dump }
    return Damage.inserting(Array(simulator[thread]), into: dump, at: dump.record(.threads).end)
  }()

  // MARK: What contradicts itself

  static let contradictions: [String: [UInt8]] = {
    var noThreads = small(.none)
    noThreads.threadCount = 0
    var noModules = small()
    noModules.moduleCount = 0
    var otherThread = small()
    otherThread.crashedThread = 2
    let firstID = Array(crash[crash.record(.threadID, 1).value!])
    let firstStack = crash.little(at: crash.record(.stackRegionAddress).value!.lowerBound, width: 8) ?? 0
    let firstModule = crash.little(at: crash.record(.address).value!.lowerBound, width: 8) ?? 0
    return [
      "doubtful-no-threads.idump": SynthDump(noThreads).bytes,
      "doubtful-no-modules.idump": SynthDump(noModules).bytes,
      "doubtful-exception-thread.idump": SynthDump(otherThread).bytes,
      "doubtful-duplicate-thread.idump": crash.setting(.threadID, 2, to: firstID),
      "doubtful-thread-id-collision.idump": crash.setting(.threadID, 2, to: Array(firstID.prefix(4)) + [1, 0, 0, 0]),
      "doubtful-stack-pointer.idump": crash.setting(.stackRegionAddress, to: Bytes.of(UInt64(0x1000_0000))),
      "doubtful-overlapping-stacks.idump": crash.setting(.stackRegionAddress, 1, to: Bytes.of(firstStack + 16)),
      "doubtful-overlapping-modules.idump": crash.setting(.address, 1, to: Bytes.of(firstModule + 0x4000)),
      "doubtful-memory-wraps.idump": crash.setting(
        .threadContextMemoryRegionAddress, 1, to: Bytes.of(UInt64.max - 15)),
      "doubtful-module-without-name.idump": crash.setting(.name, to: []),
      "doubtful-module-without-identity.idump": crash.without(.uuid, 2),
      "doubtful-time-order.idump": crash.setting(.startTime, to: Bytes.of(UInt64(0x7000_0000)) + Bytes.of(UInt64(0))),
    ]
  }()
}

extension [UInt8] {
  /// An array whose first element stands behind something else.
  fileprivate func replacingFirstElement(of key: DumpKey, _ body: (inout DumpBuilder) -> Void) -> [UInt8] {
    var builder = DumpBuilder()
    body(&builder)
    return Damage.inserting(builder.bytes, into: self, at: record(key).end)
  }
}
