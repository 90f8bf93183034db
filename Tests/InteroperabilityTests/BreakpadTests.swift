// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite("Breakpad's minidump_dump", .enabled(if: Peers.minidumpDump != nil, "minidump_dump is not installed"))
struct BreakpadDumpTests {
  /// Its lines, and its complaints without time and place.
  private func dump(in folder: TemporaryFolder) throws -> (lines: [Substring], errors: [String]) {
    let result = try Tool.shell("'\(Peers.minidumpDump ?? "")' crash.dmp", in: folder)
    let errors = result.errorText.split(separator: "\n").compactMap { line in
      line.range(of: ": ERROR: ").map { String(line[$0.upperBound...]) }
    }
    return (result.outputLines, errors)
  }

  /// `name = value` behind a heading, up to the next empty line.
  private func fields(_ lines: ArraySlice<Substring>) -> [String: String] {
    var fields: [String: String] = [:]
    for line in lines.prefix(while: { !$0.isEmpty }) {
      guard let sign = line.range(of: " = ") else { continue }
      let name = line[..<sign.lowerBound].filter { $0 != " " }
      let value = line[sign.upperBound...].trimmingCharacters(in: .whitespaces)
      if fields[name] == nil { fields[name] = value }
    }
    return fields
  }

  private func sections(_ heading: String, _ lines: [Substring]) -> [[String: String]] {
    lines.indices.filter { lines[$0] == heading }.map { fields(lines[($0 + 1)...]) }
  }

  @Test("It complains of nothing but the stream that Crashpad never writes for iOS", arguments: Subject.all)
  func errors(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    _ = try subject.convert(in: folder)
    let known = ["minidump.GetMemoryInfoList() failed"]
    let more = subject.parameters.exception == .none ? ["minidump.GetException() failed"] : []
    #expect(try Set(dump(in: folder).errors).subtracting(known + more) == [])
  }

  @Test("It reads threads, registers and modules as they were", arguments: Subject.all)
  func contents(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let truth = try subject.convert(in: folder)
    let lines = try dump(in: folder).lines
    let threads = sections("MDRawThread", lines)
    #expect(threads.map { $0["thread_id"]?.hex } == truth.threads.map { UInt64(UInt32(truncatingIfNeeded: $0.id)) })
    for (shown, thread) in zip(threads, truth.threads) where thread.hasState {
      #expect(shown["stack.start_of_memory_range"]?.hex == thread.stackAddress)
      #expect(shown["stack.memory.data_size"]?.hex == UInt64(thread.stackBytes))
      #expect(shown["teb"]?.hex == thread.dataAddress)
    }
    let modules = sections("MDRawModule", lines)
    #expect(modules.map { $0["base_of_image"]?.hex } == truth.modules.map { $0.address })
    #expect(modules.map { $0["size_of_image"]?.hex } == truth.modules.map { $0.size })
    let names = lines.filter { $0.hasPrefix("  (code_file)") }.compactMap { $0.split(separator: "\"").last }
    #expect(names.map(String.init) == truth.modules.map(\.path))
    let identifiers = lines.filter { $0.hasPrefix("  (debug_identifier)") }.compactMap {
      $0.split(separator: "\"").last
    }
    #expect(identifiers.map { $0.dropLast().lowercased() } == truth.modules.map { Hex.digits($0.uuid) })
  }

  @Test("It reads the registers of every thread", arguments: Subject.all)
  func registers(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let truth = try subject.convert(in: folder)
    let isARM = subject.parameters.architecture == .arm64
    let shown = try sections(isARM ? "MDRawContextARM64" : "MDRawContextAMD64", dump(in: folder).lines)
    // A thread without registers reads as zeros; the exception's context follows those of the threads.
    for (index, thread) in truth.threads.enumerated() where thread.hasState {
      try #require(shown.indices.contains(index))
      if isARM {
        for (number, value) in thread.registers.values.prefix(33).enumerated() {
          #expect(shown[index]["iregs[\(number)]"]?.hex == value, "thread \(index), x\(number)")
        }
        #expect(shown[index]["cpsr"]?.hex == thread.registers.values[33])
      } else {
        for (name, value) in SynthDump.named(thread.registers) {
          let known = name == "rflags" ? "eflags" : name
          #expect(shown[index][known]?.hex == value, "thread \(index), \(name)")
        }
      }
    }
  }

  @Test("It reads the exception", arguments: Subject.all.filter { $0.parameters.exception != .none })
  func exception(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let truth = try subject.convert(in: folder)
    let shown = try sections("MDException", dump(in: folder).lines).first ?? [:]
    #expect(shown["thread_id"]?.hex == truth.exceptionThreadID)
    let (code, count): (UInt64, Int)
    switch subject.parameters.exception {
    case .none: return
    case .mach(let type, let codes): (code, count) = (UInt64(type), 1 + codes.count)
    case .signal: (code, count) = (0x10003, 3)
    case .nsException: (code, count) = (0x4350_6e78, 0)
    }
    #expect(shown["exception_record.exception_code"]?.hex == code)
    #expect(shown["exception_record.number_parameters"].flatMap { Int($0) } == count)
  }
}

@Suite(
  "Breakpad's minidump_stackwalk", .enabled(if: Peers.minidumpStackwalk != nil, "minidump_stackwalk is not installed"))
struct BreakpadStackwalkTests {
  private func walk(in folder: TemporaryFolder) throws -> [[Substring]] {
    let result = try Tool.shell("'\(Peers.minidumpStackwalk ?? "")' -m crash.dmp 2>/dev/null", in: folder)
    #expect(result.status == 0)
    return result.outputLines.map { $0.split(separator: "|", omittingEmptySubsequences: false) }
  }

  @Test("It names system, processor and crash", arguments: Subject.all)
  func overview(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let truth = try subject.convert(in: folder)
    let rows = try walk(in: folder)
    #expect(rows[0] == ["OS", "iOS", "17.4.1 21E236"])
    #expect(rows[1][1] == (subject.parameters.architecture == .arm64 ? "arm64" : "amd64"))
    #expect(rows[1].last.flatMap { Int32($0) } == truth.system.cpuCount)
    let crash = rows.first { $0.first == "Crash" } ?? []
    switch subject.parameters.exception {
    case .none: #expect(crash[1] == "No crash")
    case .mach(1, _): #expect(crash[1...2] == ["EXC_BAD_ACCESS / KERN_INVALID_ADDRESS", "0x10"])
    case .nsException: #expect(crash[1] == "Uncaught NSException")
    default: break
    }
    if subject.parameters.exception != .none { #expect(crash[3] == "1") }
  }

  @Test("It walks every stack as it was built", arguments: Subject.all)
  func frames(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let truth = try subject.convert(in: folder)
    let rows = try walk(in: folder).filter { $0.count == 7 && Int($0[0]) != nil }
    // On arm64 it shows the call, which lies before the return address.
    let back: UInt64 = subject.parameters.architecture == .arm64 ? 4 : 0
    for index in truth.threads.indices {
      let shown = rows.filter { $0[0] == "\(index)" }.map { "\($0[2]) \($0[6])" }
      let expected = truth.backtrace(of: index).enumerated().map { number, address in
        let place = number == 0 ? address : address - back
        guard let module = truth.modules.first(where: { $0.address <= place && place < $0.address + $0.size }) else {
          return " 0x" + String(place, radix: 16)
        }
        return "\(module.path.split(separator: "/").last ?? "") 0x" + String(place - module.address, radix: 16)
      }
      #expect(shown == expected, "thread \(index)")
    }
  }
}
