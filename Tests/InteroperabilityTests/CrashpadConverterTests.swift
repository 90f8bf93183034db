// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Crashpad's own conversion of intermediate dumps: `CRASHPAD_IOS_CONVERTER` names a program that is called as
/// `IN OUT --report-id ID --client-id ID`, made of Crashpad's code for this machine's architecture.
@Suite(
  "Crashpad's own converter",
  .enabled(if: Peers.crashpadConverter != nil, "CRASHPAD_IOS_CONVERTER names no program"))
struct CrashpadConverterTests {
  private static let kinds = [
    "null", "wild", "jump-null", "stack-overflow", "double-free", "heap-overflow", "bus", "fatal-error", "precondition",
    "bounds", "overflow", "force-unwrap", "cast", "abort", "assert", "smash", "cxx-exception", "cxx-integer",
    "pure-virtual", "fpe", "illegal", "trap", "sys", "raise", "two-threads", "exit --dump 1",
  ]
  private static let id = "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1"

  /// It takes the file that it reads away, as Crashpad does.
  private func convert(_ dump: String, in folder: TemporaryFolder) throws -> Tool.Outcome {
    try Tool.shell(
      """
      cp '\(dump)' theirs.idump && '\(Peers.crashpadConverter ?? "")' theirs.idump theirs.dmp \
        --report-id \(Self.id) --client-id \(Self.id)
      """, in: folder)
  }

  @Test("It makes the same minidump of a dump of iOS", arguments: Subject.all.filter { $0.runsHere })
  func iOS(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    _ = try subject.convert(in: folder)
    let ours = ["convert", "crash.idump", "-o", "ours.dmp", "--report-id", Self.id, "--client-id", Self.id]
    #expect(try Tool.run(ours, in: folder).status == 0)
    let result = try convert("crash.idump", in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try folder.bytes(of: "ours.dmp") == folder.bytes(of: "theirs.dmp"))
  }

  @Test("It takes what the handler captures of a Linux process, and finds the same in it", arguments: kinds)
  func captured(_ kind: String) throws {
    let folder = try TemporaryFolder()
    let program = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().appending(path: "crashing-program").path
    _ = try Tool.shell(
      """
      ulimit -c 0; export SWIFT_BACKTRACE=enable=no
      '\(program)' \(kind) --threads 5 --blocking 1 --in other --database db
      mv db/pending-serialized-ios-dump/*[0-9a-f] ours.idump
      """, in: folder)
    let result = try convert("ours.idump", in: folder)
    try #require(result.status == 0, "\(result.errorText)")
    let ours = try JSONDocument(Tool.run(["inspect", "--format", "json", "ours.idump"], in: folder).output)
    let theirs = try JSONDocument(Tool.run(["inspect", "--format", "json", "theirs.dmp"], in: folder).output)
    #expect(ours["threads"].array.count >= 6 && ours["modules"].array.count > 3)
    #expect(threads(ours) == threads(theirs))
    #expect(modules(ours) == modules(theirs))
    #expect(exception(ours) == exception(theirs))
    for member in ["pid", "start_time", "snapshot_time"] {
      // A minidump counts whole seconds.
      #expect(
        words(ours["process"], [member]).map { $0.prefix(19) }
          == words(theirs["process"], [member]).map { $0.prefix(19) })
    }
    #expect(
      words(ours["system"], ["os_version", "cpu_count", "architecture"])
        == words(theirs["system"], ["os_version", "cpu_count", "architecture"]))
    // Crashpad sees an iOS signal, whose code is that of the Mach exception EXC_SOFT_SIGNAL.
    let codes = theirs["exception"]["codes"].array.compactMap(\.hex)
    #expect(codes == [0x10003, ours["exception"]["code"].hex, ours["exception"]["info"].hex])
    #expect(Set(memory(ours)).isSubset(of: memory(theirs)))
  }

  // MARK: What inspect says, as words

  private func words(_ json: JSONDocument, _ members: [String]) -> [String] {
    members.map { json[$0].string ?? json[$0].int.map { "\($0)" } ?? "-" }
  }

  private func registers(_ json: JSONDocument) -> [String] {
    json["registers"].keys.sorted().map { "\($0)=\(json["registers"][$0].string ?? "-")" }
  }

  private func threads(_ json: JSONDocument) -> [[String]] {
    json["threads"].array.map { thread in
      words(thread, ["id", "name", "priority", "data_address"]) + words(thread["stack"], ["address", "bytes"])
        + registers(thread)
    }
  }

  private func modules(_ json: JSONDocument) -> [[String]] {
    json["modules"].array.map { module in
      // Crashpad knows the first sixteen bytes of a build id, as a UUID.
      let identity = (module["identity"].string ?? "").filter { $0 != "-" }.lowercased().prefix(32)
      return words(module, ["name", "address", "size"]) + [String(identity)]
        + module["messages"].array.map { $0.string ?? "-" }
    }
  }

  private func exception(_ json: JSONDocument) -> [String] {
    words(json["exception"], ["thread_id", "thread_index", "address"]) + registers(json["exception"])
  }

  /// All regions but those that overlap others: Crashpad's writer leaves out what overlaps a stack.
  private func memory(_ json: JSONDocument) -> [Range<UInt64>] {
    let ranges = json["memory"].array.compactMap { region -> Range<UInt64>? in
      guard let start = region["address"].hex, let size = region["bytes"].int else { return nil }
      return start..<start + UInt64(size)
    }
    return ranges.filter { one in ranges.count { $0.overlaps(one) } == 1 }
  }
}

extension Subject {
  /// Whether it is of the architecture that this runs on.
  fileprivate var runsHere: Bool {
    #if arch(arm64)
      parameters.architecture == .arm64
    #else
      parameters.architecture == .x86_64
    #endif
  }
}
