// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import CrashpadText
import Glibc
import Synchronization
import SystemPackage

/// A line on the terminal about the downloads of a run. Prints nothing elsewhere. It knows nothing of `Terminal`, which removes
/// the line before it prints.
final class DownloadProgress: Sendable {
  static let shared = DownloadProgress()

  private struct Shown {
    var isOnScreen = false
    var bytes: Int64 = 0
  }
  private let shown = Mutex(Shown())
  private static let step: Int64 = 1 << 20
  private static let isTerminal = isatty(2) == 1

  private static func print(_ text: String) { try? writeAll(text, to: .standardError) }

  func show(_ files: Int, _ bytes: Int64) {
    guard Self.isTerminal else { return }
    shown.withLock { shown in
      guard bytes - shown.bytes >= Self.step else { return }
      (shown.isOnScreen, shown.bytes) = (true, bytes)
      let count = TextFormat.count(files, "file")
      // Short enough for 40 columns: a line that wraps could not be removed.
      Self.print("\r\(count), \(TextFormat.size(UInt64(bytes))) downloaded\u{1b}[K")
    }
  }

  /// Removes the line, so that other text can be printed.
  func clear() {
    shown.withLock { shown in
      if shown.isOnScreen { Self.print("\r\u{1b}[K") }
      shown.isOnScreen = false
    }
  }
}
