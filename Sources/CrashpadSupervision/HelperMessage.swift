// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import Glibc
internal import SystemPackage

/// The limits of one request.
package struct HelperLimits: Sendable {
  /// In milliseconds.
  package let time: Int64?
  /// In bytes, beyond what the process had when the request came.
  package let memory: UInt64?

  package init(time: Int64?, memory: UInt64?) { (self.time, self.memory) = (time, memory) }
}

package enum HelperAnswer: Sendable {
  case bytes([UInt8])
  case timeout
  case memory
  case killed(signal: Int32)
  /// The process and the one that watches it are gone.
  case lost
}

/// The messages between the processes: a length, and as many bytes; an answer begins with its kind.
enum HelperMessage {
  static func exchange(_ request: [UInt8], with helper: FileDescriptor) -> HelperAnswer {
    guard write(length(request.count) + request, to: helper), let kind = read(1, from: helper)?.first,
      let body = body(from: helper)
    else { return .lost }
    return switch kind {
    case 0: .bytes(body)
    case 1: .timeout
    case 2: .memory
    default: .killed(signal: Int32(body.first ?? 0))
    }
  }

  static func answer(_ answer: HelperAnswer) -> [UInt8] {
    switch answer {
    case .bytes(let bytes): [0] + length(bytes.count) + bytes
    case .timeout: [1] + length(0)
    case .memory: [2] + length(0)
    case .killed(let signal): [3] + length(1) + [UInt8(truncatingIfNeeded: signal)]
    case .lost: []
    }
  }

  static func body(from descriptor: FileDescriptor) -> [UInt8]? {
    guard let digits = read(4, from: descriptor) else { return nil }
    return read(digits.reversed().reduce(0) { $0 << 8 | Int($1) }, from: descriptor)
  }

  private static func read(_ count: Int, from descriptor: FileDescriptor) -> [UInt8]? {
    do {
      let bytes = try descriptor.bytes(count)
      return bytes.count == count ? bytes : nil
    } catch { return nil }
  }

  /// Without the signal that a socket without a reader raises.
  static func write(_ bytes: [UInt8], to descriptor: FileDescriptor) -> Bool {
    var written = 0
    while written < bytes.count {
      let sent = unsafe bytes.withUnsafeBytes { buffer in
        unsafe send(
          descriptor.rawValue, buffer.baseAddress! + written, bytes.count - written, Int32(MSG_NOSIGNAL))
      }
      if sent < 0, errno == EINTR { continue }
      guard sent > 0 else { return false }
      written += sent
    }
    return true
  }

  private static func length(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } }
}
