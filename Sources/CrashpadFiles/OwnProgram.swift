// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux

/// The program of this process.
package enum OwnProgram {
  /// Whether it can load libraries. A program with the C library linked in has no loader in memory.
  package static var hasLoader: Bool { getauxval(LINUX_AT_BASE) != 0 }
}
