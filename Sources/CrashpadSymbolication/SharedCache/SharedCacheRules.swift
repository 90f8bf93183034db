// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
internal import CrashpadSnapshot
internal import SystemPackage

/// Rules of dyld shared caches. A part that violates one does not affect the others.
package enum SharedCacheRules {
  package static let missing = Rule(
    "missing-cache-part", .warning, "A file of a dyld shared cache is not there; the names that it has are missing")
  package static let other = Rule(
    "other-cache-part", .warning, "A file beside a dyld shared cache is of another cache, and is not used")
  package static let damaged = Rule(
    "bad-shared-cache", .warning, "A part of a dyld shared cache can't be read; it is left out")

  package static let all = [missing, other, damaged]
}

extension SharedCacheProblem {
  /// The finding about the file at `path`, or about the whole cache with the name of that file.
  package func finding(named isNamed: Bool = false) -> Finding {
    let name = isNamed ? path.lastComponent?.string ?? "" : ""
    switch kind {
    case .missing: return Finding(SharedCacheRules.missing, path: name)
    case .unreadable(let error): return Finding(SharedCacheRules.missing, path: name, found: .text("\(error)"))
    case .other(let expected, let found):
      return Finding(
        SharedCacheRules.other, path: name, expected: .text(expected.text), found: found.map { .text($0.text) })
    case .damaged(let part): return Finding(SharedCacheRules.damaged, path: name, found: .text(part))
    }
  }
}
