// SPDX-License-Identifier: Apache-2.0
import CrashpadText
import Synchronization

/// A line on the terminal about the downloads of a run. Prints nothing elsewhere.
final class DownloadProgress: Sendable {
  static let shared = DownloadProgress()

  private struct Shown {
    var isOnScreen = false
    var bytes: Int64 = 0
  }
  private let shown = Mutex(Shown())
  private static let step: Int64 = 1 << 20

  func show(_ files: Int, _ bytes: Int64) {
    guard Terminal.isErrorTerminal else { return }
    shown.withLock { shown in
      guard bytes - shown.bytes >= Self.step else { return }
      (shown.isOnScreen, shown.bytes) = (true, bytes)
      let count = TextFormat.count(files, "file")
      Terminal.errorPart("\r\(count), \(TextFormat.size(UInt64(bytes))) from symbol servers\u{1b}[K")
    }
  }

  /// Removes the line, so that other text can be printed.
  func clear() {
    shown.withLock { shown in
      if shown.isOnScreen { Terminal.errorPart("\r\u{1b}[K") }
      shown.isOnScreen = false
    }
  }
}
