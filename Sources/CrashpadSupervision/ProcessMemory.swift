// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import Glibc
internal import SystemPackage

/// The memory of a process that is not that of files.
package enum ProcessMemory {
  /// In bytes; nil if the process is gone.
  ///
  /// - Parameter process: its number, or "self".
  package static func bytes(of process: String) -> UInt64? {
    guard let text = hint({ try InputFile.prefix(of: FilePath("/proc/\(process)/statm"), count: 128) }) else {
      return nil
    }
    let words = text.split(separator: UInt8(ascii: " "))
    guard words.count > 2, let resident = number(words[1]), let shared = number(words[2]) else { return nil }
    return (resident - min(resident, shared)) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? { UInt64(String(decoding: digits, as: UTF8.self)) }
}
