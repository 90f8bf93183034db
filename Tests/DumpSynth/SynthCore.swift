// SPDX-License-Identifier: Apache-2.0
/// A core file of Linux, built from the ABI's numbers and none of the product's constants.
public struct SynthCore: Sendable {
  public enum Machine: String, Sendable, CaseIterable {
    case x86_64
    case aarch64
  }

  public struct Thread: Sendable {
    public var id: UInt32
    /// As NT_PRSTATUS has them: 27 of x86-64, 34 of AArch64.
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
  private static let program: UInt64 = 0x5555_5555_4000
  private static let library: UInt64 = 0x7fff_f7c0_0000
  private static let bareLibrary: UInt64 = 0x7fff_f7d0_0000
  private static let vdso: UInt64 = 0x7fff_f7fc_1000
  private static let loader: UInt64 = 0x7fff_f7fc_5000
  private static let mainStackEnd: UInt64 = 0x7fff_ffff_f000

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
    add("/usr/bin/example", Self.program, random.bytes(20), withHeader: true)
    // A file that is mapped and is no module.
    let data = Mapping(
      start: Self.library - 2 * page, end: Self.library - page, offset: 0, path: "/usr/lib/locale/locale-archive")
    mappings.append(data)
    segments.append(Segment(address: data.start, size: page, flags: 4, bytes: Array("data".utf8) + random.bytes(28)))
    add("/usr/lib/libexample.so.1 (deleted)", Self.library, random.bytes(16), withHeader: true)
    modules[modules.count - 1].path = "/usr/lib/libexample.so.1"
    add("/usr/lib/libbare.so", Self.bareLibrary, nil, withHeader: false)
    let (major, minor, patch) = Self.kernelVersion
    let version = Note("Linux", 0, Bytes.of(major << 16 | minor << 8 | patch))
    let vdsoID = random.bytes(20)
    let vdsoImage = Self.image(machine, vdsoID, version, size: 2 * page)
    segments.append(Segment(address: Self.vdso, size: 2 * page, flags: 5, bytes: vdsoImage + random.bytes(64)))
    modules.append(Module(path: "linux-gate.so", address: Self.vdso, size: 2 * page, buildID: vdsoID))
    add("/usr/lib/ld-example.so.2", Self.loader, random.bytes(20), withHeader: true)
    segments.append(
      Segment(address: Self.program + 0x10000, size: page, flags: 6, bytes: random.bytes(256)))  // the heap
  }

  private mutating func addStacks(_ count: Int, _ random: inout SplitMix64) {
    for index in 0..<count {
      var stack: (start: UInt64, bytes: [UInt8])
      if index == 0 {
        stack = mainStack(&random)
      } else {
        stack = (Self.library - 0x100_0000 - UInt64(index) * 0x2_0000, random.bytes(1024))
      }
      let pointer = stack.start + 256
      segments.append(Segment(address: stack.start, size: UInt64(stack.bytes.count), flags: 6, bytes: stack.bytes))
      var registers = (0..<(machine == .x86_64 ? 27 : 34)).map { _ in random.next() & 0xffff }
      let program = Self.program + 0x1040 + UInt64(index) * 16
      if machine == .x86_64 {
        registers[4] = pointer + 64  // rbp
        registers[5] = Self.program + 0x10040  // rbx, into the heap
        registers[16] = program  // rip
        registers[17] = 0x33
        registers[18] = 0x10246
        registers[19] = pointer
        registers[20] = 0x2b
        registers[21] = stack.start + 512  // fs_base
      } else {
        registers[19] = Self.program + 0x10040
        registers[29] = pointer + 64
        registers[30] = Self.program + 0x1100
        registers[31] = pointer
        registers[32] = program
        registers[33] = 0x6000_0000
      }
      threads.append(
        Thread(
          id: UInt32(processID) + UInt32(index), registers: registers,
          floatingPoint: random.bytes(machine == .x86_64 ? 512 : 520), signal: index == 0 ? 11 : 0,
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
    var total = used + 8 * words + 16 + stringBytes
    let padding = -total & 15
    total += padding
    let start = Self.mainStackEnd - UInt64(total)
    let randomAddress = start + UInt64(used + 8 * words)
    var place = randomAddress + 16
    auxiliaryVector = [
      (33, Self.vdso), (6, Self.page), (3, Self.program + 64), (7, Self.loader), (9, Self.program + 0x1000),
      (25, randomAddress), (31, place + UInt64(stringBytes - file.count)), (0, 0),
    ]
    var bytes = random.bytes(used)
    bytes.append(little: UInt64(arguments.count))
    for (index, string) in strings.enumerated() {
      if index == arguments.count { bytes.appendZeros(8) }
      bytes.append(little: place)
      place += UInt64(string.count)
    }
    if environment.isEmpty { bytes.appendZeros(8) }
    bytes.appendZeros(8)
    for (type, value) in auxiliaryVector { bytes += Bytes.of([type, value]) }
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
    var bytes = header(machine, type: 3, programHeaders: 2)
    bytes += programHeader(type: 1, flags: 5, offset: 0, address: 0, size, size)
    bytes += programHeader(type: 4, flags: 4, offset: 176, address: 176, UInt64(notes.count), UInt64(notes.count))
    return bytes + notes
  }
}
