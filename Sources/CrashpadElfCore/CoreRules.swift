// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// The rules of ELF core files. Codes are stable; crashpadctl-validate(1) has a section for each.
package enum CoreRules {
  package static let tooShort = Rule("core-too-short", .error, "The file is too short for an ELF header")
  package static let badSignature = Rule("core-signature", .error, "The file does not begin with 0x7f, E, L, F")
  package static let notACore = Rule(
    "core-not-a-core", .error, "The ELF file is not a core but a program, a library or an object file")
  package static let unsupportedClass = Rule(
    "core-class", .error, "The ELF file is not little-endian; only such files are read")
  package static let unsupportedMachine = Rule(
    "core-machine", .error, "Cores of this processor are not read")
  package static let foreignSystem = Rule(
    "core-foreign-system", .error, "The core is of another system than Linux; only those of Linux are read")
  package static let headersOutside = Rule(
    "core-headers-outside", .error, "The program headers are outside the file")
  package static let truncated = Rule("core-truncated", .error, "The file ends before the memory that it describes")
  package static let sharedBytes = Rule(
    "core-shared-bytes", .error, "Segments claim more bytes than the file has; the rest is left out")
  package static let overlappingSegments = Rule(
    "core-overlapping-segments", .warning, "Two segments share addresses; the first one is used")
  package static let noNotes = Rule(
    "core-no-notes", .error, "The core has no notes, so threads and registers are unknown")
  package static let noteOutside = Rule("core-note-outside", .error, "A note reaches beyond the end of its segment")
  package static let noteTooShort = Rule("core-note-too-short", .error, "A note is too short for what it must hold")
  package static let strayNote = Rule(
    "core-stray-note", .warning, "A note with registers comes before the thread that it belongs to")
  package static let noFileNote = Rule(
    "core-no-file-note", .warning, "The core has no note of mapped files, so modules are unknown")
  package static let fileCount = Rule(
    "core-file-count", .error, "The note of mapped files claims more files than fit into it")
  package static let tooManyEntries = Rule(
    "core-too-many-entries", .error, "The file claims more entries than its size allows; the rest is left out")

  package static let all = [
    tooShort, badSignature, notACore, unsupportedClass, unsupportedMachine, foreignSystem,
    headersOutside, truncated, sharedBytes,
    overlappingSegments, noNotes, noteOutside, noteTooShort, strayNote, noFileNote, fileCount, tooManyEntries,
  ]
}
