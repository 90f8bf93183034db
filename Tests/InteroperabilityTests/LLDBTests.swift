// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite("LLDB", .enabled(if: Peers.lldb != nil, "no lldb that starts: apt-get install lldb"))
struct LLDBTests {
  /// The output of some commands on `crash.dmp`, by command.
  private func run(_ commands: [String], in folder: TemporaryFolder) throws -> [String: [String]] {
    let options = commands.map { "-o '\($0)'" }.joined(separator: " ")
    let setup = "-o 'settings set stop-disassembly-display never'"
    let result = try Tool.shell(
      "'\(Peers.lldb ?? "lldb")' --no-lldbinit --batch -c crash.dmp \(setup) \(options)", in: folder, limit: 120)
    #expect(result.text.contains("was loaded"), "\(result.text)")
    var answers: [String: [String]] = [:]
    var command = ""
    for line in result.outputLines {
      if let prompt = line.range(of: "(lldb) ") {
        command = String(line[prompt.upperBound...])
        answers[command] = []
      } else {
        answers[command]?.append(String(line))
      }
    }
    for command in commands { #expect(answers[command] != nil, "LLDB did not come to: \(command)") }
    return answers
  }

  @Test("LLDB lists the threads with their ids, and why the process stopped", arguments: Subject.all)
  func threads(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let dump = try subject.convert(in: folder)
    let lines = try run(["thread list"], in: folder)["thread list"] ?? []
    let ids = lines.compactMap { line in
      line.range(of: "tid = 0x").map { line[$0.upperBound...].prefix { $0.isHexDigit } }?.hex
    }
    #expect(ids == dump.threads.map(\.id))
    guard let id = dump.exceptionThreadID else { return }
    let stopped = lines.first { $0.contains("stop reason = ") } ?? ""
    #expect(stopped.contains("tid = 0x" + String(id, radix: 16)), "\(lines)")
    if subject.parameters.exception == .badAccess {
      #expect(stopped.hasSuffix("stop reason = EXC_BAD_ACCESS (code=1, address=0x10)"), "\(stopped)")
    }
  }

  @Test("LLDB reads the registers of every thread", arguments: Subject.all)
  func registers(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let dump = try subject.convert(in: folder)
    for index in dump.threads.indices {
      let answers = try run(["thread select \(index + 1)", "register read"], in: folder)
      var shown: [String: UInt64] = [:]
      for line in answers["register read"] ?? [] {
        let parts = line.split(separator: " ")
        if parts.count >= 3, parts[1] == "=" { shown[String(parts[0])] = parts[2].hex }
      }
      for (name, value) in dump.registers(of: index) {
        #expect(shown[name] == value, "thread \(index), \(name)")
      }
    }
  }

  @Test("LLDB lists the modules with address, UUID and path", arguments: Subject.all)
  func modules(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let dump = try subject.convert(in: folder)
    let lines = try run(["image list"], in: folder)["image list"] ?? []
    // [  0] UUID address path
    let shown = lines.compactMap { line -> String? in
      guard line.hasPrefix("["), let end = line.firstIndex(of: "]") else { return nil }
      return line[line.index(after: end)...].trimmingCharacters(in: .whitespaces)
    }
    let expected = dump.modules.map { module in
      let address = String(module.address, radix: 16)
      let zeros = String(repeating: "0", count: 16 - address.count)
      return "\(Hex.uuid(module.uuid).uppercased()) 0x\(zeros)\(address) \(module.path)"
    }
    #expect(shown == expected)
  }

  @Test("LLDB reads the bytes of the stacks and of the memory around registers", arguments: Subject.all)
  func memory(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    let dump = try subject.convert(in: folder)
    var ranges = dump.threads.filter(\.hasState).map { (address: $0.stackAddress, count: $0.stackBytes) }
    ranges += dump.threads.filter(\.hasState).flatMap(\.contextRegions).filter { $0.count > 0 }
    ranges += dump.modules.flatMap(\.extraMemory)
    let commands = ranges.map { "memory read --force -s1 -fx -c \($0.count) 0x" + String($0.address, radix: 16) }
    let answers = try run(commands, in: folder)
    for (range, command) in zip(ranges, commands) {
      // 0x16b007100: 0x31 0xc1 …
      let bytes = (answers[command] ?? []).flatMap { line in
        line.split(separator: " ").dropFirst().compactMap { $0.hex.flatMap(UInt8.init(exactly:)) }
      }
      #expect(bytes == dump.memory.bytes(at: range.address, count: range.count), "\(command)")
    }
  }

  @Test("LLDB shows what inspect shows", arguments: Subject.all)
  func sameAsInspect(_ subject: Subject) throws {
    let folder = try TemporaryFolder()
    _ = try subject.convert(in: folder)
    let json = try JSONDocument(Tool.run(["inspect", "--format", "json", "crash.dmp"], in: folder).output)
    let answers = try run(["thread list", "image list"], in: folder)
    let threads = (answers["thread list"] ?? []).filter { $0.contains("thread #") }
    #expect(threads.count == json["threads"].array.count)
    let exceptionThread = json["exception"]["thread_id"].int
    for (line, thread) in zip(threads, json["threads"].array) {
      let isCrashed = thread["id"].int == exceptionThread
      let registers = isCrashed ? json["exception"]["registers"] : thread["registers"]
      let pc = registers["pc"].hex ?? registers["rip"].hex ?? 0
      #expect(
        line.contains(" 0x" + String(repeating: "0", count: 16 - String(pc, radix: 16).count) + String(pc, radix: 16)))
      #expect(line.contains("tid = 0x" + String(thread["id"].int ?? -1, radix: 16)))
    }
    let images = (answers["image list"] ?? []).filter { $0.hasPrefix("[") }
    #expect(images.count == json["modules"].array.count)
    for (line, module) in zip(images, json["modules"].array) {
      #expect(line.contains(module["identity"].string?.uppercased() ?? "?"))
    }
  }
}
