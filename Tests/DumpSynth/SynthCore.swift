// SPDX-License-Identifier: Apache-2.0
/// A core file of Linux, built from the ABI's numbers and none of the product's constants.
public struct SynthCore: Sendable {
  public enum Machine: String, Sendable, CaseIterable {
    case x86_64
    case aarch64
    case i386
    case arm
    case riscv64
    case ppc64le
    case loongarch64

    /// The size of a long and of an address, in bytes.
    public var wordSize: Int { self == .i386 || self == .arm ? 4 : 8 }
    public var isNarrow: Bool { wordSize == 4 }
    /// EM_*
    var number: UInt16 {
      switch self {
      case .x86_64: 62
      case .aarch64: 183
      case .i386: 3
      case .arm: 40
      case .riscv64: 243
      case .ppc64le: 21
      case .loongarch64: 258
      }
    }
    /// The number of registers in NT_PRSTATUS.
    var registerCount: Int {
      switch self {
      case .x86_64: 27
      case .aarch64: 34
      case .i386: 17
      case .arm: 18
      case .riscv64: 32
      case .ppc64le: 48
      case .loongarch64: 45
      }
    }
    /// The size of NT_FPREGSET before its padding.
    var floatingPointSize: Int {
      switch self {
      case .x86_64: 512
      case .aarch64: 520
      case .i386: 108
      case .arm: 116
      case .riscv64: 264
      case .ppc64le: 264
      case .loongarch64: 272
      }
    }

    func bytes(ofWords words: [UInt64]) -> [UInt8] {
      isNarrow ? words.flatMap { Bytes.of(UInt32(truncatingIfNeeded: $0)) } : Bytes.of(words)
    }
  }

  public struct Thread: Sendable {
    public var id: UInt32
    /// As NT_PRSTATUS has them: 27 of x86-64, 34 of AArch64, 17 of i386, 18 of ARM, 32 of RISC-V, 48 of
    /// PowerPC, 45 of LoongArch.
    public var registers: [UInt64]
    public var floatingPoint: [UInt8]
    public var signal: UInt16 = 0
    public var stackPointer: UInt64
  }

  public struct Segment: Sendable {
    public var address: UInt64
    public var size: UInt64
    /// R 4, W 2, X 1
    public var flags: UInt32
    public var bytes: [UInt8]
  }

  public struct Mapping: Sendable {
    public var start: UInt64
    public var end: UInt64
    /// In pages.
    public var offset: UInt64
    public var path: String
  }

  public struct Module: Sendable {
    public var path: String
    public var address: UInt64
    public var size: UInt64
    public var buildID: [UInt8]?
  }

  /// A note that is written as it is, behind all others.
  public struct Note: Sendable {
    public var name: String
    public var type: UInt32
    public var bytes: [UInt8]

    public init(_ name: String, _ type: UInt32, _ bytes: [UInt8]) {
      self.name = name
      self.type = type
      self.bytes = bytes
    }
  }

  public let machine: Machine
  public var threads: [Thread] = []
  public var segments: [Segment] = []
  public var mappings: [Mapping] = []
  /// The mappings and the vDSO: the program first, the others by address.
  public var modules: [Module] = []
  public var auxiliaryVector: [(type: UInt64, value: UInt64)] = []
  public var arguments: [String]
  public var environment: [String]
  public var processID: Int32 = 4242
  public var parentID: Int32 = 4000
  public var name = "example"
  public var signalNumber: UInt32 = 11
  public var signalCode: Int32 = 1
  public var signalAddress: UInt64 = 0x10
  public var extraNotes: [Note] = []
  /// Notes that stand before the first thread.
  public var firstNotes: [Note] = []
  /// The alignment of notes in the core: 4, or 8 as some programs write them.
  public var noteAlignment = 4
  public var hasSignalInfo = true
  public var hasFileNote = true
  public var hasNotes = true
  /// With the number of program headers in the first section header, as of 65,535 on.
  public var hasExtendedCount = false

  public static let addressMask: UInt64 = 0xff7f_0000_0000_0000
  public static let kernelVersion: (UInt32, UInt32, UInt32) = (6, 1, 25)

  public init(
    _ machine: Machine = .x86_64, threads: Int = 3, seed: UInt64 = 1,
    arguments: [String] = ["./example", "--fast", "a b"],
    environment: [String] = ["HOME=/root", "LANG=C.UTF-8"]
  ) {
    self.machine = machine
    self.arguments = arguments
    self.environment = environment
    var random = SplitMix64(seed: seed, area: 90)
    addModules(&random)
    addStacks(threads, &random)
    segments.sort { $0.address < $1.address }
  }

  /// A small core that describes large maps: hundreds of segments in one mapped file with a long name.
  public static func sharingOneName() -> SynthCore {
    var core = SynthCore(threads: 1)
    let start: UInt64 = 0x6000_0000_0000
    let path = "/" + String(repeating: "name", count: 16_000)
    core.mappings.append(Mapping(start: start, end: start + 1000 * page, offset: 1, path: path))
    for index in 0..<300 as Range<UInt64> {
      core.segments.append(Segment(address: start + index * page, size: page, flags: 4, bytes: []))
    }
    core.segments.sort { $0.address < $1.address }
    return core
  }

  // MARK: What lies where

  private static let page: UInt64 = 4096
  private var program: UInt64 { place(0x5555_5555_4000) }
  private var library: UInt64 { place(0x7fff_f7c0_0000) }
  private var bareLibrary: UInt64 { place(0x7fff_f7d0_0000) }
  private var vdso: UInt64 { place(0x7fff_f7fc_1000) }
  private var loader: UInt64 { place(0x7fff_f7fc_5000) }
  private var mainStackEnd: UInt64 { place(0x7fff_ffff_f000) }

  /// An address, or its low half.
  private func place(_ address: UInt64) -> UInt64 { machine.isNarrow ? address & 0xffff_ffff : address }

  private mutating func addModules(_ random: inout SplitMix64) {
    let page = Self.page
    func add(_ path: String, _ address: UInt64, _ id: [UInt8]?, withHeader: Bool, note: SynthCore.Note? = nil) {
      // Four pages in the file: headers, code, constants, data; a fifth is the data's zeros.
      let image = Self.image(machine, id, note, size: 4 * page + 0x800)
      let flags: [UInt32] = [4, 5, 4, 6]
      for (index, flags) in flags.enumerated() {
        let start = address + UInt64(index) * page
        mappings.append(Mapping(start: start, end: start + page, offset: UInt64(index), path: path))
        let bytes = index == 0 ? (withHeader ? image : []) : index == 3 ? random.bytes(128) : []
        segments.append(Segment(address: start, size: page, flags: flags, bytes: bytes))
      }
      segments.append(Segment(address: address + 4 * page, size: page, flags: 6, bytes: []))
      modules.append(
        Module(path: path, address: address, size: withHeader ? 5 * page : 4 * page, buildID: withHeader ? id : nil))
    }
    add("/usr/bin/example", program, random.bytes(20), withHeader: true)
    // A file that is mapped and is no module.
    let data = Mapping(
      start: library - 2 * page, end: library - page, offset: 0, path: "/usr/lib/locale/locale-archive")
    mappings.append(data)
    segments.append(Segment(address: data.start, size: page, flags: 4, bytes: Array("data".utf8) + random.bytes(28)))
    add("/usr/lib/libexample.so.1 (deleted)", library, random.bytes(16), withHeader: true)
    modules[modules.count - 1].path = "/usr/lib/libexample.so.1"
    add("/usr/lib/libbare.so", bareLibrary, nil, withHeader: false)
    let (major, minor, patch) = Self.kernelVersion
    let version = Note("Linux", 0, Bytes.of(major << 16 | minor << 8 | patch))
    let vdsoID = random.bytes(20)
    let vdsoImage = Self.image(machine, vdsoID, version, size: 2 * page)
    segments.append(Segment(address: vdso, size: 2 * page, flags: 5, bytes: vdsoImage + random.bytes(64)))
    modules.append(Module(path: "linux-gate.so", address: vdso, size: 2 * page, buildID: vdsoID))
    add("/usr/lib/ld-example.so.2", loader, random.bytes(20), withHeader: true)
    segments.append(
      Segment(address: program + 0x10000, size: page, flags: 6, bytes: random.bytes(256)))  // the heap
  }

  private mutating func addStacks(_ count: Int, _ random: inout SplitMix64) {
    for index in 0..<count {
      var stack: (start: UInt64, bytes: [UInt8])
      if index == 0 {
        stack = mainStack(&random)
      } else {
        stack = (library - 0x100_0000 - UInt64(index) * 0x2_0000, random.bytes(1024))
      }
      let pointer = stack.start + 256
      segments.append(Segment(address: stack.start, size: UInt64(stack.bytes.count), flags: 6, bytes: stack.bytes))
      var registers = (0..<machine.registerCount).map { _ in random.next() & 0xffff }
      let code = program + 0x1040 + UInt64(index) * 16
      let heap = program + 0x10040
      switch machine {
      case .x86_64:
        registers[4] = pointer + 64  // rbp
        registers[5] = heap  // rbx
        registers[16] = code  // rip
        registers[17] = 0x33
        registers[18] = 0x10246
        registers[19] = pointer
        registers[20] = 0x2b
        registers[21] = stack.start + 512  // fs_base
      case .aarch64:
        registers[19] = heap
        registers[29] = pointer + 64
        registers[30] = program + 0x1100
        registers[31] = pointer
        registers[32] = code
        registers[33] = 0x6000_0000
      case .i386:
        registers[0] = heap  // ebx
        registers[5] = pointer + 64  // ebp
        registers[10] = 0x63  // gs: the twelfth segment
        registers[12] = code  // eip
        registers[13] = 0x23
        registers[14] = 0x10246
        registers[15] = pointer
        registers[16] = 0x2b
      case .arm:
        registers[4] = heap
        registers[11] = pointer + 64
        registers[13] = pointer
        registers[14] = program + 0x1101
        registers[15] = code
        registers[16] = 0x6000_0030  // Thumb
      case .riscv64:
        registers[0] = code
        registers[1] = program + 0x1100
        registers[2] = pointer
        registers[4] = pointer + 256  // tp
        registers[8] = pointer + 64
      case .ppc64le:
        registers[1] = pointer
        registers[13] = pointer + 256  // the thread pointer
        registers[32] = code
        registers[36] = program + 0x1100
      case .loongarch64:
        registers[1] = program + 0x1100
        registers[2] = pointer + 256  // tp
        registers[3] = pointer
        registers[22] = pointer + 64
        registers[33] = code
      }
      threads.append(
        Thread(
          id: UInt32(processID) + UInt32(index), registers: registers,
          floatingPoint: random.bytes(machine.floatingPointSize), signal: index == 0 ? 11 : 0,
          stackPointer: pointer))
    }
  }

  /// 384 bytes in use, and above them what the kernel puts there: pointers, the auxiliary vector, strings.
  private mutating func mainStack(_ random: inout SplitMix64) -> (start: UInt64, bytes: [UInt8]) {
    let strings = arguments.map { Array($0.utf8) + [0] } + environment.map { Array($0.utf8) + [0] }
    let file = Array("./example\0".utf8)
    let stringBytes = strings.reduce(0) { $0 + $1.count } + file.count
    let auxiliaryCount = 8
    let words = 1 + arguments.count + 1 + environment.count + 1 + 2 * auxiliaryCount
    let used = 384
    let size = machine.wordSize
    var total = used + size * words + 16 + stringBytes
    let padding = -total & 15
    total += padding
    let start = mainStackEnd - UInt64(total)
    let randomAddress = start + UInt64(used + size * words)
    var place = randomAddress + 16
    auxiliaryVector = [
      (33, vdso), (6, Self.page), (3, program + 64), (7, loader), (9, program + 0x1000),
      (25, randomAddress), (31, place + UInt64(stringBytes - file.count)), (0, 0),
    ]
    var bytes = random.bytes(used)
    bytes += machine.bytes(ofWords: [UInt64(arguments.count)])
    for (index, string) in strings.enumerated() {
      if index == arguments.count { bytes.appendZeros(size) }
      bytes += machine.bytes(ofWords: [place])
      place += UInt64(string.count)
    }
    if environment.isEmpty { bytes.appendZeros(size) }
    bytes.appendZeros(size)
    for (type, value) in auxiliaryVector { bytes += machine.bytes(ofWords: [type, value]) }
    bytes += random.bytes(16)
    for string in strings { bytes += string }
    bytes += file
    bytes.appendZeros(padding)
    return (start, bytes)
  }

  /// The first bytes of an ELF file: header, a PT_LOAD of `size` bytes, and its notes.
  private static func image(_ machine: Machine, _ id: [UInt8]?, _ note: Note?, size: UInt64) -> [UInt8] {
    var notes: [UInt8] = []
    if let note { notes += bytes(of: note) }
    if let id { notes += bytes(of: Note("GNU", 3, id)) }
    let start = UInt64(machine.headerSize + 2 * machine.programHeaderSize)
    var bytes = header(machine, type: 3, programHeaders: 2)
    bytes += programHeader(machine, type: 1, flags: 5, offset: 0, address: 0, size, size)
    bytes += programHeader(
      machine, type: 4, flags: 4, offset: start, address: start, UInt64(notes.count), UInt64(notes.count))
    return bytes + notes
  }
}
