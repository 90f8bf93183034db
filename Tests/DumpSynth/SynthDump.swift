// SPDX-License-Identifier: Apache-2.0
/// A whole intermediate dump as Crashpad's iOS handler writes it, and the truth about what is in it.
///
/// Order and sizes follow `client/ios_handler/in_process_intermediate_dump_handler.cc` (revision 48b459d7): version,
/// process, system, exception, threads, modules. The same parameters always give the same bytes.
///
///     var parameters = SynthParameters(architecture: .arm64, seed: 7)
///     parameters.exception = .abort
///     let dump = SynthDump(parameters)
///     // dump.bytes, dump.threads[0].backtrace, dump.memory.bytes(at:count:)
public struct SynthDump: Sendable {
  /// `kAddressMask` of arm64: bits that are no part of an address. The simulator's is all ones.
  public static let arm64AddressMask: UInt64 = 0xffff_ff80_0000_0000

  public let parameters: SynthParameters
  public let bytes: [UInt8]
  public let process: SynthProcess
  public let system: SynthSystem
  public let threads: [SynthThread]
  /// In the order of the dump: from the last of dyld's list to the program, then dyld.
  public let modules: [SynthModule]
  public let memory: SynthMemory
  /// Registers of the exception, nil when it has none of its own (no exception, or an NSException).
  public let exceptionRegisters: SynthRegisters?
  /// `kThreadID` of the exception, nil without one.
  public let exceptionThreadID: UInt64?
  /// `kSignalAddress`: nil unless the exception is a signal.
  public let signalAddress: UInt64?

  public init(_ parameters: SynthParameters = SynthParameters()) {
    self.parameters = parameters
    let dyldOrder = ModulePlan.modules(parameters)
    modules = dyldOrder.dropLast().reversed() + dyldOrder.suffix(1)
    var plan = ThreadPlan(parameters, modules: dyldOrder)
    threads = plan.threads()
    var memory = SynthMemory(seed: parameters.seed)
    memory.set(plan.frameWords)
    self.memory = memory
    process = SynthProcess(parameters)
    system = SynthSystem(parameters)

    let crashed = threads.indices.contains(parameters.crashedThread) ? threads[parameters.crashedThread] : nil
    var registers = crashed?.registers ?? threads.first?.registers
    // By the time the handler looks at the thread, its pc has moved on.
    registers?.pc &-= 4
    switch parameters.exception {
    case .none:
      (exceptionThreadID, exceptionRegisters, signalAddress) = (nil, nil, nil)
    case .mach:
      (exceptionThreadID, exceptionRegisters, signalAddress) = (crashed?.id ?? 0xbad, registers, nil)
    case .signal:
      (exceptionThreadID, exceptionRegisters) = (crashed?.id ?? 0xbad, registers)
      signalAddress = registers?.pc ?? 0
    case .nsException:
      (exceptionThreadID, exceptionRegisters, signalAddress) = (crashed?.id ?? 0xbad, nil, nil)
    }
    let writer = DumpParts(
      parameters: parameters, process: process, system: system, threads: threads, modules: modules,
      memory: memory, exceptionThreadID: exceptionThreadID ?? 0, exceptionRegisters: registers,
      signalAddress: signalAddress ?? 0, crashedFloatState: crashed?.floatState)
    bytes = writer.bytes()
  }
}

/// The dump's facts about the process.
public struct SynthProcess: Sendable {
  public let pid: UInt32
  public let parentPID: UInt32 = 1
  public let snapshotSeconds: Int64
  public let snapshotMicroseconds: Int32
  public let startSeconds: Int64
  public let startMicroseconds: Int32
  /// Seconds and microseconds of ended threads (`kTaskBasicInfo`) and of living ones (`kTaskThreadTimes`).
  public let basicUser: (Int32, Int32)
  public let basicSystem: (Int32, Int32)
  public let threadUser: (Int32, Int32)
  public let threadSystem: (Int32, Int32)
  public let annotations: [(name: String, value: String)]
  /// The values in the padding of the two `timeval`s.
  let padding: [UInt8]

  init(_ parameters: SynthParameters) {
    var random = SplitMix64(seed: parameters.seed, area: 2)
    func time() -> (Int32, Int32) { (Int32(random.below(1000)), Int32(random.below(1_000_000))) }
    pid = UInt32(random.between(200, 60000))
    snapshotSeconds = 0x6500_0000 + Int64(random.below(0x100_0000))
    snapshotMicroseconds = Int32(random.below(1_000_000))
    startSeconds = snapshotSeconds - Int64(random.between(1, 90_000))
    startMicroseconds = Int32(random.below(1_000_000))
    (basicUser, basicSystem, threadUser, threadSystem) = (time(), time(), time(), time())
    padding = random.bytes(4)
    var list = (0..<max(0, parameters.processAnnotations)).map {
      (name: "process-annotation-\($0)", value: "value for process annotation \($0)")
    }
    if !list.isEmpty {
      list.append(("prod", parameters.product))
      list.append(("ver", parameters.productVersion))
    }
    // The handler holds them in a std::map, hence sorted by bytes.
    annotations = list.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
  }
}

/// The dump's facts about the device.
public struct SynthSystem: Sendable {
  public let machine: String
  public let osVersion: (major: Int32, minor: Int32, bugfix: Int32) = (17, 4, 1)
  public let osBuild = "21E236"
  public let cpuCount: Int32
  public let cpuVendor: String
  public let standardOffsetSeconds: Int32 = -18000
  public let daylightOffsetSeconds: Int32 = -14400
  public let standardName = "EST"
  public let daylightName = "EDT"
  public let isDaylightSavingTime = false
  public let addressMask: UInt64
  public let pageSize: UInt64
  /// Pages: active, inactive, wired, free, in the order of the dump.
  public let pages: [UInt32]
  public let crashpadUptimeNanoseconds: UInt64

  init(_ parameters: SynthParameters) {
    var random = SplitMix64(seed: parameters.seed, area: 3)
    let isARM = parameters.architecture == .arm64
    machine = isARM ? "iPhone14,2" : "iOS Simulator (iPhone14,2)"
    cpuCount = isARM ? 6 : 16
    cpuVendor = isARM ? "" : "GenuineIntel"
    addressMask = isARM ? SynthDump.arm64AddressMask : ~0
    pageSize = isARM ? 0x4000 : 0x1000
    pages = (0..<4).map { _ in UInt32(random.between(5000, 250_000)) }
    crashpadUptimeNanoseconds = UInt64(random.between(1_000_000, 90_000_000_000))
  }
}
