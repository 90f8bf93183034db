// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import IntermediateDump
import CrashpadSnapshot

/// Hands an array's bytes to `body`.
func withBytes<Result>(_ array: [UInt8], _ body: (RawSpan) throws -> Result) rethrows -> Result {
  try unsafe body(array.span.bytes)
}

/// A dump and what the interpreter made of it.
struct Interpreted {
  let bytes: [UInt8]
  let snapshot: ProcessSnapshot?
  let findings: [Finding]

  init(_ bytes: [UInt8], _ options: DumpInterpreter.Options = DumpInterpreter.Options()) {
    self.bytes = bytes
    let result = withBytes(bytes) {
      DumpInterpreter.interpret(DumpTree(parsing: $0, limits: options.limits), in: $0, options: options)
    }
    snapshot = result.snapshot
    findings = Array(result.findings)
  }

  init(_ bytes: [UInt8], architecture: CPUArchitecture) {
    var options = DumpInterpreter.Options()
    options.architecture = architecture
    self.init(bytes, options)
  }

  var codes: [String] { findings.map(\.rule.code) }

  func bytes(of content: SnapshotBytes?) -> [UInt8]? {
    guard let content, let snapshot else { return nil }
    return withBytes(bytes) { snapshot.bytes(of: content, in: $0) }
  }

  func text(_ content: SnapshotBytes?) -> String? { bytes(of: content).map { String(decoding: $0, as: UTF8.self) } }

  /// "name=value" of each annotation.
  func texts(_ annotations: [Annotation]?) -> [String]? {
    annotations?.map { "\(text($0.name) ?? "")=\(text($0.value) ?? "")" }
  }

  /// Address and bytes of each region.
  func regions(_ regions: [MemoryRegion]?) -> [Region]? {
    regions?.map { Region(address: $0.address, bytes: bytes(of: $0.content) ?? []) }
  }

  struct Region: Equatable {
    var address: UInt64
    var bytes: [UInt8]
  }
}

/// A small dump with states of the right size: the parts that a test cares about are put in by its closures.
struct SmallDump {
  typealias Part = (inout DumpBuilder) -> Void

  var architecture = SynthArchitecture.arm64
  var root: Part = { _ in }
  var process: Part = { _ in }
  var system: Part = { _ in }
  var modules: Part?
  /// Behind the states, one for each thread.
  var threads: [Part] = [{ $0.property(.threadID, uint64: 1) }]

  var bytes: [UInt8] {
    var builder = DumpBuilder()
    builder.root { dump in
      dump.property(.version, [1])
      dump.map(.processInfo, process)
      dump.map(.systemInfo, system)
      dump.array(.threads) { array in
        for thread in threads {
          array.mapInArray {
            States.write(architecture, to: &$0)
            thread(&$0)
          }
        }
      }
      if let modules { dump.array(.modules, modules) }
      root(&dump)
    }
    return builder.bytes
  }
}

/// Thread states with a number in each register: register n of the thread state is `base + n`.
enum States {
  static func thread(_ architecture: SynthArchitecture, base: UInt64 = 0x1000) -> [UInt8] {
    Bytes.of((0..<(architecture == .arm64 ? 34 : 21)).map { base + UInt64($0) })
  }

  static func float(_ architecture: SynthArchitecture, fill: UInt8 = 0x11) -> [UInt8] {
    [UInt8](repeating: fill, count: architecture == .arm64 ? 528 : 524)
  }

  static func debug(_ architecture: SynthArchitecture) -> [UInt8] {
    Bytes.of((0..<(architecture == .arm64 ? 65 : 8)).map { 0xd000 + UInt64($0) })
  }

  static func write(_ architecture: SynthArchitecture, to dump: inout DumpBuilder) {
    dump.property(.threadState, thread(architecture))
    dump.property(.floatState, float(architecture))
    dump.property(.debugState, debug(architecture))
  }
}

extension CPUContext {
  var arm64: ARM64Context? { if case .arm64(let context) = self { context } else { nil } }
  var x86_64: X86_64Context? { if case .x86_64(let context) = self { context } else { nil } }
}

extension Interpreted {
  /// The general registers in the order of Darwin's thread state, as the synthesiser lists them.
  static func values(_ context: CPUContext?) -> [UInt64]? {
    switch context {
    case .arm64(let context):
      return (0..<29).map { context.x[$0] } + [context.fp, context.lr, context.sp, context.pc, UInt64(context.cpsr)]
    case .x86_64(let context):
      return [
        context.rax, context.rbx, context.rcx, context.rdx, context.rdi, context.rsi, context.rbp, context.rsp,
      ] + (0..<8).map { context.r[$0] } + [context.rip, context.rflags, context.cs, context.fs, context.gs]
    default: return nil
    }
  }
}
