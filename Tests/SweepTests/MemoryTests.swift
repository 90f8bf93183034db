// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import Foundation
import IntermediateDump
import CrashpadJSON
import CrashpadMinidump
import CrashpadSnapshot
import Testing
import ToolRunner

/// Inputs that ask for more than they bring.
enum HostileInput: String, CaseIterable, Codable, Sendable {
  case emptyThreads, emptyModules, emptyThreadsAndModules, emptyMaps, hugeLengths, deepNesting, annotations, objects,
    regions, overlaps

  /// Inputs are a quarter of the size, except under `make soak`.
  static let parts = Soak.times(1, or: 4)
  /// How many kilobytes they may take: some for the process, whatever its input.
  static let limit = Soak.times(64, or: 32) << 10

  var bytes: [UInt8] {
    var builder = DumpBuilder(capacity: 5 << 20)
    builder.root { dump in
      dump.property(.version, [1])
      dump.map(.systemInfo) { _ in }
      if self != .annotations { dump.map(.processInfo) { _ in } }
      fill(&dump)
    }
    return builder.bytes
  }

  private func fill(_ dump: inout DumpBuilder) {
    let simple: (inout DumpBuilder) -> Void = { array in
      for number in 0..<80_000 / Self.parts {
        array.mapInArray {
          $0.property(.annotationName, uint32: UInt32(number))
          $0.property(.annotationValue, [])
        }
      }
    }
    switch self {
    case .emptyThreads: dump.array(.threads) { for _ in 0..<(1 << 20) / Self.parts { $0.raw([1, 2]) } }
    case .emptyModules: dump.array(.modules) { for _ in 0..<(1 << 20) / Self.parts { $0.raw([1, 2]) } }
    case .emptyThreadsAndModules:
      dump.array(.threads) { for _ in 0..<(1 << 19) / Self.parts { $0.raw([1, 2]) } }
      dump.array(.modules) { for _ in 0..<(1 << 19) / Self.parts { $0.raw([1, 2]) } }
    case .emptyMaps: for _ in 0..<(1 << 18) / Self.parts { dump.map(.threads) { _ in } }
    case .hugeLengths: for _ in 0..<(1 << 17) / Self.parts { dump.propertyHeader(number: 6006, length: 1 << 26) }
    case .deepNesting: dump.nested(levels: (1 << 19) / Self.parts, number: 4000)
    case .annotations: dump.map(.processInfo) { $0.array(.annotationsSimpleMap, simple) }
    case .objects:
      dump.array(.modules) { modules in
        modules.mapInArray { module in
          module.array(.annotationObjects) { array in
            for number in 0..<40_000 / Self.parts {
              array.mapInArray {
                $0.property(.annotationName, uint32: UInt32(number))
                $0.property(.annotationValue, [1])
                $0.property(.annotationType, [1, 0])
              }
            }
          }
        }
      }
    case .regions, .overlaps:
      let regions = UInt64(60_000 / Self.parts)
      dump.array(.threads) { threads in
        threads.mapInArray { thread in
          thread.array(.threadContextMemoryRegions) { array in
            for number: UInt64 in 0..<regions {
              array.mapInArray {
                let address = self == .regions ? (regions - number) << 8 : number
                $0.property(.threadContextMemoryRegionAddress, uint64: address)
                $0.property(.threadContextMemoryRegionData, [1, 2, 3])
              }
            }
          }
        }
      }
    }
  }

  /// Everything that a conversion does. Outputs go nowhere, so only what is held counts.
  func convert(_ array: [UInt8]) throws {
    try withBytes(array) { bytes in
      let tree = DumpTree(parsing: bytes)
      var options = DumpInterpreter.Options()
      options.architecture = .arm64
      let result = DumpInterpreter.interpret(tree, in: bytes, options: options)
      if let snapshot = result.snapshot {
        var writer = ByteWriter(to: NoOutput())
        try MinidumpWriter(snapshot, input: bytes).write(to: &writer, bytes)
        try writer.finish()
      }
      var json = JSONWriter(.indented) { _ in }
      DumpJSON.write(tree, bytes, to: &json)
      try json.finish()
      _ = try tree.write(to: NoOutput(), bytes)
    }
  }

  private final class NoOutput: ByteOutput {
    func write(_ bytes: RawSpan) {}
  }
}

@Suite("Sweep: memory")
struct MemoryTests {
  /// A number of kilobytes in /proc/self/status.
  static func status(_ name: String) -> Int {
    let text =
      (try? FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/status")).readToEnd()).flatMap { $0 } ?? Data()
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where line.hasPrefix(name) {
      return Int(line.filter(\.isNumber)) ?? 0
    }
    return 0
  }

  /// In a process of its own, as the highest use of memory is one number for a process.
  @Test("A hostile input takes less than its own size and 64 MiB", arguments: HostileInput.allCases)
  func bounded(_ input: HostileInput) async {
    let child = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      [input = input.rawValue as String] in
      guard let input = HostileInput(rawValue: input) else { exit(2) }
      let bytes = input.bytes
      // Forget how much the making of the input took.
      try FileHandle(forWritingTo: URL(fileURLWithPath: "/proc/self/clear_refs")).write(contentsOf: Data("5".utf8))
      let before = MemoryTests.status("VmRSS")
      try input.convert(bytes)
      let taken = MemoryTests.status("VmHWM") - before
      print("\nmemory: \(input) of \(bytes.count >> 10) KiB took \(taken) KiB")
      // The input is in memory already.
      exit(before > 0 && taken < HostileInput.limit ? EXIT_SUCCESS : EXIT_FAILURE)
    }
    let text = String(decoding: child?.standardOutputContent ?? [], as: UTF8.self)
    for line in text.split(separator: "\n") where line.hasPrefix("memory:") { print(line) }
  }
}
