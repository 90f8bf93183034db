// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// Rules of Mach-O files. A part that violates one does not affect the others.
package enum MachORules {
  package static let badLoadCommand = Rule(
    "bad-load-command", .warning, "A load command of a Mach-O file can't be read; it is left out")
  package static let rangeOutsideFile = Rule(
    "mach-o-range", .warning, "A Mach-O file refers to bytes that it does not have; they are left out")
  package static let badSlice = Rule(
    "bad-slice", .warning, "A slice of a universal file can't be read; it is left out")
  package static let badSymbol = Rule(
    "bad-mach-o-symbol", .warning,
    "A symbol of a Mach-O file lies outside of its section or has no name; it is left out")
  package static let badFunctionStarts = Rule(
    "bad-function-starts", .warning, "The list of function starts of a Mach-O file ends early")

  package static let missingObject = Rule(
    "missing-object", .warning, "An object file with debug information was not found")
  package static let otherObject = Rule(
    "other-object", .warning, "An object file with debug information is another than the program was linked of")
  package static let unreadableObject = Rule(
    "unreadable-object", .warning, "An object file with debug information can't be read")
  package static let unverifiedObject = Rule(
    "unverified-object", .warning,
    "An object file is used, although it may be another than the program was linked of")

  package static let all = [
    badLoadCommand, rangeOutsideFile, badSlice, badSymbol, badFunctionStarts, missingObject, otherObject,
    unreadableObject, unverifiedObject,
  ]
}
