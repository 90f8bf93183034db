public import BinaryFormat

/// The rules of what a dump means. Codes are stable; crashpadctl-validate(1) has a section for each.
public enum InterpretationRules {
  // These reject the dump: Crashpad makes no report of it either.
  public static let emptyDump = Rule("empty-dump", .error, "The dump has no records")
  public static let noVersion = Rule("no-version", .error, "There is no kVersion of one byte with the value 1")
  public static let noProcessInfo = Rule("no-process-info", .error, "There is no kProcessInfo map")
  public static let noSystemInfo = Rule("no-system-info", .error, "There is no kSystemInfo map")
  public static let exceptionWithoutThread = Rule(
    "exception-without-thread", .error, "The exception has no kThreadID of eight bytes")
  public static let unknownArchitecture = Rule(
    "unknown-architecture", .error, "Too few threads have registers to tell arm64 from x86_64")

  public static let guessedArchitecture = Rule(
    "guessed-architecture", .warning, "Too few threads have registers to tell the architecture; it was guessed")
  public static let mixedArchitecture = Rule(
    "mixed-architecture", .warning, "Thread states of both architectures; the one with more of them counts")
  public static let tooManyEntries = Rule(
    "too-many-entries", .error, "More threads or modules than the size of the file allows; the rest is left out")
  public static let severalExceptions = Rule(
    "several-exceptions", .warning, "More than one exception; a signal counts first, then Mach, then NSException")
  public static let exceptionThreadMissing = Rule(
    "exception-thread-missing", .warning, "The thread of the exception is not in the list of threads")
  public static let tooManyCodes = Rule(
    "too-many-codes", .warning, "More than 14 exception codes; a minidump has no room for the rest")
  public static let badCodes = Rule("bad-codes", .warning, "kCodes is empty or no whole number of 8-byte codes; ignored")
  public static let unknownFlavor = Rule(
    "unknown-flavor", .warning, "kFlavor is no state of this architecture; the thread's own registers are used")
  public static let stateSize = Rule(
    "state-size", .warning, "kState does not have the size of its flavor; filled with zeros or cut")
  public static let noRegisters = Rule("no-registers", .warning, "A thread without usable registers; they read as zero")
  public static let stackWithoutAddress = Rule(
    "stack-without-address", .warning, "A stack without an address; address 0 is written")
  public static let stackAndFrames = Rule(
    "stack-and-frames", .warning, "A thread with a stack and with exception frames; its own stack is used")
  public static let badAnnotation = Rule(
    "bad-annotation", .warning, "A typed annotation whose name, type or value is not allowed; left out")

  // What a whole dump should hold up to.
  public static let duplicateThread = Rule("duplicate-thread", .warning, "Two threads have the same id")
  public static let threadIDCollision = Rule(
    "thread-id-collision", .note, "Thread ids differ only above 32 bits; a minidump numbers the threads anew")
  public static let stackPointerOutside = Rule(
    "stack-pointer-outside", .note, "The stack pointer lies outside of the captured stack")
  public static let overlappingStacks = Rule("overlapping-stacks", .warning, "The stacks of two threads overlap")
  public static let overlappingModules = Rule("overlapping-modules", .warning, "Two modules overlap in memory")
  public static let memoryWraps = Rule("memory-wraps", .warning, "A memory region reaches beyond the end of memory")
  public static let moduleWithoutName = Rule("module-without-name", .warning, "A module without a name")
  public static let moduleWithoutUUID = Rule("module-without-uuid", .note, "A module without a UUID finds no symbols")
  public static let noThreads = Rule("no-threads", .warning, "There are no threads")
  public static let noModules = Rule("no-modules", .warning, "There are no modules")
  public static let noException = Rule("no-exception", .note, "There is no exception: a dump without a crash")
  public static let timeOrder = Rule("time-order", .warning, "The process started after it was captured")

  public static let all = [
    emptyDump, noVersion, noProcessInfo, noSystemInfo, exceptionWithoutThread, unknownArchitecture, guessedArchitecture,
    mixedArchitecture, tooManyEntries, severalExceptions, exceptionThreadMissing, tooManyCodes, badCodes, unknownFlavor,
    stateSize, noRegisters, stackWithoutAddress, stackAndFrames, badAnnotation, duplicateThread, threadIDCollision,
    stackPointerOutside, overlappingStacks, overlappingModules, memoryWraps, moduleWithoutName, moduleWithoutUUID,
    noThreads, noModules, noException, timeOrder,
  ]
}
