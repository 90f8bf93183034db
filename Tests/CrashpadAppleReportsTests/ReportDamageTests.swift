// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Reports that break off or hold anything: each is read, with an answer or a finding.
@Suite("Apple's reports: damage")
struct ReportDamageTests {
  /// `$CRASHPADCTL_REPORT_MUTATIONS`: of each real report.
  private static let realMutations =
    ProcessInfo.processInfo.environment["CRASHPADCTL_REPORT_MUTATIONS"].flatMap { Int($0) } ?? 3

  @Test("Prefixes of a sample are read", arguments: SampleReports.all.map(\.name))
  func prefixes(_ name: String) throws {
    let bytes = Array(try #require(SampleReports.all.first { $0.name == name }?.text.utf8))
    for count in stride(from: 0, through: bytes.count, by: Soak.times(3, or: 11)) {
      #expect(Reading(Array(bytes[..<count])).isSound, "\(count) bytes")
    }
  }

  @Test("Mutations of each sample are read", arguments: SampleReports.all.map(\.name))
  func mutations(_ name: String) throws {
    let index = try #require(SampleReports.all.firstIndex { $0.name == name })
    let bytes = Array(SampleReports.all[index].text.utf8)
    for round in 0..<Soak.times(1000, or: 60) {
      var random = SplitMix64(seed: UInt64(round), area: UInt64(index))
      #expect(Reading(Self.mutated(bytes, &random)).isSound, "round \(round)")
    }
  }

  @Test(
    "Prefixes and mutations of real reports are read",
    .enabled(if: RealReports.areThere, "no real reports beside the project"), arguments: RealReports.names)
  func real(_ name: String) throws {
    let bytes = try RealReports.read(name).bytes
    for part in 1...Self.realMutations {
      #expect(Reading(Array(bytes[..<(bytes.count * part / (Self.realMutations + 1))])).isSound, "part \(part)")
      var random = SplitMix64(seed: UInt64(part), area: 99)
      #expect(Reading(Self.mutated(bytes, &random)).isSound, "round \(part)")
    }
  }

  /// Numbers at which a sum or a difference has no room.
  private static let edges = ["0", "1", "9223372036854775807", "18446744073709551615", "0xffffffffffffffff"]
  private static let everySample =
    SampleReports.all + SampleReports.forms + SampleReports.formsInJSON + SampleReports.pastes

  @Test(
    "The first number of each line may be any, also where the text begins there", arguments: everySample.map(\.name))
  func edgeNumbers(_ name: String) throws {
    let text = Array(try #require(Self.everySample.first { $0.name == name }?.text.utf8))
    for line in text.split(separator: 0x0a) where line.count < 512 {
      guard let start = line.firstIndex(where: { (0x30...0x39).contains($0) }) else { continue }
      let number = line[start...].prefix { (0x30...0x39).contains($0) || (0x61...0x7a).contains($0 | 0x20) }
      for edge in Self.edges {
        var changed = text
        changed.replaceSubrange(number.indices, with: edge.utf8)
        #expect(Reading(changed).isSound, "\(edge) at byte \(start)")
        // The line before may be any frame, too.
        let above = text[..<line.startIndex].dropLast().split(separator: 0x0a).last?.startIndex ?? line.startIndex
        #expect(Reading(Array(changed[above...])).isSound, "\(edge) at byte \(start), cut before")
        #expect(Reading(Array(changed[line.startIndex...])).isSound, "\(edge) at byte \(start), at the start")
      }
    }
  }

  @Test("Time grows with the size, whatever stands in it", .timeLimit(.minutes(5)))
  func size() {
    let count = Soak.times(100_000, or: 25_000)
    func lines(_ line: String) -> String { String(repeating: line + "\n", count: count) }
    func run(_ word: String) -> String { String(repeating: word, count: count) }
    let head = "Process:             Orrery [1]\n\nException Type:  EXC_CRASH (SIGABRT)\n"
    for text in [
      head + "VM Region Info: 0 is not in any region.\n" + lines("      __TEXT"),
      head + "Termination Reason: DYLD 1 Library missing\n" + lines("tried: x"),
      head + "Application Specific Information:\n" + lines("x"),
      head + "Thread 0 Crashed:\n0   A" + run("0x") + "\n1   B " + run("0x "),
      head + "Binary Images:\n0x1000 - 0x1fff A " + run("<") + "\n",
      head + "Thread 0:\n" + lines("0   A 0x1000 f + 1 (a.c:1)") + "Binary Images:\n"
        + lines("0x0 - 0xffffffff A arm64 /A"),
    ] { #expect(Reading(text).isSound) }
  }

  /// Words that mean something to the readers.
  private static let words = [
    "Thread 0 Crashed:", "Thread 18446744073709551615:", "Binary Images:", "0xffffffffffffffff",
    "0x0 - 0xffffffffffffffff",
    "Last Exception Backtrace:", "(0x1 0x2", "+ 18446744073709551615", "[99999999999999999999]", "\n\n", "{", "}", "[",
    "]",
    "\"", "\\u", "null", "-1", "Powerstats for:", "Heaviest stack", "Termination Reason:", "\t", "<", ">", "1e308",
  ]

  @Test("A line of a million words takes no minutes")
  func longLine() {
    let words = String(repeating: "0xz ", count: Soak.times(1 << 20, or: 1 << 18))
    let time = ProcessorTime.measure {
      _ = Reading("Incident Identifier: 1\nProcess: a [1]\n\nThread 0:\n0 a " + words)
    }
    // The time of the words squared is minutes.
    #expect(time < 20_000_000_000)
  }

  static func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<random.between(1, 6) where !bytes.isEmpty {
      let place = random.below(bytes.count)
      let end = min(bytes.count, place + random.between(1, 64))
      switch random.below(6) {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: Array(bytes[place..<end]), at: random.below(bytes.count))
      case 3: bytes.insert(contentsOf: Array(words[random.below(words.count)].utf8), at: place)
      case 4: bytes.replaceSubrange(place..<end, with: Array(words[random.below(words.count)].utf8))
      default:
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
        let line = lines[random.below(lines.count)]
        bytes.insert(contentsOf: line + [0x0a], at: lines[random.below(lines.count)].startIndex)
      }
    }
    return bytes
  }
}
