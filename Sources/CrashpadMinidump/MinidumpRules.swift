// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// The rules of the minidump format. Codes are stable; crashpadctl-validate(1) has a section for each.
package enum MinidumpRules {
  package static let tooShort = Rule("minidump-too-short", .error, "The file is too short for a minidump's header")
  package static let badSignature = Rule("minidump-signature", .error, "The file does not begin with MDMP")
  package static let badVersion = Rule("minidump-version", .warning, "The header's version is not 0xa793")
  package static let directoryOutside = Rule(
    "directory-outside", .error, "The stream directory is outside the file")
  package static let streamOutside = Rule("stream-outside", .error, "A stream is outside the file")
  package static let streamTooShort = Rule("stream-too-short", .error, "A stream is too short for what it must hold")
  package static let duplicateStream = Rule(
    "duplicate-stream", .warning, "Two streams have the same type; the first one is used")
  package static let overlappingStreams = Rule("overlapping-streams", .warning, "Two streams overlap in the file")
  package static let missingStream = Rule("missing-stream", .warning, "A stream that readers need is missing")
  package static let misaligned = Rule(
    "misaligned", .note, "The offset of an object is not a multiple of its alignment")
  package static let countTooLarge = Rule(
    "count-too-large", .error, "A list claims more entries than fit into it")
  package static let tooManyEntries = Rule(
    "minidump-too-many-entries", .error, "The file claims more entries than its size allows; the rest is left out")
  package static let stringOutside = Rule("string-outside", .error, "A string is outside the file")
  package static let stringLength = Rule("string-length", .error, "The byte count of a UTF-16 string is odd")
  package static let stringEncoding = Rule("string-encoding", .warning, "A string is not well-formed UTF-16")
  package static let stringUnterminated = Rule("string-unterminated", .note, "A string has no NUL at its end")
  package static let contextOutside = Rule("context-outside", .error, "A thread's registers are outside the file")
  package static let missingContext = Rule(
    "context-missing", .note, "The description of a thread's registers has no place in the file")
  package static let unknownContext = Rule(
    "unknown-context", .warning, "The size or flags of a thread's registers do not match the architecture")
  package static let memoryOutside = Rule(
    "memory-outside", .error, "The bytes of a memory range are outside the file")
  package static let missingMemory = Rule(
    "memory-missing", .note, "The description of a memory range has no place in the file, and no list of memory has it")
  package static let unknownArchitecture = Rule(
    "minidump-architecture", .warning, "The processor architecture is unknown")
  package static let codeViewOutside = Rule("codeview-outside", .error, "A CodeView record is outside the file")
  package static let unknownCodeView = Rule(
    "unknown-codeview", .note, "A CodeView record is of an unknown kind")
  package static let annotationOutside = Rule(
    "annotation-outside", .error, "A Crashpad annotation, or a list of them, is outside the file")
  package static let moduleIndex = Rule(
    "module-index", .error, "Crashpad's list of modules refers to one that the module list does not have")

  package static let all = [
    tooShort, badSignature, badVersion, directoryOutside, streamOutside, streamTooShort, duplicateStream,
    overlappingStreams, missingStream, misaligned, countTooLarge, tooManyEntries, stringOutside, stringLength,
    stringEncoding, stringUnterminated, contextOutside, missingContext, unknownContext, memoryOutside, missingMemory,
    unknownArchitecture,
    codeViewOutside, unknownCodeView, annotationOutside, moduleIndex,
  ]
}
