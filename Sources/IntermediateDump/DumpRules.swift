// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// The rules of the wire format. Codes are stable; crashpadctl-validate(1) has a section for each.
package enum DumpRules {
  // Framing: Crashpad's reader stops here, keeps the records before, and marks the dump as incomplete.
  package static let emptyFile = Rule(
    "empty-file", .error, "The file is empty: nothing of a crash was written into it")
  package static let badStart = Rule("bad-start", .error, "The first byte is not a root map start (0x06)")
  package static let badCommand = Rule("bad-command", .error, "A record begins with an unknown command")
  package static let noRootEnd = Rule("no-root-end", .error, "The file ends before the root map does")
  package static let truncatedKey = Rule("truncated-key", .error, "The file ends within a key")
  package static let truncatedLength = Rule("truncated-length", .error, "The file ends within the length of a property")
  package static let truncatedValue = Rule("truncated-value", .error, "The file ends within the value of a property")
  package static let trailingBytes = Rule("trailing-bytes", .error, "The file has bytes after the end of the root map")

  // Nesting
  package static let secondRoot = Rule("second-root", .error, "A root map starts inside the root map")
  package static let rootEndNested = Rule("root-end-nested", .error, "The root map ends while maps or arrays are open")
  package static let recordInArray = Rule("record-in-array", .error, "An array holds something other than a map")
  package static let wrongEnd = Rule("wrong-end", .error, "A map ends as an array, or an array as a map")
  package static let endAtRoot = Rule("end-at-root", .error, "A map or array ends where none is open")

  // Limits
  package static let zeroKey = Rule("zero-key", .error, "A record has the key 0, which is not a key")
  package static let valueTooLong = Rule("value-too-long", .error, "A property claims more than 64 MiB")
  package static let tooDeep = Rule(
    "too-deep", .error, "Maps and arrays are nested more than nine levels deep below the root")

  // Keys and values: Crashpad's reader continues, and treats an unusable value as missing.
  package static let unknownKey = Rule("unknown-key", .warning, "The format has no such key; readers skip it")
  package static let misplacedKey = Rule(
    "misplaced-key", .warning, "The key does not belong in this map; readers skip it")
  package static let wrongKind = Rule(
    "wrong-kind", .error, "A record is not of its key's kind: map, array or property")
  package static let wrongSize = Rule("wrong-size", .error, "The value does not have the size that its key requires")
  package static let duplicateKey = Rule(
    "duplicate-key", .warning, "A map has the same key twice; the last one is used")
  package static let missingRequired = Rule(
    "missing-required", .error, "A key that a minidump requires is missing")
  package static let missingExpected = Rule(
    "missing-expected", .note, "A key that the handler always writes is missing")
  package static let badVersion = Rule("bad-version", .error, "The format version is not 1")
  package static let badBoolean = Rule("bad-boolean", .warning, "A boolean is neither 0 nor 1")

  package static let all = [
    emptyFile, badStart, badCommand, noRootEnd, truncatedKey, truncatedLength, truncatedValue, trailingBytes,
    secondRoot,
    rootEndNested, recordInArray, wrongEnd, endAtRoot, zeroKey, valueTooLong, tooDeep, unknownKey, misplacedKey,
    wrongKind,
    wrongSize, duplicateKey, missingRequired, missingExpected, badVersion, badBoolean,
  ]
}
