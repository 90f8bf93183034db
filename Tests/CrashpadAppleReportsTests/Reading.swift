// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadSnapshot
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// A report as it is read, with its bytes.
struct Reading {
  let bytes: [UInt8]
  let form: ReportFormat?
  let reading: ReportReading

  /// Reads as what the bytes begin like.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let span = unsafe bytes.span.bytes
    form = ReportFormat.of(span)
    reading = ReportReader.read(span, form: form ?? .crash)
  }

  init(_ text: String) { self.init(Array(text.utf8)) }

  /// Reads a text without what it is wrapped in.
  init(unwrapping text: String) {
    var bytes = Array(text.utf8)
    if case .unwrapped(let unwrapping) = unsafe Unwrapper.unwrap(bytes.span.bytes) { bytes = unwrapping.bytes }
    self.init(bytes)
  }

  var snapshot: ProcessSnapshot? { reading.snapshot }
  var report: ReportSnapshot? { reading.snapshot?.report }
  var codes: [String] { reading.findings.map(\.rule.code) }

  func text(_ content: SnapshotBytes?) -> String? {
    guard let content, let snapshot else { return nil }
    return unsafe snapshot.text(content, in: bytes.span.bytes)
  }

  func frames(_ thread: Int?) -> [RecordedFrame] {
    guard let thread, let threads = snapshot?.threads, threads.indices.contains(thread) else { return [] }
    return threads[thread].frames ?? []
  }

  func image(_ frame: RecordedFrame) -> String? { frame.module.flatMap { text(snapshot?.modules[$0].debugName) } }

  func register(_ name: String) -> UInt64? {
    let context = report?.faultingThread.flatMap { snapshot?.threads[$0].context }
    return context?.generalRegisters.first { $0.name == name }?.value
  }

  func field(_ name: String) -> String? { report?.fields.first { $0.name == name }?.value }

  /// Whether every index and every range lies inside.
  var isSound: Bool {
    guard let snapshot else { return !reading.findings.isEmpty }
    if let thread = snapshot.report?.faultingThread, !snapshot.threads.indices.contains(thread) { return false }
    let contents =
      snapshot.threads.flatMap { [$0.name, $0.queue] } + snapshot.modules.flatMap { [$0.name, $0.debugName] }
    for case .some(let content) in contents {
      if content.offset + content.count > (content.isInArena ? snapshot.arena.count : bytes.count) { return false }
    }
    let frames = snapshot.threads.flatMap { $0.frames ?? [] } + (snapshot.report?.lastException ?? [])
    return frames.allSatisfy { $0.module.map { snapshot.modules.indices.contains($0) } ?? true }
      && reading.findings.allSatisfy { $0.offset.map { $0 <= bytes.count } ?? true }
  }
}

/// Expects that the stack of a text is read, and that prefixes and mutations of the text are read without harm.
///
/// - Parameter area: makes the mutations of each text different.
func expectSoundness(ofDamaged text: String, area: UInt64) {
  let bytes = Array(text.utf8)
  #expect(Reading(bytes).form != nil && !Reading(bytes).frames(0).isEmpty)
  for count in 0..<bytes.count { #expect(Reading(Array(bytes[..<count])).isSound, "\(count) bytes") }
  for round in 0..<Soak.times(2000, or: 200) {
    var random = SplitMix64(seed: UInt64(round), area: area)
    var changed = bytes
    for _ in 0...random.below(4) { changed[random.below(changed.count)] = UInt8(random.below(256)) }
    let start = random.below(changed.count)
    if random.oneIn(3) { changed += changed[start...] }
    #expect(Reading(changed).isSound, "round \(round)")
  }
}

/// Real reports that stand beside the project; the tests of what its own samples can't have are skipped without them.
enum RealReports {
  /// `$CRASHPADCTL_APPLE_REPORTS`, or `shared/apple-reports` beside the project.
  static let folder =
    ProcessInfo.processInfo.environment["CRASHPADCTL_APPLE_REPORTS"].map { URL(fileURLWithPath: $0) }
    ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../shared/apple-reports").standardizedFileURL

  static let names: [String] = {
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return (names ?? []).filter { $0 != "README.md" }.sorted()
  }()

  static var areThere: Bool { !names.isEmpty }

  static func read(_ name: String) throws -> Reading {
    Reading(try [UInt8](Data(contentsOf: folder.appendingPathComponent(name))))
  }
}
