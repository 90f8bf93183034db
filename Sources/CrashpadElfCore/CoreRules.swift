package import CrashpadBytes

/// The rules of ELF core files. Codes are stable; crashpadctl-validate(1) has a section for each.
package enum CoreRules {
  package static let tooShort = Rule("core-too-short", .error, "The file is too short for an ELF header")
  package static let badSignature = Rule("core-signature", .error, "The file does not begin with 0x7f, E, L, F")
  package static let notACore = Rule(
    "core-not-a-core", .error, "An ELF file that is no core: a program, a library or an object file")
  package static let unsupportedClass = Rule(
    "core-class", .error, "Only ELF files of 64 bits and little endian are read")
  package static let unsupportedMachine = Rule(
    "core-machine", .error, "A core of a processor that is neither x86-64 nor AArch64")
  package static let headersOutside = Rule(
    "core-headers-outside", .error, "The program headers lie outside of the file")
  package static let truncated = Rule("core-truncated", .error, "The file ends before the memory that it describes")
  package static let sharedBytes = Rule(
    "core-shared-bytes", .error, "Segments say more bytes than the file has; the rest is left out")
  package static let overlappingSegments = Rule(
    "core-overlapping-segments", .warning, "Two segments have the same addresses; the first counts")
  package static let noNotes = Rule("core-no-notes", .error, "There are no notes: neither threads nor registers")
  package static let noteOutside = Rule("core-note-outside", .error, "A note reaches beyond the end of its segment")
  package static let noteTooShort = Rule("core-note-too-short", .error, "A note is too short for what it must hold")
  package static let strayNote = Rule(
    "core-stray-note", .warning, "A note with registers stands before the thread that they belong to")
  package static let noFileNote = Rule(
    "core-no-file-note", .warning, "There is no note with the mapped files: modules are not known")
  package static let fileCount = Rule(
    "core-file-count", .error, "The note with the mapped files says more files than fit into it")
  package static let tooManyEntries = Rule(
    "core-too-many-entries", .error, "More entries than the size of the file allows; the rest is left out")

  package static let all = [
    tooShort, badSignature, notACore, unsupportedClass, unsupportedMachine, headersOutside, truncated, sharedBytes,
    overlappingSegments, noNotes, noteOutside, noteTooShort, strayNote, noFileNote, fileCount, tooManyEntries,
  ]
}
