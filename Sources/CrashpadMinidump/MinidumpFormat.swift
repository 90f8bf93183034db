// SPDX-License-Identifier: Apache-2.0
/// Constants of the minidump format.
///
/// Sources: Microsoft, `minidumpapiset.h`; Breakpad, `google_breakpad/common/minidump_format.h`; Crashpad,
/// `minidump/minidump_extensions.h`.
package enum MinidumpFormat {
  /// "MDMP"
  package static let signature: UInt32 = 0x504d_444d
  package static let version: UInt32 = 0x0000_a793
  package static let headerSize = 32
  package static let directoryEntrySize = 12

  package static let threadSize = 48
  package static let moduleSize = 108
  package static let memoryDescriptorSize = 16
  package static let exceptionStreamSize = 168
  package static let systemInfoSize = 56
  /// MINIDUMP_MISC_INFO, the first version: process id and times
  package static let miscInfoSize = 24
  package static let miscInfo4Size = 832
  package static let threadNameSize = 12
  package static let crashpadInfoSize = 64
  package static let moduleCrashpadInfoSize = 28
  /// The record of a module as it was before the list of annotation objects, its last member.
  package static let oldModuleCrashpadInfoSize = 20

  package static let contextARM64Size = 912
  package static let contextAMD64Size = 1232
  package static let contextX86Size = 716
  package static let contextARMSize = 368
  package static let contextRISCV64Size = 528
  package static let contextPPC64Size = 1152
  package static let contextMIPSSize = 600

  /// EXC_CRASH among the parameters of Mach exceptions
  package static let machCrash: UInt64 = 10

  package static let fixedFileInfoSignature: UInt32 = 0xfeef_04bd

  /// "RSDS": a CodeView record with GUID, age and file name.
  package static let codeViewPDB70: UInt32 = 0x5344_5352
  /// "BpEL": Breakpad's CodeView record with an ELF build id.
  package static let codeViewELFBuildID: UInt32 = 0x4270_454c
  /// "NB10": an older CodeView record with a time stamp.
  package static let codeViewPDB20: UInt32 = 0x3031_424e
}

/// A range of the file: 32-bit size and offset ("RVA").
struct LocationDescriptor {
  var size: Int
  var rva: Int

  static let none = LocationDescriptor(size: 0, rva: 0)

  /// Whether there is something, and no place of it: the file begins with its header.
  var isNowhere: Bool { size > 0 && rva == 0 }
}

/// The description of a stack that says nothing of its place in the file. Windows writes such: the bytes are in a list of memory.
struct UnplacedStack {
  let thread: Int
  /// The offset of the description.
  let field: Int
  let address: UInt64
  /// In bytes.
  let size: Int
}

/// Conversions between the format's numbers and a snapshot's values.
enum MinidumpNumbers {}
