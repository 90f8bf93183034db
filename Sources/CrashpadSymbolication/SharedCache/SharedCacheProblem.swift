// SPDX-License-Identifier: Apache-2.0
package import CrashpadSnapshot
package import SystemPackage

/// A file of a shared cache that can't be used, so that names are missing.
package struct SharedCacheProblem: Sendable {
  package enum Kind: Sendable {
    case missing
    case unreadable(any Error)
    /// It is of another cache.
    case other(expected: UUIDBytes, found: UUIDBytes?)
    /// A part of it can't be read.
    case damaged(String)
  }

  package let path: FilePath
  package let kind: Kind

  /// Whether a whole file can't be used.
  var isOfFile: Bool {
    switch kind {
    case .missing, .unreadable, .other: true
    case .damaged: false
    }
  }
}

/// The place of the local symbols of a shared cache.
package enum SharedCacheLocalState: String, Sendable {
  /// The cache has none.
  case none
  case found
  /// They are in a file that can't be used.
  case missing
}
