// SPDX-License-Identifier: Apache-2.0
/// An intermediate dump of a Linux process, as a handler within it writes it, and the truth about what is in it. Built from
/// numbers, with none of the product's constants.
///
///     var dump = SynthLinuxDump(.x86_64, threads: 3)
///     dump.threads[1].capture = 5
///     // dump.bytes
public struct SynthLinuxDump: Sendable {
  public struct Thread: Sendable {
    public var id: UInt64
    public var name: String
    /// 1 it crashed, 2 by signal, 3 by ptrace, 4 only stack and instruction pointer, 5 not stopped. Nil: not said.
    public var capture: UInt32? = 2
    public var registers: SynthRegisters
    public var floatState: [UInt8]
    public var dataAddress: UInt64
    public var stackAddress: UInt64
    public var stack: [UInt8]
    /// The addresses that a walk along the frame pointers has to find.
    public var backtrace: [UInt64]
  }

  public struct Module: Sendable {
    public var path: String
    public var address: UInt64
    public var size: UInt64
    /// Programs 2, libraries 6, the loader 7.
    public var fileType: UInt32
    public var buildID: [UInt8]?
    /// 16, 8 and 8 bits.
    public var version: UInt32?
    public var message1: String?
    public var message2: String?
    public var objects: [(name: String, type: UInt16, value: [UInt8])] = []
    /// The text in /proc/self/maps, if it is not the path.
    public var mappedPath: String?
  }

  public let architecture: SynthArchitecture
  public var threads: [Thread] = []
  /// In the order of the loader's list, the loader itself last.
  public var modules: [Module] = []
  /// -1 for a dump without a crash; nil for a dump without an exception.
  public var signal: (number: Int32, code: Int32, address: UInt64)? = (11, 1, 0x10)
  public var crashedThread = 0
  public var extraMemory: (address: UInt64, bytes: [UInt8])
  /// Memory of no file in /proc/self/maps, such as that of compiled code.
  public var mapped: [(address: UInt64, size: UInt64, access: String)] = []
  public var annotations: [(name: String, value: String)] = [("build", "nightly"), ("ver", "2.0.1")]

  public var kernelRelease: String? = "6.1.55-18-amd64"
  public var kernelVersion = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29)"
  public var distribution: String? = "Debian GNU/Linux 12 (bookworm)"
  public var release: String? = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_ID=\"12\"\n"
  public var arguments = ["/usr/bin/example", "--password=<removed>", "a b"]
  public var environment = ["LANG=C.UTF-8", "PATH=/usr/bin"]
  public var auxiliaryVector: [UInt64] = [6, 4096, 25, 0x7fff_0010, 0, 0]
  public var captureNotes: [String] = []
  public var captureDuration: UInt64? = 3_449_000
  public var executable: String? = "/usr/bin/example"
  public var cpuModel: String? = "Synthetic CPU @ 2.60GHz"
  public var pid: UInt32 = 4242
  public var parentPID: UInt32 = 4000

  public static let snapshotSeconds: Int64 = 1_700_000_000
  public static let startSeconds: Int64 = 1_699_999_900
  public static let uptimeNanoseconds: UInt64 = 99_500_000_000
  public static let program: UInt64 = 0x5555_5555_4000
  public static let arm64AddressMask: UInt64 = 0xff7f_0000_0000_0000

  public init(_ architecture: SynthArchitecture = .x86_64, threads: Int = 2, seed: UInt64 = 1) {
    self.architecture = architecture
    var random = SplitMix64(seed: seed, area: 120)
    extraMemory = (0x7fff_8000_0000, random.bytes(64))
    addModules(&random)
    for index in 0..<threads { addThread(index, &random) }
  }

  private mutating func addModules(_ random: inout SplitMix64) {
    modules = [
      Module(path: "/usr/bin/example", address: Self.program, size: 0x5000, fileType: 2, buildID: random.bytes(20)),
      Module(
        path: "/usr/lib/libc.so.6", address: 0x7fff_f7c0_0000, size: 0x1e_0000, fileType: 6, buildID: random.bytes(20),
        version: 2 << 16 | 36 << 8),
      Module(path: "/usr/lib/libbare.so", address: 0x7fff_f7e0_0000, size: 0x4000, fileType: 6, buildID: nil),
      Module(
        path: "linux-gate.so", address: 0x7fff_f7fc_1000, size: 0x2000, fileType: 6, buildID: random.bytes(20)),
      Module(
        path: "/usr/lib/ld-example.so.2", address: 0x7fff_f7fc_5000, size: 0x3_3000, fileType: 7,
        buildID: random.bytes(8)),
    ]
    modules[0].message1 = "terminate: std::runtime_error: no such file"
    modules[0].objects = [("state", 1, Array("loading".utf8)), ("counters", 0x8001, [1, 2, 3, 4])]
    modules[1].message1 = "free(): double free detected in tcache 2"
  }

  private mutating func addThread(_ index: Int, _ random: inout SplitMix64) {
    let stackAddress = index == 0 ? 0x7fff_ffff_e000 : 0x7fff_f000_0000 + UInt64(index) * 0x10_0000
    var stack = random.bytes(512)
    var registers = SynthRegisters(architecture: architecture)
    for register in registers.values.indices { registers.values[register] = UInt64(random.below(0x10000)) }
    registers.sp = stackAddress + 128
    registers.pc = Self.program + 0x1040 + UInt64(index) * 16
    var backtrace = [registers.pc]
    let frames: [UInt64] = [stackAddress + 192, stackAddress + 320, 0]
    registers.fp = frames[0]
    for (number, frame) in frames.dropLast().enumerated() {
      let isLast = number == frames.count - 2
      let returnAddress = isLast ? 0 : modules[1].address + 0x2_9d90
      stack.overwrite(frames[number + 1], width: 8, at: Int(frame - stackAddress))
      stack.overwrite(returnAddress, width: 8, at: Int(frame - stackAddress) + 8)
      if number == 0 { registers.lr = returnAddress }
      if !isLast { backtrace.append(returnAddress) }
    }
    threads.append(
      Thread(
        id: UInt64(pid) + UInt64(index), name: index == 0 ? "example" : "worker \(index)", capture: index == 0 ? 1 : 2,
        registers: registers, floatState: FloatState.bytes(architecture, &random),
        dataAddress: 0x7fff_f7d8_0740 + UInt64(index) * 0x1000, stackAddress: stackAddress, stack: stack,
        backtrace: backtrace))
  }

  // MARK: Texts

  public var machine: String { architecture == .arm64 ? "aarch64" : "x86_64" }

  public var status: String { "Name:\texample\nTgid:\t\(pid)\nPid:\t\(pid)\nPPid:\t\(parentPID)\n" }

  public var maps: String {
    (modules.map { module in
      "\(String(module.address, radix: 16))-\(String(module.address + module.size, radix: 16)) r-xp 00000000 08:01 7 "
        + "\(module.mappedPath ?? module.path)\n"
    }
      + mapped.map { range in
        "\(String(range.address, radix: 16))-\(String(range.address + range.size, radix: 16)) \(range.access) 00000000 00:00 0\n"
      }).joined()
  }

  /// The answer of uname(1).
  public var uname: String { "Linux \(kernelRelease ?? "") \(kernelVersion) \(machine)" }

  // MARK: Bytes

  public var bytes: [UInt8] {
    var dump = DumpBuilder()
    dump.root {
      $0.property(.version, [1])
      $0.map(.linux, writeLinux)
      $0.map(.systemInfo, writeSystem)
      $0.map(.processInfo, writeProcess)
      writeException(&$0)
      $0.array(.modules) { for module in modules { $0.mapInArray { write(module, &$0) } } }
      $0.array(.threads) { for thread in threads { $0.mapInArray { write(thread, &$0) } } }
      $0.map(.capture, writeCapture)
    }
    return dump.bytes
  }

  private func writeLinux(_ dump: inout DumpBuilder) {
    func strings(_ list: [String]) -> [UInt8] { list.flatMap { Array($0.utf8) + [0] } }
    dump.property(.osFamily, "Linux")
    if let kernelRelease { dump.property(.kernelRelease, kernelRelease) }
    dump.property(.kernelVersion, kernelVersion)
    if let distribution { dump.property(.distribution, distribution) }
    dump.property(.commandLine, strings(arguments))
    dump.property(.environment, strings(environment))
    dump.property(.auxiliaryVector, Bytes.of(auxiliaryVector))
    if let release { dump.property(.release, release) }
    if let executable { dump.property(.executable, executable) }
    if let cpuModel { dump.property(.cpuModel, cpuModel) }
  }

  private func writeCapture(_ dump: inout DumpBuilder) {
    dump.property(.maps, maps)
    dump.property(.processStatus, status)
    if !captureNotes.isEmpty { dump.property(.captureNotes, captureNotes.map { $0 + "\n" }.joined()) }
    if let captureDuration { dump.property(.captureDuration, uint64: captureDuration) }
  }

  private func writeProcess(_ dump: inout DumpBuilder) {
    func timeval(_ seconds: Int64, _ microseconds: Int32) -> [UInt8] {
      Bytes.of(UInt64(bitPattern: seconds)) + Bytes.of(microseconds) + [0, 0, 0, 0]
    }
    dump.property(.pid, uint32: pid)
    dump.property(.parentPID, uint32: parentPID)
    dump.property(.startTime, timeval(Self.startSeconds, 250_000))
    dump.property(.snapshotTime, timeval(Self.snapshotSeconds, 750_000))
    dump.map(.taskBasicInfo) {
      $0.property(.userTime, Bytes.of(Int32(12)) + Bytes.of(Int32(340_000)))
      $0.property(.systemTime, Bytes.of(Int32(6)) + Bytes.of(Int32(780_000)))
    }
    dump.array(.annotationsSimpleMap) {
      for (name, value) in annotations {
        $0.mapInArray {
          $0.property(.annotationName, name)
          $0.property(.annotationValue, value)
        }
      }
    }
  }

  private func writeSystem(_ dump: inout DumpBuilder) {
    dump.property(.machineDescription, machine)
    dump.property(.osVersionMajor, int32: 6)
    dump.property(.osVersionMinor, int32: 1)
    dump.property(.osVersionBugfix, int32: 55)
    dump.property(.osVersionBuild, "\(kernelRelease ?? "") \(kernelVersion)")
    dump.property(.cpuCount, int32: 8)
    dump.property(.cpuVendor, architecture == .arm64 ? "" : "GenuineIntel")
    dump.property(.hasDaylightSavingTime, [1])
    dump.property(.isDaylightSavingTime, [0])
    dump.property(.standardOffsetSeconds, int32: 3600)
    dump.property(.daylightOffsetSeconds, int32: 7200)
    dump.property(.standardName, "CET")
    dump.property(.daylightName, "CEST")
    if architecture == .arm64 { dump.property(.addressMask, uint64: Self.arm64AddressMask) }
    dump.property(.pageSize, uint64: 4096)
    dump.map(.vmStat) {
      for (key, pages) in [(DumpKey.active, 40_000), (.inactive, 30_000), (.wired, 20_000), (.free, 10_000)] {
        $0.property(key, uint32: UInt32(pages))
      }
    }
    dump.property(.crashpadUptime, uint64: Self.uptimeNanoseconds)
  }

  private func writeException(_ dump: inout DumpBuilder) {
    guard let signal else { return }
    let thread = threads.indices.contains(crashedThread) ? threads[crashedThread] : nil
    dump.map(.signalException) {
      $0.property(.signalNumber, int32: signal.number)
      $0.property(.signalCode, int32: signal.code)
      $0.property(.signalAddress, uint64: signal.address)
      if let thread {
        $0.property(.threadState, thread.registers.threadState)
        $0.property(.floatState, thread.floatState)
      }
      $0.property(.threadID, uint64: thread?.id ?? 0xbad)
    }
  }

  private func write(_ thread: Thread, _ dump: inout DumpBuilder) {
    dump.property(.threadID, uint64: thread.id)
    dump.property(.threadName, thread.name)
    dump.property(.suspendCount, uint32: 0)
    dump.property(.priority, int32: 20)
    dump.property(.threadDataAddress, uint64: thread.dataAddress)
    if let capture = thread.capture { dump.property(.threadCapture, uint32: capture) }
    if thread.capture == 5 { return }
    if thread.capture == 4 {
      var registers = SynthRegisters(architecture: architecture)
      registers.sp = thread.registers.sp
      registers.pc = thread.registers.pc
      dump.property(.threadState, registers.threadState)
    } else {
      dump.property(.threadState, thread.registers.threadState)
      dump.property(.floatState, thread.floatState)
      dump.property(.debugState, FloatState.debugBytes(architecture))
    }
    dump.property(.stackRegionAddress, uint64: thread.stackAddress)
    dump.property(.stackRegionData, thread.stack)
  }

  private func write(_ module: Module, _ dump: inout DumpBuilder) {
    dump.property(.name, module.path)
    dump.property(.address, uint64: module.address)
    dump.property(.size, uint64: module.size)
    dump.property(.fileType, uint32: module.fileType)
    if let version = module.version { dump.property(.dylibCurrentVersion, uint32: version) }
    dump.property(.uuid, Array(((module.buildID ?? []) + [UInt8](repeating: 0, count: 16)).prefix(16)))
    if let id = module.buildID { dump.property(.buildID, id) }
    if module.message1 != nil || module.message2 != nil {
      dump.map(.annotationsCrashInfo) {
        if let text = module.message1 { $0.property(.annotationsCrashInfoMessage1, text) }
        if let text = module.message2 { $0.property(.annotationsCrashInfoMessage2, text) }
      }
    }
    if !module.objects.isEmpty {
      dump.array(.annotationObjects) {
        for object in module.objects {
          $0.mapInArray {
            $0.property(.annotationName, object.name)
            $0.property(.annotationValue, object.value)
            $0.property(.annotationType, Bytes.of(object.type))
          }
        }
      }
    }
    if module.fileType == 2 {
      dump.array(.moduleExtraMemoryRegions) {
        $0.mapInArray {
          $0.property(.moduleExtraMemoryRegionAddress, uint64: extraMemory.address)
          $0.property(.moduleExtraMemoryRegionData, extraMemory.bytes)
        }
      }
    }
  }
}
