// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning

/// Suggests a known name for a misspelled word.
enum Misspelling {
  /// The name of which `word` may be a misspelling.
  static func nearest(to word: String, among names: [String]) -> String? {
    let limit = max(1, word.utf8.count / 3)
    let letters = Array(word.utf8.prefix(64))
    let near = names.map { (name: $0, distance: Suggestions.distance(Array($0.utf8.prefix(64)), letters)) }.filter {
      $0.distance <= limit
    }
    return near.min { $0.distance < $1.distance }?.name
  }
}
