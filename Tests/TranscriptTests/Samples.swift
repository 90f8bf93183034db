// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import ToolRunner

/// The inputs of the transcripts, by the names that a user could have given them. Always the same bytes.
enum Samples {
  static let files: [String: [UInt8]] = {
    var files = good
    let more = [
      framing, keys, meaning, contradictions, minidumps, windowsMinidumps, microdumps,
      damagedMinidumps, documents, cores, damagedCores, programs, sharedCaches,
      symbolFiles, reports, explainedReports,
    ]
    for more in more {
      files.merge(more) { _, _ in preconditionFailure("two samples have the same name") }
    }
    return files
  }()

  /// Writes those samples that `commands` name; of a folder that they name, all that is in it.
  static func write(namedIn commands: String, to folder: TemporaryFolder) throws {
    let words = commands.split { " \n<>|;\"'$()".contains($0) }.map { $0.hasSuffix("/") ? $0.dropLast() : $0 }
    let named = Set(words.map(String.init))
    if named.contains("libcrashpad_handler.so") {
      try FileManager.default.copyItem(
        at: URL(fileURLWithPath: HandlerLibrary.path()), to: folder.url("libcrashpad_handler.so"))
    }
    for (name, bytes) in files {
      let folders = name.split(separator: "/").dropLast().reduce(into: [String]()) { list, part in
        list.append(list.last.map { $0 + "/" + part } ?? String(part))
      }
      if named.contains(name) || folders.contains(where: named.contains) { try folder.write(bytes, to: name) }
    }
  }

  // MARK: Dumps without a fault

  /// Small, so that people can read what is printed of it.
  static func small(
    _ exception: SynthException = .badAccess, _ architecture: SynthArchitecture = .arm64, seed: UInt64 = 1
  ) -> SynthParameters {
    var parameters = SynthParameters(architecture: architecture, seed: seed)
    parameters.exception = exception
    parameters.threadCount = 2
    parameters.stackBytes = 512
    parameters.contextRegionsPerThread = 2
    parameters.contextRegionBytes = 32
    parameters.moduleCount = 4
    parameters.annotationsPerModule = 1
    parameters.extraMemoryRegionBytes = 64
    parameters.processAnnotations = 1
    return parameters
  }

  static let crash = SynthDump(small()).bytes
  static let signal = SynthDump(small(.abort, seed: 2)).bytes
  static let simulator = SynthDump(small(.badAccess, .x86_64, seed: 4)).bytes

  private static let good: [String: [UInt8]] = [
    "crash.idump": crash,
    "signal.idump": signal,
    "nsexception.idump": SynthDump(small(.nsException(frames: 6), seed: 3)).bytes,
    "simulator.idump": simulator,
    "no-crash.idump": SynthDump(small(.none, seed: 5)).bytes,
    "simulated.idump": SynthDump(small(.simulated, seed: 6)).bytes,
    "tiny.idump": SynthDump(.tiny()).bytes,
    "odd-text.idump": oddText,
    "linux.idump": SynthLinuxDump().bytes,
    "linux-arm64.idump": SynthLinuxDump(.arm64).bytes,
    "linux-partial.idump": linuxPartial,
    "linux-truncated.idump": Array(linuxPartial.prefix(linuxPartial.count * 6 / 10)),
    "linux-simulated.idump": linuxSimulated,
    "truncated.idump": Array(crash.prefix(crash.count * 6 / 10)),
    "dump-without-extension": signal,
    "artifacts/crash.idump": crash,
    "artifacts/signal.idump": signal,
    "artifacts/truncated.idump": Array(crash.prefix(crash.count * 6 / 10)),
    "artifacts/notes.txt": Array("Not a dump.\n".utf8),
    "artifacts/crash.dmp": SynthMinidump(smallMinidump(.arm64, .ios)).bytes,
    "artifacts/.hidden.idump": crash,
    "artifacts/old/simulator.idump": simulator,
    "artifacts/old/empty.idump": [],
    "artifacts/old/2023/signal.idump": signal,
    "whole/crash.idump": crash,
    "whole/signal.idump": signal,
    "pending/com.example.app@1b4e28ba-2fa1-41d2-883f-0016d3cca427": crash,
    "pending/com.example.app@5c0e1a52-7d1e-4e8f-9a55-3f0d6b1c2d3e.locked": Array(signal.prefix(3000)),
    "pending/settings.dat": [0, 1, 2, 3],
    "other/notes.txt": Array("Not a dump.\n".utf8),
    "other/picture.png": [0x89, 0x50, 0x4e, 0x47],
    "empty.idump": [],
    "notes.txt": Array("Meet at ten, bring the crash.\n".utf8),
  ]

  /// The dump of a Linux process whose threads could not all be stopped.
  private static let linuxPartial: [UInt8] = {
    var dump = SynthLinuxDump(threads: 4)
    dump.signal = (6, -6, 0)
    dump.threads[1].capture = 3
    dump.threads[2].capture = 4
    dump.threads[3].capture = 5
    dump.captureNotes = [
      "thread 4244 was not stopped; only its stack and program pointer are known",
      "thread 4245 was not stopped; its registers are not known",
    ]
    dump.arguments[0] = "./example"
    return dump.bytes
  }()

  /// The dump of a Linux process that lives on.
  private static let linuxSimulated: [UInt8] = {
    var dump = SynthLinuxDump(threads: 1)
    dump.signal = (-1, 0, dump.threads[0].registers.pc)
    dump.release = nil
    dump.distribution = nil
    return dump.bytes
  }()

  /// Names with what a terminal, XML, JSON or a URI must not see as it is.
  private static let oddText: [UInt8] = {
    var parameters = small(seed: 7)
    parameters.product = "<Ex&mple> \"🙂\"\u{1b}[31m\r\n\u{202e}"
    parameters.executableName = "Exämple 🙂"
    parameters.threadNames = ["main\u{7}\u{0}thread", "tab\tquote\"back\\slash"]
    return SynthDump(parameters).bytes
  }()
}

/// Changes to the bytes of a dump, by key.
extension [UInt8] {
  func records(_ key: DumpKey) -> [DumpRecord] {
    DumpRecords.walk(self).records.filter { $0.key == key.rawValue }
  }

  func record(_ key: DumpKey, _ index: Int = 0) -> DumpRecord { records(key)[index] }

  /// Without the record and all that is in it.
  func without(_ key: DumpKey, _ index: Int = 0) -> [UInt8] { Damage.replacing(self, range(key, index), with: []) }

  func setting(_ key: DumpKey, _ index: Int = 0, to value: [UInt8]) -> [UInt8] {
    Damage.settingValue(self, of: record(key, index), to: value)
  }

  /// The record with all that is in it.
  func range(_ key: DumpKey, _ index: Int = 0) -> Range<Int> {
    let record = record(key, index)
    return record.subtree ?? record.start..<record.end
  }

  func inserting(before key: DumpKey, _ index: Int = 0, _ body: (inout DumpBuilder) -> Void) -> [UInt8] {
    var builder = DumpBuilder()
    body(&builder)
    return Damage.inserting(builder.bytes, into: self, at: record(key, index).start)
  }
}
