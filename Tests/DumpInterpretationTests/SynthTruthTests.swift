// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import CrashpadSnapshot
import Testing

/// A whole synthetic dump against the truth that the synthesiser knows.
struct TruthCase: Sendable, CustomTestStringConvertible {
  let parameters: SynthParameters
  var testDescription: String { "\(parameters.architecture), seed \(parameters.seed), \(parameters.exception)" }

  static let all: [TruthCase] = SynthArchitecture.allCases.flatMap { architecture in
    [SynthException.none, .badAccess, .simulated, .abort, .nsException(frames: 12)].enumerated().map {
      index, exception in
      var parameters = SynthParameters(architecture: architecture, seed: UInt64(20 + index))
      parameters.exception = exception
      parameters.crashedThread = index
      parameters.annotatedModules = 2
      parameters.intermediateOnlyRegionsPerModule = 2
      return TruthCase(parameters: parameters)
    }
  }
}

@Suite("DumpInterpreter: a synthetic dump")
struct SynthTruthTests {
  @Test("Process, times and annotations are those of the dump", arguments: TruthCase.all)
  func process(_ example: TruthCase) throws {
    let dump = SynthDump(example.parameters)
    let result = Interpreted(dump.bytes)
    #expect(result.codes == [])
    let snapshot = try #require(result.snapshot)
    #expect(snapshot.isComplete)
    #expect(snapshot.processID == Int32(dump.process.pid))
    #expect(snapshot.parentProcessID == 1)
    #expect(
      snapshot.snapshotTime
        == Timestamp(seconds: dump.process.snapshotSeconds, microseconds: dump.process.snapshotMicroseconds))
    #expect(
      snapshot.startTime == Timestamp(seconds: dump.process.startSeconds, microseconds: dump.process.startMicroseconds))
    #expect(snapshot.userTime == sum(dump.process.basicUser, dump.process.threadUser))
    #expect(snapshot.systemTime == sum(dump.process.basicSystem, dump.process.threadSystem))
    let expected =
      dump.process.annotations.map { "\($0.name)=\($0.value)" }
      + ["crashpad_uptime_ns=\(dump.system.crashpadUptimeNanoseconds)"]
    #expect(result.texts(snapshot.annotations) == expected.sorted())
    #expect(snapshot.reportID == .zero)
    #expect(snapshot.clientID == .zero)
  }

  private func sum(_ a: (Int32, Int32), _ b: (Int32, Int32)) -> Timestamp {
    let microseconds = Int(a.1) + Int(b.1)
    return Timestamp(
      seconds: Int64(a.0) + Int64(b.0) + Int64(microseconds / 1_000_000), microseconds: Int32(microseconds % 1_000_000))
  }

  @Test("The system is that of the dump", arguments: TruthCase.all)
  func system(_ example: TruthCase) throws {
    let dump = SynthDump(example.parameters)
    let result = Interpreted(dump.bytes)
    let system = try #require(result.snapshot?.system)
    #expect(system.architecture == (dump.parameters.architecture == .arm64 ? .arm64 : .x86_64))
    #expect(system.operatingSystem == .ios)
    #expect([system.osMajor, system.osMinor, system.osBugfix] == [17, 4, 1])
    #expect(result.text(system.osBuild) == "21E236")
    #expect(result.text(system.machine) == dump.system.machine)
    #expect(result.text(system.cpuVendor) == dump.system.cpuVendor)
    #expect(system.cpuCount == dump.system.cpuCount)
    #expect(system.pageSize == dump.system.pageSize)
    #expect(system.addressMask == dump.system.addressMask)
    #expect(system.crashpadUptime == dump.system.crashpadUptimeNanoseconds)
    #expect(system.timeZone.standardOffset == -18000)
    #expect(system.timeZone.daylightOffset == -14400)
    #expect(result.text(system.timeZone.standardName) == "EST")
    #expect(result.text(system.timeZone.daylightName) == "EDT")
    #expect(system.timeZone.daylightSaving == .standardTime)
    let pages = dump.system.pages
    #expect(system.memory == SystemMemory(active: pages[0], inactive: pages[1], wired: pages[2], free: pages[3]))
  }

  @Test("Threads, registers and stacks are those of the dump", arguments: TruthCase.all)
  func threads(_ example: TruthCase) throws {
    let dump = SynthDump(example.parameters)
    let result = Interpreted(dump.bytes)
    let threads = try #require(result.snapshot?.threads)
    #expect(threads.map(\.id) == dump.threads.map(\.id))
    for (thread, truth) in zip(threads, dump.threads) {
      #expect(result.text(thread.name) == truth.name)
      #expect(thread.priority == truth.priority)
      #expect(thread.suspendCount == 0)
      #expect(thread.dataAddress == truth.dataAddress)
      guard truth.hasState else {
        #expect(thread.context == nil)
        #expect(thread.stack?.isSynthetic == true)
        continue
      }
      #expect(Interpreted.values(thread.context) == truth.registers.values)
      expectFloatState(thread.context, truth.floatState, result)
      let stack = try #require(thread.stack)
      #expect(!stack.isSynthetic)
      #expect(
        result.regions([stack.region])
          == [
            .init(
              address: truth.stackAddress, bytes: dump.memory.bytes(at: truth.stackAddress, count: truth.stackBytes))
          ])
    }
  }

  private func expectFloatState(_ context: CPUContext?, _ state: [UInt8], _ result: Interpreted) {
    if let context = context?.arm64 {
      #expect(result.bytes(of: context.vectors) == Array(state[..<512]))
      #expect(UInt64(context.fpsr) == state.little(at: 512, width: 4))
      #expect(UInt64(context.fpcr) == state.little(at: 516, width: 4))
    } else {
      #expect((context?.x86_64?.fxsave).flatMap { result.bytes(of: $0) } == Array(state[8..<520]))
    }
  }

  @Test("Modules and their annotations are those of the dump", arguments: TruthCase.all)
  func modules(_ example: TruthCase) throws {
    let dump = SynthDump(example.parameters)
    let result = Interpreted(dump.bytes)
    let modules = try #require(result.snapshot?.modules)
    #expect(modules.count == dump.modules.count)
    let types: [UInt32: ModuleSnapshot.FileType] = [2: .executable, 6: .sharedLibrary, 7: .dynamicLoader]
    for (module, truth) in zip(modules, dump.modules) {
      #expect(result.text(module.name) == truth.path)
      #expect(result.text(module.debugName) == truth.path.split(separator: "/").last.map(String.init))
      #expect(module.address == truth.address)
      #expect(module.size == truth.size)
      #expect(module.timestamp == truth.timestamp)
      #expect(module.fileType == types[truth.fileType])
      #expect(module.dylibVersion == truth.dylibCurrentVersion)
      #expect(module.sourceVersion == truth.sourceVersion)
      #expect(module.identity == UUIDBytes(text: Hex.digits(truth.uuid)).map { .uuid($0, age: 0) })
      #expect(
        result.texts(module.simpleAnnotations) == truth.simpleAnnotations.map { "\($0.name)=\($0.value)" }.sorted())
      #expect(module.annotationObjects.map { result.text($0.name) } == truth.annotationObjects.map(\.name))
      #expect(module.annotationObjects.map(\.type) == truth.annotationObjects.map(\.type))
      #expect(module.annotationObjects.map { result.bytes(of: $0.value) } == truth.annotationObjects.map(\.value))
      let messages: [String] = [truth.message1, truth.message2].compactMap { $0 }
      #expect(module.messages.compactMap { result.text($0) } == messages)
    }
  }

  @Test("Extra memory is that of the threads, then the modules, then the signal", arguments: TruthCase.all)
  func memory(_ example: TruthCase) throws {
    let dump = SynthDump(example.parameters)
    let result = Interpreted(dump.bytes)
    let snapshot = try #require(result.snapshot)
    func expected(_ regions: [(address: UInt64, count: Int)]) -> [Interpreted.Region] {
      regions.filter { $0.count > 0 }.map {
        .init(address: $0.address, bytes: dump.memory.bytes(at: $0.address, count: $0.count))
      }
    }
    let threads = expected(dump.threads.filter(\.hasState).flatMap(\.contextRegions))
    let modules = expected(dump.modules.flatMap(\.extraMemory))
    let regions = try #require(result.regions(snapshot.extraMemory))
    #expect(Array(regions.prefix(threads.count)) == threads)
    #expect(Array(regions.dropFirst(threads.count).prefix(modules.count)) == modules)
    let signal = Array(regions.dropFirst(threads.count + modules.count))
    if case .signal = example.parameters.exception {
      let crashed = dump.threads[example.parameters.crashedThread]
      let pc = try #require(dump.exceptionRegisters?.pc)
      #expect(
        signal
          == expected(
            crashed.contextRegions.map { $0.address == crashed.registers.pc &- 128 ? (pc &- 128, $0.count) : $0 }))
      #expect(!signal.isEmpty)
    } else {
      #expect(signal.isEmpty)
    }
    #expect(
      result.regions(snapshot.intermediateDumpExtraMemory) == expected(dump.modules.flatMap(\.intermediateOnlyMemory)))
  }

  @Test("The exception is that of the dump, with its own registers", arguments: TruthCase.all)
  func exception(_ example: TruthCase) throws {
    let dump = SynthDump(example.parameters)
    let result = Interpreted(dump.bytes)
    let exception = result.snapshot?.exception
    #expect(exception?.threadID == dump.exceptionThreadID)
    switch example.parameters.exception {
    case .none: #expect(exception == nil)
    case .mach(let type, let codes):
      #expect(exception?.kind == .mach)
      #expect(exception?.code == UInt32(bitPattern: type))
      #expect(exception?.info == UInt32(truncatingIfNeeded: codes[0]))
      #expect(exception?.codes == ([Int64(type)] + codes).map { UInt64(bitPattern: $0) })
      #expect(exception?.address == (type == 1 ? UInt64(codes[1]) : dump.exceptionRegisters?.pc))
    case .signal(let number, let code):
      #expect(exception?.kind == .softSignal)
      #expect(exception?.code == 0x10003)
      #expect(exception?.info == UInt32(number))
      #expect(exception?.codes == [0x10003, UInt64(number), UInt64(code)])
      #expect(exception?.address == dump.signalAddress)
    case .nsException:
      #expect(exception?.kind == .nsException)
      #expect(exception?.code == 0x4350_6e78)
      #expect(exception?.info == 0)
      #expect(exception?.codes == [])
    }
    if let registers = dump.exceptionRegisters {
      #expect(Interpreted.values(exception?.context) == registers.values)
      expectFloatState(exception?.context, dump.threads[example.parameters.crashedThread].floatState, result)
    }
  }
}
