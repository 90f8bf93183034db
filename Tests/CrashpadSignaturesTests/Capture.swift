// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Foundation
import CrashpadJSON
import CrashpadSnapshot
import CrashpadSymbolication
import Testing

@testable import CrashpadSignatures

/// A crash of `Faults/`: a line of captures.ndjson or apple.ndjson, as Faults/README.md describes it.
struct Capture: Sendable, CustomTestStringConvertible {
  struct Frame: Sendable {
    /// In `modules`; nil outside of them.
    var module: Int?
    /// In the module, of the next instruction.
    var offset: UInt64
    /// As the symbols have it.
    var function: String?
    /// The calls that were inlined into it, the innermost first.
    var inlined: [String?] = []
  }

  struct Module: Sendable {
    let path: String
    /// Hexadecimal; empty of a module without an id.
    let identity: String
  }

  let fault: String
  let language: String
  /// Whether it belongs to the part that no rule was written against.
  let isHeld: Bool
  let build: String
  let modules: [Module]
  var threads: [[Frame]]
  var lastException: [Frame]
  var crashed: Int
  let line: String
  private let signal: UInt64?
  private let code: UInt64
  private let faultAddress: UInt64
  private let stackPointer: UInt64
  private let mach: [Int128]
  private let termination: ReportSnapshot.Termination?
  let isApple: Bool

  var isStripped: Bool { build.contains("stripped") }
  var testDescription: String { "\(fault), \(build)" }

  init?(_ line: String) {
    let bytes = Array(line.utf8)
    let tree = unsafe JSONTree(bytes.span.bytes)
    guard let root = tree.root, let fault = root["fault"]?.string, let threads = root["threads"] else { return nil }
    self.line = line
    self.fault = fault
    language = root["language"]?.string ?? ""
    isHeld = root["held"]?.bool == true
    build = root["build"]?.string ?? ""
    isApple = root["system"]?.string == "ios"
    modules = (root["modules"]?.elements ?? []).map {
      Module(path: $0.elements[0].string ?? "", identity: $0.elements[1].string ?? "")
    }
    self.threads = threads.elements.map { $0.elements.map(Self.frame) }
    lastException = (root["last"]?.elements ?? []).map(Self.frame)
    crashed = root["crashed"]?.integer.flatMap { Int(exactly: $0) } ?? 0
    signal = root["signal"]?.uint64
    code = root["code"]?.uint64 ?? 0
    faultAddress = root["address"]?.uint64 ?? 0
    stackPointer = root["stack"]?.uint64 ?? 0
    mach = (root["mach"]?.elements ?? []).compactMap(\.integer)
    termination = root["termination"].map { value in
      var termination = ReportSnapshot.Termination()
      termination.namespace = value.elements[0].string
      termination.code = value.elements[1].uint64
      termination.reasons = value.elements.dropFirst(2).compactMap { $0.string }
      return termination
    }
  }

  private static func frame(_ value: JSONValue) -> Frame {
    let parts = value.elements
    return Frame(
      module: parts[0].integer.flatMap { Int(exactly: $0) }, offset: parts[1].uint64 ?? 0, function: parts[2].string,
      inlined: parts.count > 3 ? parts[3].elements.map(\.string) : [])
  }

  // MARK: Snapshot

  /// - Parameter slide: what is added to the addresses of all modules and stacks.
  func snapshot(slide: UInt64 = 0) -> ProcessSnapshot {
    var snapshot = ProcessSnapshot(
      system: SystemSnapshot(architecture: isApple ? .arm64 : .x86_64, operatingSystem: isApple ? .ios : .linux))
    for (index, recorded) in modules.enumerated() {
      var module = ModuleSnapshot()
      module.name = snapshot.store(recorded.path)
      module.address = address(of: index, slide)
      module.size = 1 << 24
      module.fileType =
        recorded.path.hasPrefix("/srv/shop/") || recorded.path.hasSuffix("Atlas.app/Atlas")
        ? .executable : .sharedLibrary
      let bytes = stride(from: 0, to: recorded.identity.count - 1, by: 2).compactMap { start in
        UInt8(String(recorded.identity.dropFirst(start).prefix(2)), radix: 16)
      }
      module.identity = bytes.isEmpty ? nil : .buildID(snapshot.store(bytes))
      snapshot.modules.append(module)
    }
    for (index, frames) in threads.enumerated() {
      var thread = ThreadSnapshot()
      thread.id = UInt64(index + 100)
      thread.frames = recorded(frames, slide)
      snapshot.threads.append(thread)
    }
    snapshot.exception = exception(slide)
    if isApple {
      var report = ReportSnapshot(kind: .crash)
      report.termination = termination
      report.faultingThread = crashed
      report.lastException = recorded(lastException, slide)
      snapshot.report = report
    }
    return snapshot
  }

  private func address(of module: Int, _ slide: UInt64) -> UInt64 { 0x5500_0000_0000 + UInt64(module) << 28 + slide }

  private func recorded(_ frames: [Frame], _ slide: UInt64) -> [RecordedFrame] {
    frames.flatMap { frame in
      let address = (frame.module.map { self.address(of: $0, slide) } ?? 0) + frame.offset
      return (frame.inlined + [frame.function]).enumerated().map { index, function in
        var recorded = RecordedFrame(address: address)
        recorded.module = frame.module
        recorded.moduleOffset = frame.module == nil ? nil : frame.offset
        recorded.function = function
        recorded.isInlined = index < frame.inlined.count
        return recorded
      }
    }
  }

  private func exception(_ slide: UInt64) -> ExceptionSnapshot? {
    let thread = UInt64(crashed + 100)
    if !mach.isEmpty {
      var exception = ExceptionSnapshot(kind: .mach, threadID: thread, code: UInt32(mach[0]))
      exception.codes = mach.map { UInt64(truncatingIfNeeded: $0) }
      exception.address = exception.codes.last ?? 0
      return exception
    }
    guard let signal else { return nil }
    if isApple {
      var exception = ExceptionSnapshot(kind: .softSignal, threadID: thread, code: 0x10003)
      exception.info = UInt32(signal)
      exception.codes = [0x10003, signal, 0]
      return exception
    }
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: thread, code: UInt32(signal))
    exception.info = UInt32(truncatingIfNeeded: code)
    // The values at the stack move with it.
    let isAtStack = faultAddress > stackPointer - min(stackPointer, 1 << 20) && faultAddress < stackPointer + 1 << 20
    exception.address = isAtStack ? faultAddress + slide : faultAddress
    var context = X86_64Context()
    context.rsp = stackPointer + slide
    exception.context = .x86_64(context)
    return exception
  }

  func signature(slide: UInt64 = 0, _ version: RuleVersion = .current) -> Signature {
    Signature(
      snapshot(slide: slide), InputFile(bytes: []), nil, version == .first ? Self.firstOptions : Self.options)
  }

  private static let cache = SymbolCache(SymbolSearch(paths: [], looksInSystem: false), names: .mangled)
  private static let options = SignatureOptions(cache)
  private static let firstOptions = SignatureOptions(cache, version: .first)

  /// Without the calls that were inlined.
  var folded: Capture {
    var folded = self
    for thread in threads.indices {
      for frame in threads[thread].indices { folded.threads[thread][frame].inlined = [] }
    }
    for frame in lastException.indices { folded.lastException[frame].inlined = [] }
    return folded
  }

  // MARK: The set

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Faults")

  static let all = captures("captures.ndjson") + captures("apple.ndjson")

  /// The programs that end in functions of libraries. They are not in the set, but there for single rules.
  static let rules = captures("rules.ndjson")

  private static func captures(_ name: String) -> [Capture] {
    let text = (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { Capture(String($0)) }
  }
}
