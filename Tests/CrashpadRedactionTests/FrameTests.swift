// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import CrashpadRedaction
import Testing
import ToolRunner

/// Stacks of redacted dumps have the frames that they had before.
@Suite("Frames of redacted dumps")
struct FrameTests {
  /// The output of `symbolize`, without sizes and without the arguments of the command line, which are removed.
  private func frames(_ bytes: [UInt8], _ folder: TemporaryFolder, _ name: String) throws -> [Substring] {
    try Data(bytes).write(to: folder.work.appending(path: name))
    let result = try Tool.run(["symbolize", "--addresses", "--threads", "all", name], in: folder)
    #expect(result.status == 0)
    return result.outputLines.dropFirst().filter { !$0.hasPrefix("Command ") }
  }

  private func check(_ bytes: [UInt8], _ what: String) throws {
    let folder = try TemporaryFolder()
    for (index, bytes) in [bytes, try minidump(of: bytes)].enumerated() {
      let name = index == 0 ? "a.idump" : "a.dmp"
      let before = try frames(bytes, folder, name)
      #expect(
        before.count { $0.contains("frame_pointer") } > 0 || before.contains { $0.contains("prewalked") }, "\(what)")
      #expect(try frames(Redacted(bytes).bytes, folder, name) == before, "\(what), \(name)")
      let validation = try Tool.run(["validate", name], in: folder)
      #expect(validation.status == 0, "\(what), \(name): \(validation.errorText)")
    }
  }

  @Test("Frames of iOS and its simulator", arguments: SynthArchitecture.allCases)
  func ios(_ architecture: SynthArchitecture) throws {
    for exception in [SynthException.badAccess, .abort, .nsException(frames: 12)] {
      var parameters = SynthParameters(architecture: architecture, seed: 9)
      parameters.exception = exception
      parameters.threadCount = 4
      try check(SynthDump(parameters).bytes, "\(architecture) \(exception)")
    }
  }

  @Test("Frames of Linux", arguments: SynthArchitecture.allCases)
  func linux(_ architecture: SynthArchitecture) throws {
    try check(SynthLinuxDump(architecture, threads: 3).bytes, "\(architecture)")
  }

  @Test("Frames of code that the program compiled", arguments: SynthArchitecture.allCases)
  func compiledCode(_ architecture: SynthArchitecture) throws {
    var dump = SynthLinuxDump(architecture, threads: 3)
    dump.mapped = [(0x4000_0000, 0x1_0000, "rwxp")]
    for index in dump.threads.indices {
      let start = Int(dump.threads[index].registers.fp - dump.threads[index].stackAddress)
      dump.threads[index].stack.overwrite(UInt64(0x4000_0124), width: 8, at: start + 8)
      if architecture == .arm64 { dump.threads[index].registers.lr = 0x4000_0124 }
    }
    let folder = try TemporaryFolder()
    #expect(try frames(dump.bytes, folder, "a.idump").contains { $0.contains("0x0000000040000124") })
    try check(dump.bytes, "\(architecture)")
  }

  @Test("Return addresses with authentication codes stay as they are")
  func signed() throws {
    var parameters = SynthParameters(architecture: .arm64, seed: 9)
    parameters.threadCount = 3
    parameters.signedReturnAddresses = true
    try check(SynthDump(parameters).bytes, "signed")
  }
}
