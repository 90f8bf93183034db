// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Linux minidumps of dumps that a handler within a Linux process wrote.
struct LinuxSubject: CustomTestStringConvertible, Sendable {
  let dump: SynthLinuxDump
  let label: String

  var testDescription: String { label }

  static let all = SynthArchitecture.allCases.map { architecture in
    LinuxSubject(dump: SynthLinuxDump(architecture, threads: 3), label: architecture.rawValue)
  }

  /// Writes `crash.idump` and converts it to `crash.dmp`.
  func convert(in folder: TemporaryFolder) throws {
    try folder.write(dump.bytes, to: "crash.idump")
    let result = try Tool.run(["convert", "crash.idump"], in: folder)
    try #require(result.status == 0, "\(result.errorText)")
  }
}

@Suite(
  "Breakpad's minidump_stackwalk, Linux processes",
  .enabled(if: Peers.minidumpStackwalk != nil, "minidump_stackwalk is not installed"))
struct LinuxStackwalkTests {
  private func walk(_ subject: LinuxSubject) throws -> [[Substring]] {
    let folder = try TemporaryFolder()
    try subject.convert(in: folder)
    let result = try Tool.shell("'\(Peers.minidumpStackwalk ?? "")' -m crash.dmp 2>/dev/null", in: folder)
    #expect(result.status == 0)
    return result.outputLines.map { $0.split(separator: "|", omittingEmptySubsequences: false) }
  }

  @Test("It names system, processor and crash", arguments: LinuxSubject.all)
  func overview(_ subject: LinuxSubject) throws {
    let rows = try walk(subject)
    #expect(rows[0] == ["OS", "Linux", "6.1.55 \(subject.dump.uname)"])
    #expect(rows[1][1] == (subject.dump.architecture == .arm64 ? "arm64" : "amd64") && rows[1].last == "8")
    let crash = rows.first { $0.first == "Crash" } ?? []
    #expect(crash == ["Crash", "SIGSEGV /SEGV_MAPERR", "0x10", "0"])
  }

  @Test("It finds modules with their debug ids, made of the build ids", arguments: LinuxSubject.all)
  func modules(_ subject: LinuxSubject) throws {
    let shown = try walk(subject).filter { $0.first == "Module" }
    // It lists them by address, as the dump does.
    #expect(
      shown.map { String($0[1]) } == subject.dump.modules.map { String($0.path.split(separator: "/").last ?? "") })
    for (row, module) in zip(shown, subject.dump.modules) {
      guard let id = module.buildID else { continue }
      // The first half of a GUID is little-endian numbers.
      let padded = Array((id + [UInt8](repeating: 0, count: 16)).prefix(16))
      let order = [3, 2, 1, 0, 5, 4, 7, 6] + Array(8..<16)
      #expect(row[4].lowercased() == Hex.digits(order.map { padded[$0] }) + "0")
    }
  }

  @Test("It walks every stack as it was built", arguments: LinuxSubject.all.filter { $0.dump.architecture == .x86_64 })
  func frames(_ subject: LinuxSubject) throws {
    let rows = try walk(subject).filter { $0.count == 7 && Int($0[0]) != nil }
    for (index, thread) in subject.dump.threads.enumerated() {
      let frames = rows.filter { Int($0[0]) == index }.map { row in
        let module = subject.dump.modules.first { $0.path.hasSuffix("/\(row[2])") }
        return (module?.address ?? 0) + (row[6].hex ?? 0)
      }
      #expect(frames == thread.backtrace)
    }
  }
}
