// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Exceptions in words: a table of codes and of what `inspect` says about them, `Transcripts/exceptions.table`.
@Suite("Exceptions in words")
struct ExceptionTests {
  private struct Case {
    let label: String
    let bytes: [UInt8]
  }

  // MARK: Mach

  private static func mach(_ architecture: SynthArchitecture, _ type: Int32, _ codes: [Int64]) -> Case {
    let codeText = codes.map { "0x" + String(UInt64(bitPattern: $0), radix: 16) }.joined(separator: " ")
    return Case(
      label: "mach \(architecture.rawValue) \(type == 0x4350_7378 ? "CPsx" : "\(type)") \(codeText)",
      bytes: SynthDump(Samples.small(.mach(type: type, codes: codes), architecture)).bytes)
  }

  private static let machCases: [Case] = SynthArchitecture.allCases.flatMap { architecture in
    let address: Int64 = 0xdead_beef
    let access: [Int64] = [1, 2, 5, 8, 9, 10, 13, 50, 0x101, 0x102, 0x103, 0x104, 0x105, 99]
    var cases = access.map { mach(architecture, 1, [$0, address]) }
    for type in [Int32(2), 3, 6] { cases += [1, 2].map { mach(architecture, type, [$0, 0]) } }
    for type in [Int32(4), 5, 7, 8, 9, 13, 99] { cases.append(mach(architecture, type, [1, 2])) }
    cases.append(mach(architecture, 0x4350_7378, [0, 0]))
    // EXC_CRASH: the signal, the exception that it came from.
    for (signal, type) in [(6, 0), (11, 1), (4, 2), (5, 6), (9, 0), (0, 0)] as [(Int64, Int64)] {
      cases.append(mach(architecture, 10, [signal << 24 | type << 20, 0]))
    }
    // EXC_RESOURCE and EXC_GUARD: what it was is in the upper three bits.
    for kind in Int64(1)...7 { cases += [11, 12].map { mach(architecture, $0, [kind << 61 | 3, 4]) } }
    return cases
  }

  // MARK: Signals

  private static func signal(_ number: Int32, _ code: Int32) -> Case {
    Case(
      label: "signal darwin \(number) \(code)",
      bytes: SynthDump(Samples.small(.signal(number: number, code: code))).bytes)
  }

  private static let signalCases: [Case] = {
    var cases = (1...31).map { signal($0, 0) }
    for number in [Int32(4), 5, 8, 10, 11] { cases += (1...9).map { signal(number, $0) } }
    return cases + [signal(6, 0x10001), signal(11, 0x10002), signal(5, 0x10003), signal(32, 0), signal(-1, 0)]
  }()

  // MARK: Minidumps

  /// Writes over code, information and the first parameters of the exception stream.
  private static func minidump(
    _ system: MinidumpSystem, code: UInt32, info: UInt32, parameters: [UInt64] = []
  ) -> Case {
    let processor: MinidumpProcessor = system == .android ? .arm64 : .x86_64
    let dump = SynthMinidump(Samples.smallMinidump(processor, system))
    var bytes = dump.bytes
    let start = dump.streams.first { $0.stream == .exception }?.range.lowerBound ?? 0
    bytes.overwrite(UInt64(code), width: 4, at: start + 8)
    bytes.overwrite(UInt64(info), width: 4, at: start + 12)
    bytes.overwrite(UInt64(parameters.count), width: 4, at: start + 32)
    for (index, value) in parameters.enumerated() { bytes.overwrite(value, width: 8, at: start + 40 + 8 * index) }
    let words =
      ["0x" + String(code, radix: 16), "0x" + String(info, radix: 16)] + parameters.map { "0x" + String($0, radix: 16) }
    return Case(label: "\(system.rawValue) " + words.joined(separator: " "), bytes: bytes)
  }

  private static let minidumpCases: [Case] = {
    var cases = (1...32).map { minidump(.linux, code: $0, info: 0) }
    for number in [UInt32(4), 5, 7, 8, 11] { cases += (1...9).map { minidump(.linux, code: number, info: $0) } }
    cases += [0x80, ~0, ~1, ~2, ~3, ~5].map { minidump(.linux, code: 6, info: $0) }
    cases += [
      minidump(.linux, code: 31, info: 1), minidump(.linux, code: ~0, info: 0), minidump(.android, code: 11, info: 2),
    ]
    let codes: [UInt32] = [
      0x8000_0003, 0x8000_0004, 0xc000_0006, 0xc000_0008, 0xc000_0017, 0xc000_001d, 0xc000_0094, 0xc000_0095,
      0xc000_00fd,
      0xc000_0374, 0xc000_0409, 0xe06d_7363, 0x0517_a7ed, 0x4001_0005,
    ]
    cases += codes.map { minidump(.windows, code: $0, info: 0) }
    cases += [0, 1, 8].map { minidump(.windows, code: 0xc000_0005, info: 0, parameters: [$0, 0x10]) }
    cases.append(minidump(.windows, code: 0xc000_0005, info: 0))
    cases += [
      minidump(.macos, code: 1, info: 2, parameters: [1, 2, 0x10]), minidump(.macos, code: 0x4350_6e78, info: 0),
    ]
    return cases
  }()

  // MARK: The table

  private static func table(_ cases: [Case]) throws -> String {
    let folder = try TemporaryFolder()
    for (index, entry) in cases.enumerated() { try folder.write(entry.bytes, to: "\(index)") }
    let result = try Tool.run(["inspect"] + cases.indices.map { "\($0)" }, in: folder)
    #expect(result.status == 0 && result.errorText.isEmpty, "\(result.errorText)")
    // Each dump has a summary and a line with the name; the meaning stands in the summary, or below the name.
    var words: [(name: String, meaning: String)] = []
    var summary = ""
    var isTitle = false
    for line in result.outputLines {
      let text = String(line.drop { $0 != " " }.drop { $0 == " " })
      if line.hasPrefix("Summary ") {
        summary = text
      } else if line.hasPrefix("Crash ") {
        words.append((text, String(summary.trimmingPrefix(text + ": ").dropLast())))
      } else if isTitle, line.hasPrefix("  ") {
        words[words.count - 1].meaning = text
      }
      isTitle = line.hasPrefix("Crash ")
    }
    try #require(words.count == cases.count)
    let width = cases.map(\.label.count).max() ?? 0
    return zip(cases, words).map { entry, words in
      entry.label.padding(toLength: width, withPad: " ", startingAt: 0) + "  \(words.name) — \(words.meaning)\n"
    }.joined()
  }

  @Test("Every code of Mach, of the signals of Darwin and Linux and of Windows has the words that the table has")
  func words() throws {
    let file = Transcript.folder.appending(path: "exceptions.table")
    let actual = try Self.table(Self.machCases + Self.signalCases + Self.minidumpCases)
    if Transcript.isUpdating {
      try actual.write(to: file, atomically: true, encoding: .utf8)
      return
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    if expected != actual { Issue.record("exceptions.table, \(Transcript.firstDifference(expected, actual))") }
  }
}
