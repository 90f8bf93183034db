// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Texts about crashes that no reader knows, so that they can be refused by their names.
package enum OtherTexts {
  /// The words that are on a line of each kind, with what the text is called.
  private static let kinds: [(words: [String], name: String)] = [
    (["*** *** *** *** *** ***", "Build fingerprint:"], "a tombstone of Android"),
    (["Traceback (most recent call last):"], "a traceback of Python"),
    (["Got a SIG", "while executing native code"], "a stack that Mono wrote"),
    (["(wrapper managed-to-native)"], "a stack of .NET"),
    (["### Stacktrace ###"], "a stack of App Center or HockeyApp"),
    (["## Stacktrace", ".m;"], "a stack of App Center or HockeyApp"),
    (["  File \"", "\", line "], "a stack of Sentry's form"),
    (["goroutine ", "[running]:"], "a traceback of Go"), (["\tat ", ".java:"], "a stack of Java"),
    (["    at ", ".java:"], "a stack of Java"), (["\tat ", ".kt:"], "a stack of Kotlin"),
    (["thread '", "panicked at"], "a message of Rust"),
  ]

  /// The name of the text; nil if its start does not say.
  package static func name(_ start: [UInt8]) -> String? {
    kinds.first { $0.words.allSatisfy { start[...].first(of: $0) != nil } }?.name
  }
}
