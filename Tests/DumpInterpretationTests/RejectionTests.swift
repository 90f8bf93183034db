// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import IntermediateDump
import CrashpadSnapshot
import Testing

private typealias Key = DumpSynth.DumpKey

/// A dump that Crashpad makes no report of.
struct RejectionCase: Sendable, CustomTestStringConvertible {
  let name: String
  let code: String
  let bytes: [UInt8]
  var path = ""
  var testDescription: String { name }
}

private func without(_ key: Key) -> [UInt8] {
  let bytes = SmallDump().bytes
  guard let record = Damage.first(key, in: bytes), let range = record.subtree else { return [] }
  return Damage.replacing(bytes, range, with: [])
}

private func behind(_ root: @escaping SmallDump.Part) -> [UInt8] {
  var dump = SmallDump()
  // An exception without registers counts as one that tells no architecture, so there are more threads that do.
  dump.threads = (1...3).map { id in { $0.property(.threadID, uint64: id) } }
  dump.root = root
  return dump.bytes
}

private let rejections: [RejectionCase] = [
  RejectionCase(name: "no bytes", code: "empty-file", bytes: []),
  RejectionCase(name: "no dump", code: "bad-start", bytes: [1, 2, 3]),
  RejectionCase(name: "an empty root map", code: "empty-dump", bytes: [6, 7]),
  RejectionCase(name: "an open root map", code: "no-root-end", bytes: [6]),
  RejectionCase(name: "no version", code: "no-version", bytes: without(.version)),
  RejectionCase(name: "version 2", code: "no-version", bytes: behind { $0.property(.version, [2]) }),
  RejectionCase(
    name: "a version of 4 bytes", code: "no-version", bytes: behind { $0.property(.version, [1, 0, 0, 0]) }),
  RejectionCase(
    name: "a version that is a map", code: "no-version", bytes: behind { $0.map(.version) { _ in } }),
  RejectionCase(name: "no process", code: "no-process-info", bytes: without(.processInfo)),
  RejectionCase(
    name: "a process that is a property", code: "no-process-info", bytes: behind { $0.property(.processInfo, []) }),
  RejectionCase(
    name: "a process that is an array", code: "no-process-info", bytes: behind { $0.array(.processInfo) { _ in } }),
  RejectionCase(name: "no system", code: "no-system-info", bytes: without(.systemInfo)),
  RejectionCase(
    name: "a system that is a property", code: "no-system-info", bytes: behind { $0.property(.systemInfo, []) }),
  RejectionCase(name: "no threads to tell the architecture", code: "unknown-architecture", bytes: without(.threads)),
  RejectionCase(
    name: "a signal without thread", code: "exception-without-thread",
    bytes: behind { $0.map(.signalException) { _ in } },
    path: "kSignalException.kThreadID"),
  RejectionCase(
    name: "a Mach exception with a thread id of 4 bytes", code: "exception-without-thread",
    bytes: behind { $0.map(.machException) { $0.property(.threadID, uint32: 1) } }, path: "kMachException.kThreadID"),
  RejectionCase(
    name: "an NSException whose last thread id is a map", code: "exception-without-thread",
    bytes: behind {
      $0.map(.nsException) {
        $0.property(.threadID, uint64: 1)
        $0.map(.threadID) { _ in }
      }
    }, path: "kNSException.kThreadID"),
  RejectionCase(
    name: "a signal without thread before a good Mach exception", code: "exception-without-thread",
    bytes: behind {
      $0.map(.machException) { $0.property(.threadID, uint64: 1) }
      $0.map(.signalException) { _ in }
    }, path: "kSignalException.kThreadID"),
]

@Suite("DumpInterpreter: rejections")
struct RejectionTests {
  @Test("A dump that Crashpad makes no report of is rejected, and the last error says why", arguments: rejections)
  func rejected(_ example: RejectionCase) throws {
    let result = Interpreted(example.bytes)
    #expect(result.snapshot == nil)
    let last = try #require(result.findings.last { $0.severity == .error })
    #expect(last.rule.code == example.code)
    #expect(last.path == example.path)
  }

  @Test("The small dump of these tests is accepted as it is")
  func accepted() {
    #expect(Interpreted(SmallDump().bytes).snapshot != nil)
    #expect(Interpreted(SmallDump().bytes).codes == [])
  }

  @Test("A later duplicate that cannot be used hides a good one, and a good one hides that")
  func duplicates() {
    #expect(
      Interpreted(
        behind {
          $0.property(.version, [2])
          $0.property(.version, [1])
        }
      ).snapshot != nil)
    #expect(
      Interpreted(
        behind {
          $0.property(.processInfo, [])
          $0.map(.processInfo) { $0.property(.pid, int32: 9) }
        }
      ).snapshot?.processID == 9)
  }

  @Test("Version, place and value of a wrong version are in the finding")
  func versionFinding() throws {
    let bytes = behind { $0.property(.version, [2]) }
    let finding = try #require(Interpreted(bytes).findings.last)
    #expect(finding.expected == .number(1))
    #expect(finding.found == .number(2))
    #expect(finding.offset == DumpRecords.walk(bytes).records.last { $0.key == 1 }?.start)
  }

  @Test("Threads, modules and an exception may all be missing")
  func bare() {
    let bytes = without(.threads)
    let result = Interpreted(bytes, architecture: .arm64)
    #expect(result.snapshot?.threads.isEmpty == true)
    #expect(result.snapshot?.modules.isEmpty == true)
    #expect(result.snapshot?.exception == nil)
    #expect(result.snapshot?.system.architecture == .arm64)
  }

  @Test("An incomplete dump is marked, and keeps what was read")
  func incomplete() throws {
    let bytes = SmallDump().bytes.dropLast(1)
    let result = Interpreted(Array(bytes))
    let snapshot = try #require(result.snapshot)
    #expect(!snapshot.isComplete)
    #expect(result.codes.first == "no-root-end")
    #expect(snapshot.threads.count == 1)
    #expect(
      result.texts(snapshot.annotations) == ["crashpad_intermediate_dump_incomplete=yes", "crashpad_uptime_ns=0"])
  }

  @Test("Every rule of the interpreter has a code of its own")
  func codes() {
    let codes = InterpretationRules.all.map(\.code) + DumpRules.all.map(\.code)
    #expect(Set(codes).count == codes.count)
  }
}
