// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// The package `minidump` of PyPI reads x86 alone, so the dumps are those of a simulator.
@Suite(
  "Python's minidump", .enabled(if: Peers.python != nil, "no python3 that can import minidump: pip install minidump"))
struct PythonTests {
  private static let script = """
    import json, sys
    from minidump.minidumpfile import MinidumpFile
    dump = MinidumpFile.parse('crash.dmp')
    reader = dump.get_reader()
    exception = None
    if dump.exception:
        record = dump.exception.exception_records[0]
        inner = record.ExceptionRecord
        exception = {'thread': record.ThreadId, 'code': inner.ExceptionCode_raw, 'address': inner.ExceptionAddress,
                     'parameters': inner.ExceptionInformation[:inner.NumberParameters]}
    print(json.dumps({
        'architecture': dump.sysinfo.ProcessorArchitecture.name,
        'threads': [{'id': t.ThreadId, 'stack': t.Stack.StartOfMemoryRange, 'teb': t.Teb,
                     'rip': t.ContextObject.Rip, 'rsp': t.ContextObject.Rsp, 'rbp': t.ContextObject.Rbp,
                     'rax': t.ContextObject.Rax, 'r15': t.ContextObject.R15} for t in dump.threads.threads],
        'modules': [{'name': m.name, 'base': m.baseaddress, 'size': m.size} for m in dump.modules.modules],
        'segments': [{'address': s.start_virtual_address, 'hex': reader.read(s.start_virtual_address, s.size).hex()}
                     for s in dump.memory_segments.memory_segments],
        'pid': dump.misc_info.ProcessId,
        'exception': exception,
    }))
    """

  private func read(in folder: TemporaryFolder) throws -> JSONDocument {
    try folder.write(Array(Self.script.utf8), to: "read.py")
    let result = try Tool.shell("'\(Peers.python ?? "")' read.py", in: folder)
    try #require(result.status == 0, "\(result.errorText)")
    return try JSONDocument(result.output)
  }

  private static let subjects = Subject.all.filter { $0.parameters.architecture == .x86_64 }

  /// JSON's numbers as unsigned words.
  private func word(_ json: JSONDocument) -> UInt64? { json.int.map { UInt64(bitPattern: Int64($0)) } }

  @Test("It reads the threads and their registers", arguments: Self.subjects)
  func threads(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let truth = try subject.convert(in: folder)
    let dump = try read(in: folder)
    #expect(dump["architecture"].string == "AMD64")
    #expect(dump["threads"].array.count == truth.threads.count)
    for (shown, thread) in zip(dump["threads"].array, truth.threads) {
      #expect(word(shown["id"]) == thread.id)
      #expect(word(shown["stack"]) == thread.stackAddress)
      #expect(word(shown["teb"]) == thread.dataAddress)
      let registers = SynthDump.named(thread.registers)
      for name in ["rip", "rsp", "rbp", "rax", "r15"] { #expect(word(shown[name]) == registers[name], "\(name)") }
    }
  }

  @Test("It reads the modules and the process", arguments: Self.subjects)
  func modules(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let truth = try subject.convert(in: folder)
    let dump = try read(in: folder)
    #expect(dump["modules"].array.map { $0["name"].string } == truth.modules.map(\.path))
    #expect(dump["modules"].array.map { word($0["base"]) } == truth.modules.map { $0.address })
    #expect(dump["modules"].array.map { word($0["size"]) } == truth.modules.map { $0.size })
    #expect(word(dump["pid"]) == UInt64(truth.process.pid))
  }

  @Test("It reads every memory range byte for byte", arguments: Self.subjects)
  func memory(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let truth = try subject.convert(in: folder)
    let segments = try read(in: folder)["segments"].array
    #expect(segments.count >= truth.threads.count)
    for segment in segments {
      let address = try #require(word(segment["address"]))
      let hex = try #require(segment["hex"].string)
      #expect(hex == Hex.digits(truth.memory.bytes(at: address, count: hex.utf8.count / 2)))
    }
    for thread in truth.threads {
      #expect(segments.contains { word($0["address"]) == thread.stackAddress }, "no stack of \(thread.id)")
    }
  }

  @Test("It reads the exception", arguments: Self.subjects)
  func exception(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let truth = try subject.convert(in: folder)
    let exception = try read(in: folder)["exception"]
    #expect(exception.isNull == (subject.parameters.exception == .none))
    if exception.isNull { return }
    #expect(word(exception["thread"]) == truth.exceptionThreadID)
    if case .mach(let type, let codes) = subject.parameters.exception {
      #expect(word(exception["code"]) == UInt64(type))
      let parameters = exception["parameters"].array.map { word($0) }
      #expect(parameters == [UInt64(type)] + codes.map { UInt64(bitPattern: $0) })
    }
  }
}
