// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpSynth
import CrashpadFiles
import Foundation
import CrashpadMinidump
import CrashpadSnapshot
import SystemPackage
import Testing
import ToolRunner

@Suite("MinidumpReader: memory and time")
struct MinidumpMemoryTests {
  /// A number of kilobytes in /proc/self/status.
  static func status(_ name: String) -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return Int(line?.filter(\.isNumber) ?? "") ?? 0
  }

  @Test(
    "A text that entries share counts for each of them", arguments: [HostileMinidump.sharedNames, .sharedAnnotations])
  func sharedTexts(_ input: HostileMinidump) throws {
    let bytes = input.bytes
    let snapshot = try #require(unsafe MinidumpReader.read(bytes.span.bytes).snapshot)
    let names = snapshot.modules.reduce(0) { $0 + ($1.name?.count ?? 0) }
    let values = snapshot.modules.reduce(0) {
      $0 + $1.annotationObjects.reduce(0) { $0 + $1.value.count }
        + $1.simpleAnnotations.reduce(0) { $0 + $1.value.count }
    }
    #expect(names + values <= bytes.count + 8 << 20)
  }

  /// In a process of its own, as the highest use of memory is one number for a process. The file is mapped there, so what
  /// is read of it counts.
  @Test(
    "A hostile minidump takes less than its own size and 64 MiB, and some seconds", arguments: HostileMinidump.allCases)
  func bounded(_ input: HostileMinidump) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "crashpadctl-\(UUID().uuidString).dmp")
    let bytes = input.bytes
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let child = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      [path = file.path as String] in
      let file = try InputFile(FilePath(path))
      let before = MinidumpMemoryTests.status("VmRSS")
      let start = clock()
      let reading = file.withBytes { MinidumpReader.read($0) }
      let time = Int(clock() - start) / (Int(CLOCKS_PER_SEC) / 1000)
      let taken = MinidumpMemoryTests.status("VmHWM") - before
      let codes = Set(reading.findings.map(\.rule.code)).sorted()
      print("\nmemory: \(taken) \(time) \(codes.joined(separator: " "))")
      exit(before > 0 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
    let text = String(decoding: child?.standardOutputContent ?? [], as: UTF8.self)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("memory:") })
    let numbers = line.split(separator: " ").dropFirst().prefix(2).compactMap { Int($0) }
    let size = bytes.count >> 10
    print("memory: \(input) of \(size) KiB took \(numbers[0]) KiB and \(numbers[1]) ms of the processor")
    #expect(numbers[0] < size + HostileMinidump.limit, "\(line)")
    // A debug build takes some ten times as long as a release build.
    #expect(numbers[1] < Soak.times(6000, or: 3000), "\(line)")
  }
}
