import Glibc

/// A line on the terminal that says how far a long run is. Elsewhere nothing is printed.
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
    // A hundred steps are enough to see it move.
    guard isShown, done - lastShown >= max(1, total / 100) else { return }
    lastShown = done
    isOnScreen = true
    Terminal.errorPart("\r\(done) of \(total) (\(100 * done / total) %)")
  }

  /// Takes the line away, so that another can be printed.
  func clear() {
    guard isOnScreen else { return }
    isOnScreen = false
    Terminal.errorPart("\r\u{1b}[K")
  }
}
