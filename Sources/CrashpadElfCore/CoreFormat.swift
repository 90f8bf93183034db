// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Constants of Linux core files.
///
/// Sources: Linux, `include/linux/elfcore.h`,
/// `include/uapi/linux/{elf,auxvec}.h`, `fs/binfmt_elf.c`.
enum CoreFormat {
  static let typeExecutable: UInt16 = 2
  static let typeCore: UInt16 = 4
  /// NT_* types of the notes named "CORE"
  static let notePRSTATUS: UInt32 = 1
  static let noteFPREGSET: UInt32 = 2
  static let notePRPSINFO: UInt32 = 3
  static let noteAUXV: UInt32 = 6
  static let noteSIGINFO: UInt32 = 0x5349_4749
  static let noteFILE: UInt32 = 0x4649_4c45
  /// NT_* types of the notes named "LINUX"
  static let note386TLS: UInt32 = 0x200
  static let noteX86XSTATE: UInt32 = 0x202
  static let noteARMTLS: UInt32 = 0x401
  static let noteARMPACMask: UInt32 = 0x406
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
}
