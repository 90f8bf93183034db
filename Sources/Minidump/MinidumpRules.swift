public import BinaryFormat

/// The rules of the minidump format. Codes are stable; crashpadctl-validate(1) has a section for each.
public enum MinidumpRules {
  public static let tooShort = Rule("minidump-too-short", .error, "The file is too short for a minidump's header")
  public static let badSignature = Rule("minidump-signature", .error, "The file does not begin with MDMP")
  public static let badVersion = Rule("minidump-version", .warning, "The header's version is not 0xa793")
  public static let directoryOutside = Rule(
    "directory-outside", .error, "The stream directory lies outside of the file")
  public static let streamOutside = Rule("stream-outside", .error, "A stream lies outside of the file")
  public static let streamTooShort = Rule("stream-too-short", .error, "A stream is too short for what it must hold")
  public static let duplicateStream = Rule(
    "duplicate-stream", .warning, "Two streams have the same type; the first counts")
  public static let overlappingStreams = Rule("overlapping-streams", .warning, "Two streams overlap in the file")
  public static let missingStream = Rule("missing-stream", .warning, "A stream is missing that readers need")
  public static let misaligned = Rule("misaligned", .note, "An object does not begin at a multiple of its alignment")
  public static let countTooLarge = Rule(
    "count-too-large", .error, "A list says that it has more entries than fit into it")
  public static let tooManyEntries = Rule(
    "minidump-too-many-entries", .error, "More entries than the size of the file allows; the rest is left out")
  public static let stringOutside = Rule("string-outside", .error, "A string lies outside of the file")
  public static let stringLength = Rule("string-length", .error, "The byte count of a UTF-16 string is odd")
  public static let stringEncoding = Rule("string-encoding", .warning, "A string is no well-formed UTF-16")
  public static let stringUnterminated = Rule("string-unterminated", .note, "A string has no NUL behind it")
  public static let contextOutside = Rule("context-outside", .error, "A thread's registers lie outside of the file")
  public static let unknownContext = Rule(
    "unknown-context", .warning, "A thread's registers have another size or flags than the architecture's")
  public static let memoryOutside = Rule(
    "memory-outside", .error, "The bytes of a memory range lie outside of the file")
  public static let unknownArchitecture = Rule(
    "minidump-architecture", .warning, "The processor architecture is none that is known here")
  public static let codeViewOutside = Rule("codeview-outside", .error, "A CodeView record lies outside of the file")
  public static let unknownCodeView = Rule(
    "unknown-codeview", .note, "A CodeView record of a kind that is not known here")
  public static let annotationOutside = Rule(
    "annotation-outside", .error, "A Crashpad annotation, or a list of them, lies outside of the file")
  public static let moduleIndex = Rule(
    "module-index", .error, "Crashpad's list of modules names one that the module list does not have")

  public static let all = [
    tooShort, badSignature, badVersion, directoryOutside, streamOutside, streamTooShort, duplicateStream,
    overlappingStreams, missingStream, misaligned, countTooLarge, tooManyEntries, stringOutside, stringLength,
    stringEncoding, stringUnterminated, contextOutside, unknownContext, memoryOutside, unknownArchitecture,
    codeViewOutside, unknownCodeView, annotationOutside, moduleIndex,
  ]
}
