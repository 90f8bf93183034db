// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Testing

/// Fields of the streams against the synthesiser's truth. The corpus has them all, but is not always there.
@Suite("MinidumpWriter: content")
struct MinidumpContentTests {
  private func files() throws -> [(dump: SynthDump, file: LayoutReader)] {
    try LayoutCase.all.map { example in
      let dump = SynthDump(example.parameters)
      return (dump, LayoutReader(try minidump(of: dump.bytes), isAMD64: example.parameters.architecture == .x86_64))
    }
  }

  @Test("SystemInfo and MiscInfo are those of the dump")
  func system() throws {
    for (dump, file) in try files() {
      let isAMD64 = dump.parameters.architecture == .x86_64
      let system = try #require(file.stream(7))
      #expect(file.number(system, 2) == (isAMD64 ? 9 : 12))
      #expect(file.number(system + 6, 1) == Int(dump.system.cpuCount))
      #expect(file.number(system + 7, 1) == 1)
      #expect([8, 12, 16].map { file.number(system + $0) } == [17, 4, 1])
      #expect(file.number(system + 20) == 0x8102)
      #expect(file.utf16Text(file.number(system + 24)) == "21E236")
      #expect(file.number(system + 32, 8) == (isAMD64 ? 0x1004 : 0))
      let misc = try #require(file.stream(15))
      #expect(file.number(misc + 4) == 0x147)
      #expect(file.number(misc + 8) == Int(dump.process.pid))
      #expect(file.number(misc + 12) == Int(dump.process.startSeconds))
      #expect(file.number(misc + 16) == seconds(dump.process.basicUser, dump.process.threadUser))
      #expect(file.number(misc + 20) == seconds(dump.process.basicSystem, dump.process.threadSystem))
      #expect(file.number(misc + 56) == 1, "standard time")
      #expect(file.number(misc + 60) == 300, "minutes west")
      #expect(fixed(file, misc + 64, 32) == "EST")
      #expect(fixed(file, misc + 148, 32) == "EDT")
      #expect(Int32(truncatingIfNeeded: file.number(misc + 228)) == -60)
      #expect(fixed(file, misc + 232, 260) == "17.4.1 21E236; \(dump.system.machine)")
      #expect(fixed(file, misc + 752, 40) == "crashpad.\(isAMD64 ? "amd64" : "arm64"),0.8.0,ios")
    }
  }

  private func seconds(_ a: (Int32, Int32), _ b: (Int32, Int32)) -> Int {
    let total = (Int(a.0) + Int(b.0)) * 1_000_000 + Int(a.1) + Int(b.1)
    return (total + 500_000) / 1_000_000
  }

  private func fixed(_ file: LayoutReader, _ offset: Int, _ units: Int) -> String {
    let all = (0..<units).map { UInt16(file.number(offset + 2 * $0, 2)) }
    return String(decoding: all.prefix { $0 != 0 }, as: UTF16.self)
  }

  @Test("Threads have their ids, numbers, names and registers")
  func threads() throws {
    for (dump, file) in try files() {
      let list = try #require(file.stream(3))
      #expect(file.number(list) == dump.threads.count)
      for (index, thread) in dump.threads.enumerated() {
        let entry = list + 4 + 48 * index
        #expect(file.number(entry) == Int(thread.id))
        #expect(Int32(truncatingIfNeeded: file.number(entry + 12)) == thread.priority)
        #expect(file.number(entry + 16, 8) == Int(thread.dataAddress))
        if thread.hasState { expectContext(file, file.number(entry + 44), thread.registers, thread.floatState) }
        if let names = file.stream(24) {
          #expect(file.number(names + 4 + 12 * index) == Int(thread.id))
          #expect(file.utf16Text(file.number(names + 8 + 12 * index, 8)) == thread.name)
        }
      }
    }
  }

  private func expectContext(_ file: LayoutReader, _ rva: Int, _ registers: SynthRegisters, _ float: [UInt8]) {
    func word(_ offset: Int) -> UInt64 { UInt64(bitPattern: Int64(file.number(rva + offset, 8))) }
    let values = registers.values
    if registers.architecture == .arm64 {
      #expect(file.number(rva) == 0x0040_0007)
      #expect(file.number(rva + 4) == Int(values[33]))
      #expect((0..<33).map { word(8 + 8 * $0) } == Array(values[..<33]))
      #expect(Array(file.bytes[rva + 272..<rva + 784]) == Array(float[..<512]))
      #expect(UInt64(file.number(rva + 784)) == float.little(at: 516, width: 4), "fpcr comes first")
      #expect(UInt64(file.number(rva + 788)) == float.little(at: 512, width: 4))
    } else {
      #expect(file.number(rva + 48) == 0x0010_001f)
      #expect(file.number(rva + 52) == 0x1f80, "mx_csr")
      #expect([56, 62, 64].map { file.number(rva + $0, 2) } == [18, 19, 20].map { Int(values[$0] & 0xffff) })
      #expect(file.number(rva + 68) == Int(values[17]))
      // rax rcx rdx rbx rsp rbp rsi rdi, r8 to r15, rip
      let order = [0, 2, 3, 1, 7, 6, 5, 4] + Array(8...16)
      #expect((0..<17).map { word(120 + 8 * $0) } == order.map { values[$0] })
      #expect(Array(file.bytes[rva + 256..<rva + 768]) == Array(float[8..<520]))
    }
  }

  @Test("The exception has its code, parameters and registers")
  func exception() throws {
    for (dump, file) in try files() {
      guard let stream = file.stream(6), let thread = dump.exceptionThreadID else { continue }
      #expect(file.number(stream) == Int(thread))
      let parameters = (0..<15).map { file.number(stream + 40 + 8 * $0, 8) }
      switch dump.parameters.exception {
      case .mach(let type, let codes):
        #expect(file.number(stream + 8) == Int(type))
        #expect(file.number(stream + 12) == Int(codes[0]))
        #expect(file.number(stream + 24, 8) == Int(codes[1]))
        #expect(file.number(stream + 32) == 3)
        #expect(parameters == [Int(type)] + codes.map(Int.init) + Array(repeating: 0, count: 12))
      case .signal(let number, let code):
        #expect(file.number(stream + 8) == 0x10003)
        #expect(file.number(stream + 12) == Int(number))
        #expect(file.number(stream + 24, 8) == Int(dump.signalAddress ?? 0))
        #expect(parameters == [0x10003, Int(number), Int(code)] + Array(repeating: 0, count: 12))
      default:
        #expect(file.number(stream + 8) == 0x4350_6e78)
        #expect(file.number(stream + 32) == 0)
      }
      if let registers = dump.exceptionRegisters {
        expectContext(file, file.number(stream + 164), registers, dump.threads[0].floatState)
      }
    }
  }

  @Test("Modules have their names, addresses, versions and debug records")
  func modules() throws {
    for (dump, file) in try files() {
      let list = try #require(file.stream(4))
      #expect(file.number(list) == dump.modules.count)
      for (index, module) in dump.modules.enumerated() {
        let entry = list + 4 + 108 * index
        #expect(file.number(entry, 8) == Int(module.address))
        #expect(file.number(entry + 8) == Int(module.size))
        #expect(file.number(entry + 16) == Int(module.timestamp ?? 0))
        #expect(file.utf16Text(file.number(entry + 20)) == module.path)
        #expect(file.number(entry + 24) == 0xfeef_04bd)
        let version = Int(module.dylibCurrentVersion ?? 0)
        #expect(file.number(entry + 32) == (version & 0xffff_0000) | (version >> 8 & 0xff))
        #expect(file.number(entry + 36) == (version & 0xff) << 16)
        let source = Int(truncatingIfNeeded: module.sourceVersion ?? 0)
        #expect(file.number(entry + 40) == source >> 32)
        #expect(file.number(entry + 44) == source & 0xffff_ffff)
        #expect(file.number(entry + 60) == [2: 1, 6: 2][module.fileType] ?? 0)
        let codeView = file.number(entry + 80)
        let uuid = module.uuid
        let swapped = [3, 2, 1, 0, 5, 4, 7, 6].map { uuid[$0] } + uuid[8...]
        let name = module.path.split(separator: "/").last.map(String.init) ?? ""
        let expected = Array("RSDS".utf8) + swapped + [0, 0, 0, 0] + Array(name.utf8) + [0]
        #expect(Array(file.bytes[codeView..<codeView + file.number(entry + 76)]) == expected)
      }
    }
  }

  @Test("CrashpadInfo has the annotations of the process and of the modules that have some")
  func annotations() throws {
    for (dump, file) in try files() {
      let info = try #require(file.stream(0x4350_0001))
      #expect(file.number(info) == 1)
      #expect(UInt64(bitPattern: Int64(file.number(info + 56, 8))) == dump.system.addressMask)
      let uptime = (name: "crashpad_uptime_ns", value: "\(dump.system.crashpadUptimeNanoseconds)")
      let expected = (dump.process.annotations + [uptime]).map { "\($0.name)=\($0.value)" }.sorted()
      #expect(dictionary(file, file.number(info + 40)) == expected)
      let useful = dump.modules.indices.filter { index in
        let module = dump.modules[index]
        return module.message1 != nil || module.message2 != nil || !module.simpleAnnotations.isEmpty
          || !module.annotationObjects.isEmpty
      }
      let list = file.number(info + 48)
      #expect((list == 0 ? 0 : file.number(list)) == useful.count)
      for (index, module) in useful.enumerated() {
        let link = list + 4 + 12 * index
        #expect(file.number(link) == module)
        let own = file.number(link + 8)
        #expect(
          messages(file, file.number(own + 8))
            == [dump.modules[module].message1, dump.modules[module].message2].filter { $0 != nil })
        #expect(
          dictionary(file, file.number(own + 16))
            == dump.modules[module].simpleAnnotations.map { "\($0.name)=\($0.value)" }.sorted())
        expectObjects(file, file.number(own + 24), dump.modules[module])
      }
    }
  }

  private func dictionary(_ file: LayoutReader, _ rva: Int) -> [String] {
    guard rva != 0 else { return [] }
    return (0..<file.number(rva)).map {
      file.utf8Text(file.number(rva + 4 + 8 * $0)) + "=" + file.utf8Text(file.number(rva + 8 + 8 * $0))
    }
  }

  private func messages(_ file: LayoutReader, _ rva: Int) -> [String?] {
    rva == 0 ? [] : (0..<file.number(rva)).map { file.utf8Text(file.number(rva + 4 + 4 * $0)) }
  }

  private func expectObjects(_ file: LayoutReader, _ rva: Int, _ module: SynthModule) {
    guard rva != 0 else {
      #expect(module.annotationObjects.isEmpty)
      return
    }
    #expect(file.number(rva) == module.annotationObjects.count)
    for (index, object) in module.annotationObjects.enumerated() {
      let entry = rva + 4 + 12 * index
      #expect(file.utf8Text(file.number(entry)) == object.name)
      #expect(file.number(entry + 4, 2) == Int(object.type))
      let value = file.number(entry + 8)
      #expect(Array(file.bytes[value + 4..<value + 4 + file.number(value)]) == object.value)
    }
  }
}
