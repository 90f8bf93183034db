internal import CrashpadBytes

/// Constants of ELF and of Linux core files.
///
/// Sources: the System V ABI, "ELF Header", "Program Header", "Note Section"; Linux, `include/linux/elfcore.h`,
/// `include/uapi/linux/{elf,auxvec}.h`, `fs/binfmt_elf.c`.
enum CoreFormat {
  /// 0x7f, "ELF"
  static let magic: UInt32 = 0x464c_457f
  static let headerSize = 64
  static let programHeaderSize = 56
  /// ELFCLASS64 and ELFDATA2LSB
  static let class64LittleEndian: UInt16 = 0x0102
  static let typeExecutable: UInt16 = 2
  static let typeCore: UInt16 = 4
  static let machineX86_64: UInt16 = 62
  static let machineAArch64: UInt16 = 183
  /// PN_XNUM: the number of program headers is in the first section header.
  static let extendedCount: UInt16 = 0xffff

  static let segmentLoad: UInt32 = 1
  static let segmentNote: UInt32 = 4

  /// NT_* types of the notes named "CORE"
  static let notePRSTATUS: UInt32 = 1
  static let noteFPREGSET: UInt32 = 2
  static let notePRPSINFO: UInt32 = 3
  static let noteAUXV: UInt32 = 6
  static let noteSIGINFO: UInt32 = 0x5349_4749
  static let noteFILE: UInt32 = 0x4649_4c45
  /// NT_* types of the notes named "LINUX"
  static let noteX86XSTATE: UInt32 = 0x202
  static let noteARMTLS: UInt32 = 0x401
  static let noteARMPACMask: UInt32 = 0x406
  /// NT_GNU_BUILD_ID, in notes named "GNU"
  static let noteBuildID: UInt32 = 3
  /// The kernel's version, in notes named "Linux" of its vDSO
  static let noteKernelVersion: UInt32 = 0

  /// AT_*
  static let auxPageSize: UInt64 = 6
  static let auxBase: UInt64 = 7
  static let auxEntry: UInt64 = 9
  static let auxPlatform: UInt64 = 15
  static let auxRandom: UInt64 = 25
  static let auxExecutableName: UInt64 = 31
  static let auxVDSO: UInt64 = 33

  static let signalStop: UInt32 = 19

  /// Offsets in `struct elf_prstatus`
  static let statusSignal = 12
  static let statusThreadID = 32
  static let statusUserTime = 48
  static let statusSystemTime = 64
  static let statusRegisters = 112
  static let registersX86_64 = 27 * 8
  static let registersAArch64 = 34 * 8

  /// `struct elf_prpsinfo`
  static let processInfoSize = 136
}

/// One program header.
struct ProgramHeader {
  /// PT_*
  let type: UInt32
  /// PF_X 1, PF_W 2, PF_R 4
  let flags: UInt32
  /// The range in the file, in bytes.
  let offset: UInt64
  let fileSize: UInt64
  /// The range in memory, in bytes.
  let address: UInt64
  let memorySize: UInt64
  let alignment: UInt64

  init(at place: Int, _ bytes: RawSpan) {
    type = bytes.uint32(at: place)
    flags = bytes.uint32(at: place + 4)
    offset = bytes.uint64(at: place + 8)
    address = bytes.uint64(at: place + 16)
    fileSize = bytes.uint64(at: place + 32)
    memorySize = bytes.uint64(at: place + 40)
    alignment = bytes.uint64(at: place + 48)
  }
}
