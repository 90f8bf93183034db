// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// A dump whose contents are known, and the minidump that the tool makes of it.
struct Subject: CustomTestStringConvertible, Sendable {
  let label: String
  let parameters: SynthParameters

  var testDescription: String { label }

  private init(_ label: String, _ architecture: SynthArchitecture, _ exception: SynthException, seed: UInt64) {
    self.label = "\(architecture.rawValue), \(label)"
    var parameters = SynthParameters(architecture: architecture, seed: seed)
    parameters.exception = exception
    parameters.threadCount = 4
    parameters.stackBytes = 2048
    parameters.crashedThread = 1
    // Otherwise lr repeats the innermost return address, and walkers find that frame twice.
    parameters.leafFrames = true
    parameters.unreadableContextRegions = false
    self.parameters = parameters
  }

  static let all = SynthArchitecture.allCases.flatMap { architecture in
    [
      Subject("mach", architecture, .badAccess, seed: 21), Subject("signal", architecture, .abort, seed: 22),
      Subject("nsexception", architecture, .nsException(frames: 12), seed: 23),
      Subject("simulated", architecture, .simulated, seed: 24), Subject("none", architecture, .none, seed: 25),
    ]
  }

  /// Writes `crash.idump` and converts it to `crash.dmp`.
  func convert(in folder: TemporaryFolder) throws -> SynthDump {
    let dump = SynthDump(parameters)
    try folder.write(dump.bytes, to: "crash.idump")
    let result = try Tool.run(["convert", "crash.idump"], in: folder)
    try #require(result.status == 0, "\(result.errorText)")
    return dump
  }
}

/// Registers by the names that debuggers use.
extension SynthDump {
  /// The registers of a thread in a debugger: in the thread that crashed, those of the exception.
  func registers(of index: Int) -> [String: UInt64] {
    let thread = threads[index]
    if !thread.hasState, thread.uncaughtFrames.count > 1 {
      return ["pc": thread.uncaughtFrames[0], "lr": thread.uncaughtFrames[1], "fp": 8, "sp": 0, "x0": 0]
    }
    guard exceptionThreadID == thread.id else { return Self.named(thread.registers) }
    // An NSException without frames leaves no registers in the minidump, as Crashpad has it.
    return Self.named(exceptionRegisters ?? SynthRegisters(architecture: parameters.architecture))
  }

  static func named(_ registers: SynthRegisters) -> [String: UInt64] {
    let names =
      registers.architecture == .arm64
      ? (0...28).map { "x\($0)" } + ["fp", "lr", "sp", "pc"]
      : [
        "rax", "rbx", "rcx", "rdx", "rdi", "rsi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
        "rip",
        "rflags", "cs", "fs", "gs",
      ]
    return Dictionary(uniqueKeysWithValues: zip(names, registers.values))
  }

  /// The frames that a walk finds: the pc, then return addresses, which lead behind the call.
  func backtrace(of index: Int) -> [UInt64] {
    let thread = threads[index]
    if !thread.hasState { return thread.uncaughtFrames }
    guard exceptionThreadID == thread.id else { return thread.backtrace }
    guard let registers = exceptionRegisters else { return [0] }
    return [registers.pc] + thread.backtrace.dropFirst()
  }
}

/// Numbers in the texts of other programs.
extension StringProtocol {
  var hex: UInt64? { hasPrefix("0x") ? UInt64(dropFirst(2), radix: 16) : UInt64(self, radix: 16) }
}
