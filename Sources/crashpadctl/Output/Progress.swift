// SPDX-License-Identifier: Apache-2.0
import CrashpadText
import Synchronization

/// A progress line on the terminal. Prints nothing elsewhere.
final class Progress {
  private let total: Int
  private let isShown: Bool
  private var done = 0
  private var isOnScreen = false
  private var lastShown = 0

  init(total: Int, isShown: Bool) {
    self.total = total
    self.isShown = isShown && total > 1 && Terminal.isErrorTerminal
  }

  func advance() {
    done += 1
    // A hundred steps are enough to show progress.
    guard isShown, done - lastShown >= max(1, total / 100) else { return }
    lastShown = done
    isOnScreen = true
    // A longer line about downloads may be there.
    Terminal.errorPart("\r\(done) of \(total) (\(100 * done / total) %)\u{1b}[K")
  }

  /// Removes the line, so that other text can be printed.
  func clear() {
    guard isOnScreen else { return }
    isOnScreen = false
    Terminal.errorPart("\r\u{1b}[K")
  }
}

/// The same for the bytes of one large output.
final class ByteProgress: Sendable {
  /// Smaller outputs are written almost instantly.
  private static let threshold = 256 << 20

  /// The number of bytes shown last; nil if nothing is on the screen.
  private let shown = Mutex<Int?>(nil)

  /// Nil if no progress is to be shown.
  init?(isShown: Bool) {
    guard isShown, Terminal.isErrorTerminal else { return nil }
  }

  func show(_ done: Int, of total: Int) {
    guard total >= Self.threshold else { return }
    shown.withLock { last in
      guard done - (last ?? 0) >= total / 100 else { return }
      last = done
      let all = TextFormat.size(UInt64(total))
      Terminal.errorPart("\r\(TextFormat.size(UInt64(done))) of \(all) (\(100 * done / total) %)\u{1b}[K")
    }
  }

  /// Removes the line, so that other text can be printed.
  func clear() {
    shown.withLock { last in
      if last != nil { Terminal.errorPart("\r\u{1b}[K") }
      last = nil
    }
  }
}
