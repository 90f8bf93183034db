// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import Foundation
import IntermediateDump
import CrashpadMinidump
import CrashpadSnapshot
import Testing

/// Dumps and the minidumps that Crashpad's own code makes of them.
struct Corpus: Decodable, Sendable {
  struct Dump: Decodable, Sendable {
    let args: [String]
    let arch: String
    let note: String
    let outcome: String
    /// Offset and count of bytes that Crashpad leaves to chance.
    var undefined_bytes: [[Int]]?
  }

  let report_id: String
  let client_id: String
  let dumps: [String: Dump]

  /// `$CRASHPADCTL_CORPUS`, or the one beside this file.
  static let directory =
    ProcessInfo.processInfo.environment["CRASHPADCTL_CORPUS"].map { URL(fileURLWithPath: $0) }
    ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Corpus")

  static let loaded: Corpus? = {
    guard let data = try? Data(contentsOf: directory.appendingPathComponent("manifest.json")) else { return nil }
    return try? JSONDecoder().decode(Corpus.self, from: data)
  }()

  static func names(_ outcome: String) -> [String] {
    (loaded?.dumps.filter { $0.value.outcome == outcome }.keys).map { $0.sorted() } ?? []
  }

  static func bytes(_ path: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: directory.appendingPathComponent(path)))
  }
}

@Suite("Corpus: Crashpad's own minidumps")
struct CorpusTests {
  /// The library's minidump of a dump; nil if it is rejected, and then the findings say why.
  private func convert(_ name: String, _ architecture: CPUArchitecture? = nil) throws -> (
    minidump: [UInt8]?, findings: [Finding]
  ) {
    let corpus = try #require(Corpus.loaded)
    let entry = try #require(corpus.dumps[name])
    var options = DumpInterpreter.Options()
    options.architecture = architecture
    options.reportID = try #require(UUIDBytes(text: corpus.report_id))
    options.clientID = try #require(UUIDBytes(text: corpus.client_id))
    for (index, argument) in entry.args.enumerated() {
      if argument == "--annotation" { continue }
      // No other argument is known here; one that comes up later has to be handled.
      try #require(index > 0 && entry.args[index - 1] == "--annotation")
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      options.annotations.append((String(parts[0]), String(parts[1])))
    }
    let array = try Corpus.bytes("\(name).idump")
    let bytes = unsafe array.span.bytes
    let result = DumpInterpreter.interpret(DumpTree(parsing: bytes), in: bytes, options: options)
    guard let snapshot = result.snapshot else { return (nil, Array(result.findings)) }
    let output = MemoryOutput()
    var writer = ByteWriter(to: output)
    try MinidumpWriter(snapshot, input: bytes).write(to: &writer, bytes)
    try writer.finish()
    return (output.bytes, Array(result.findings))
  }

  @Test("The manifest is read, and has every outcome")
  func manifest() throws {
    let corpus = try #require(Corpus.loaded)
    #expect(!corpus.dumps.isEmpty)
    #expect(Set(corpus.dumps.values.map(\.outcome)) == ["converted", "rejected", "crashed"])
  }

  @Test("A dump that Crashpad converts gives the same bytes", arguments: Corpus.names("converted"))
  func converted(_ name: String) throws {
    let entry = try #require(Corpus.loaded?.dumps[name])
    // The architecture is a fact of compilation for Crashpad; a dump cannot always tell it.
    let architecture = try #require(CPUArchitecture(rawValue: entry.arch))
    var mine = try #require(try convert(name).minidump ?? convert(name, architecture).minidump, "\(entry.note)")
    var golden = try Corpus.bytes("golden/\(name).dmp")
    for range in entry.undefined_bytes ?? [] {
      for offset in range[0]..<range[0] + range[1] {
        if offset < mine.count { mine[offset] = 0 }
        if offset < golden.count { golden[offset] = 0 }
      }
    }
    #expect(mine.count == golden.count, "\(entry.note)")
    let difference = zip(mine, golden).enumerated().first { $1.0 != $1.1 }?.offset
    #expect(difference == nil, "\(entry.note)")
  }

  @Test("A dump that tells its architecture gives the same bytes when it is told", arguments: Corpus.names("converted"))
  func told(_ name: String) throws {
    let entry = try #require(Corpus.loaded?.dumps[name])
    guard let own = try convert(name).minidump else { return }
    #expect(try convert(name, CPUArchitecture(rawValue: entry.arch)).minidump == own)
  }

  @Test("A dump that Crashpad rejects is rejected, with the reason", arguments: Corpus.names("rejected"))
  func rejected(_ name: String) throws {
    let entry = try #require(Corpus.loaded?.dumps[name])
    for architecture in [nil, CPUArchitecture(rawValue: entry.arch)] {
      let result = try convert(name, architecture)
      #expect(result.minidump == nil, "\(entry.note)")
      #expect(result.findings.contains { $0.severity == .error }, "\(entry.note)")
    }
  }

  @Test("A dump that ends Crashpad itself is a dump like any other", arguments: Corpus.names("crashed"))
  func crashed(_ name: String) throws {
    let minidump = try #require(try convert(name).minidump)
    #expect(minidump.starts(with: Array("MDMP".utf8)))
  }
}
