// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Glibc
import Synchronization
import SystemPackage

/// The place to which output goes: standard output, or a file in its place.
struct OutputSink {
  static let current = Mutex(OutputSink())

  /// Whether people see the output as it is written.
  static var isTerminal: Bool { isatty(1) == 1 && current.withLock { $0.file == nil } }

  /// Nil for standard output.
  var file: OutputFile?
  var name = "standard output"
  var hasText = false
  var isNewPart = false

  func write(_ bytes: [UInt8]) throws { try unsafe write(bytes.span.bytes) }

  func write(_ bytes: RawSpan) throws {
    if let file { try file.write(bytes) } else { try writeAll(bytes, to: .standardOutput) }
  }
}
