public import BinaryFormat

/// The rules of ELF core files. Codes are stable; crashpadctl-validate(1) has a section for each.
public enum CoreRules {
  public static let tooShort = Rule("core-too-short", .error, "The file is too short for an ELF header")
  public static let badSignature = Rule("core-signature", .error, "The file does not begin with 0x7f, E, L, F")
  public static let notACore = Rule(
    "core-not-a-core", .error, "An ELF file that is no core: a program, a library or an object file")
  public static let unsupportedClass = Rule(
    "core-class", .error, "Only ELF files of 64 bits and little endian are read")
  public static let unsupportedMachine = Rule(
    "core-machine", .error, "A core of a processor that is neither x86-64 nor AArch64")
  public static let headersOutside = Rule(
    "core-headers-outside", .error, "The program headers lie outside of the file")
  public static let truncated = Rule("core-truncated", .error, "The file ends before the memory that it describes")
  public static let sharedBytes = Rule(
    "core-shared-bytes", .error, "Segments say more bytes than the file has; the rest is left out")
  public static let overlappingSegments = Rule(
    "core-overlapping-segments", .warning, "Two segments have the same addresses; the first counts")
  public static let noNotes = Rule("core-no-notes", .error, "There are no notes: neither threads nor registers")
  public static let noteOutside = Rule("core-note-outside", .error, "A note reaches beyond the end of its segment")
  public static let noteTooShort = Rule("core-note-too-short", .error, "A note is too short for what it must hold")
  public static let strayNote = Rule(
    "core-stray-note", .warning, "A note with registers stands before the thread that they belong to")
  public static let noFileNote = Rule(
    "core-no-file-note", .warning, "There is no note with the mapped files: modules are not known")
  public static let fileCount = Rule(
    "core-file-count", .error, "The note with the mapped files says more files than fit into it")
  public static let tooManyEntries = Rule(
    "core-too-many-entries", .error, "More entries than the size of the file allows; the rest is left out")

  public static let all = [
    tooShort, badSignature, notACore, unsupportedClass, unsupportedMachine, headersOutside, truncated, sharedBytes,
    overlappingSegments, noNotes, noteOutside, noteTooShort, strayNote, noFileNote, fileCount, tooManyEntries,
  ]
}
