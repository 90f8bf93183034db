// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import IntermediateDump
@testable import CrashpadMinidump
import CrashpadSnapshot
import Testing

/// The minidump of an intermediate dump.
func minidump(of array: [UInt8], architecture: CPUArchitecture? = nil) throws -> [UInt8] {
  try withBytes(array) { bytes in
    var options = DumpInterpreter.Options()
    options.architecture = architecture
    let result = DumpInterpreter.interpret(DumpTree(parsing: bytes), in: bytes, options: options)
    let snapshot = try #require(result.snapshot)
    let writer = try CrashpadMinidump.MinidumpWriter(snapshot, input: bytes)
    let output = MemoryOutput()
    var bytesOut = ByteWriter(to: output)
    writer.write(to: &bytesOut, bytes)
    try bytesOut.finish()
    #expect(output.bytes.count == writer.byteCount)
    return output.bytes
  }
}

struct LayoutCase: Sendable, CustomTestStringConvertible {
  let parameters: SynthParameters
  var testDescription: String {
    "\(parameters.architecture), \(parameters.exception), \(parameters.threadCount) threads"
  }

  static let all: [LayoutCase] = SynthArchitecture.allCases.flatMap { architecture in
    let exceptions: [SynthException] = [.none, .badAccess, .abort, .nsException(frames: 5)]
    return exceptions.enumerated().flatMap { index, exception in
      [3, 4, 7].map { threads in
        var parameters = SynthParameters(architecture: architecture, seed: UInt64(31 * threads + index))
        parameters.exception = exception
        parameters.threadCount = threads
        parameters.stackBytes = 1000 + 16 * index  // Not always a multiple of 16.
        parameters.contextRegionBytes = 33
        parameters.moduleCount = 2 + threads
        parameters.annotatedModules = index
        parameters.annotationsPerModule = 5
        parameters.threadNames = index == 0 ? Array(repeating: "", count: 9) : ["main", "", "a long name: é😀"]
        return LayoutCase(parameters: parameters)
      }
    }
  }
}

@Suite("MinidumpWriter: layout")
struct MinidumpLayoutTests {
  private func reader(_ parameters: SynthParameters) throws -> LayoutReader {
    LayoutReader(try minidump(of: SynthDump(parameters).bytes), isAMD64: parameters.architecture == .x86_64)
  }

  @Test("Every object lies inside of the file, aligned", arguments: LayoutCase.all)
  func bounds(_ example: LayoutCase) throws {
    #expect(try reader(example.parameters).faults == [])
  }

  @Test(
    "Objects follow one another without overlaps, and only padding of zeros is between them", arguments: LayoutCase.all)
  func gapless(_ example: LayoutCase) throws {
    let file = try reader(example.parameters)
    // A stack is named by its thread and by the memory list; contexts and all else once.
    let places = file.places.sorted { $0.range.lowerBound < $1.range.lowerBound }
    var end = 0
    for place in places {
      #expect(place.range.lowerBound >= end, "\(place.name) overlaps what precedes it")
      #expect(place.range.lowerBound - end < place.alignment, "a gap before \(place.name)")
      let padding = file.bytes[min(end, place.range.lowerBound)..<place.range.lowerBound]
      #expect(padding.allSatisfy { $0 == 0 }, "padding before \(place.name)")
      end = place.range.upperBound
    }
    #expect(end == file.bytes.count, "nothing follows the last object")
  }

  @Test("Streams are in Crashpad's order, thread names and exception only if there are any", arguments: LayoutCase.all)
  func order(_ example: LayoutCase) throws {
    let file = try reader(example.parameters)
    // Threads beyond the named ones may have a name by chance.
    let named = SynthDump(example.parameters).threads.contains { !$0.name.isEmpty }
    var expected: [UInt32] = [7, 15, 3]
    if named { expected.append(24) }
    if example.parameters.exception != .none { expected.append(6) }
    expected += [4, 0x4350_0001, 5]
    #expect(file.streams.map(\.type) == expected)
    #expect(file.streams.map(\.rva) == file.streams.map(\.rva).sorted())
    #expect(file.number(0) == 0x504d_444d)
    #expect(file.number(4) == 0xa793)
    #expect(file.number(12) == 32)
    #expect(file.number(16) == 0)
    #expect(file.number(20) == Int(SynthDump(example.parameters).process.snapshotSeconds))
    #expect(file.number(24, 8) == 0)
  }

  @Test(
    "Memory comes last: the stacks in the order of the threads, then the rest by address", arguments: LayoutCase.all)
  func memory(_ example: LayoutCase) throws {
    let dump = SynthDump(example.parameters)
    let file = try reader(example.parameters)
    let list = try #require(file.stream(5))
    let regions = (0..<file.number(list)).map { index in
      (
        address: UInt64(bitPattern: Int64(file.number(list + 4 + 16 * index, 8))),
        size: file.number(list + 12 + 16 * index),
        rva: file.number(list + 16 + 16 * index)
      )
    }
    let threads = try #require(file.stream(3))
    for index in 0..<file.number(threads) {
      let stack = threads + 4 + 48 * index + 24
      #expect(UInt64(bitPattern: Int64(file.number(stack, 8))) == regions[index].address)
      #expect(file.number(stack + 8) == regions[index].size)
      #expect(file.number(stack + 12) == regions[index].rva)
    }
    #expect(regions.map(\.rva) == regions.map(\.rva).sorted())
    let extra = regions.dropFirst(dump.threads.count)
    #expect(extra.map(\.address) == extra.map(\.address).sorted())
    #expect(!extra.isEmpty)
    for (index, region) in regions.enumerated() {
      if dump.threads.indices.contains(index), !dump.threads[index].hasState { continue }
      let bytes = Array(file.bytes[region.rva..<region.rva + region.size])
      #expect(bytes == dump.memory.bytes(at: region.address, count: region.size), "memory at \(region.address)")
    }
  }

  // MARK: Failures

  private func emptySnapshot(_ architecture: CPUArchitecture) -> ProcessSnapshot {
    ProcessSnapshot(system: SystemSnapshot(architecture: architecture, operatingSystem: .ios))
  }

  private func plan(_ snapshot: ProcessSnapshot, _ input: [UInt8] = []) throws -> Int {
    try withBytes(input) { try CrashpadMinidump.MinidumpWriter(snapshot, input: $0).byteCount }
  }

  @Test("Only architectures with a known context are written")
  func unsupported() throws {
    let unsupported: [CPUArchitecture] = [.unknown, .loongarch64]
    for architecture in CPUArchitecture.allCases where !unsupported.contains(architecture) {
      #expect(try plan(emptySnapshot(architecture)) > 0)
    }
    for architecture in unsupported {
      #expect(throws: CrashpadMinidump.MinidumpWriter.Failure.unsupportedArchitecture(architecture)) {
        try plan(emptySnapshot(architecture))
      }
    }
  }

  @Test("A dump that needs offsets of more than 32 bits is refused before anything is written")
  func tooLarge() throws {
    // Many threads whose stacks are all the same megabyte of the input.
    let input = [UInt8](repeating: 0, count: 1 << 20)
    var snapshot = emptySnapshot(.arm64)
    var thread = ThreadSnapshot()
    thread.stack = ThreadSnapshot.Stack(
      region: MemoryRegion(address: 0x1000, content: SnapshotBytes(inputOffset: 0, count: 1 << 20)))
    snapshot.threads = Array(repeating: thread, count: 4090)
    #expect(try plan(snapshot, input) < 1 << 32)
    snapshot.threads = Array(repeating: thread, count: 4096)
    #expect {
      try plan(snapshot, input)
    } throws: { error in
      if case .tooLarge(let count) = error as? CrashpadMinidump.MinidumpWriter.Failure {
        count > 1 << 32
      } else {
        false
      }
    }
  }

  @Test("An empty snapshot makes a minidump all the same", arguments: [CPUArchitecture.arm64, .x86_64])
  func empty(_ architecture: CPUArchitecture) throws {
    let snapshot = emptySnapshot(architecture)
    let bytes = try withBytes([]) { input in
      let output = MemoryOutput()
      var writer = ByteWriter(to: output)
      try CrashpadMinidump.MinidumpWriter(snapshot, input: input).write(to: &writer, input)
      try writer.finish()
      return output.bytes
    }
    let file = LayoutReader(bytes, isAMD64: architecture == .x86_64)
    #expect(file.faults == [])
    #expect(file.streams.map(\.type) == [7, 15, 3, 4, 0x4350_0001, 5])
    #expect(file.places.map(\.range.upperBound).max() == bytes.count)
  }
}
