// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes

/// The rules for the meaning of a dump. Codes are stable; crashpadctl-validate(1) has a section for each.
package enum InterpretationRules {
  // These reject the dump; Crashpad creates no report from such a dump either.
  package static let emptyDump = Rule("empty-dump", .error, "The dump has no records")
  package static let noVersion = Rule("no-version", .error, "kVersion is missing, or is not one byte with the value 1")
  package static let noProcessInfo = Rule("no-process-info", .error, "The kProcessInfo map is missing")
  package static let noSystemInfo = Rule("no-system-info", .error, "The kSystemInfo map is missing")
  package static let exceptionWithoutThread = Rule(
    "exception-without-thread", .error, "The exception has no kThreadID of eight bytes")
  package static let unknownArchitecture = Rule(
    "unknown-architecture", .error, "Too few threads have registers to tell arm64 from x86_64")

  package static let guessedArchitecture = Rule(
    "guessed-architecture", .warning, "Too few threads have registers to tell the architecture; it was guessed")
  package static let mixedArchitecture = Rule(
    "mixed-architecture", .warning, "Threads have states of both architectures; the more frequent one is used")
  package static let tooManyEntries = Rule(
    "too-many-entries", .error, "The dump claims more threads or modules than its size allows; the rest is left out")
  package static let severalExceptions = Rule(
    "several-exceptions", .warning, "The dump has several exceptions; a signal comes first, then Mach, then NSException"
  )
  package static let tooManyCodes = Rule(
    "too-many-codes", .warning, "The exception has more codes than a minidump can hold; the last ones are left out")
  package static let badCodes = Rule(
    "bad-codes", .warning, "kCodes is empty or no whole number of 8-byte codes; ignored")
  package static let unknownFlavor = Rule(
    "unknown-flavor", .warning, "kFlavor is no state of this architecture; the thread's own registers are used")
  package static let stateSize = Rule(
    "state-size", .warning, "kState does not have the size of its flavor; filled with zeros or cut")
  package static let noRegisters = Rule(
    "no-registers", .warning, "A thread has no usable registers; they read as zero")
  package static let stackWithoutAddress = Rule(
    "stack-without-address", .warning, "A stack has no address; address 0 is written")
  package static let stackAndFrames = Rule(
    "stack-and-frames", .warning, "A thread has both a stack and exception frames; the stack is used")
  package static let badAnnotation = Rule(
    "bad-annotation", .warning, "The name, type or value of a typed annotation is not allowed; it is left out")

  // For Linux processes
  package static let captureIncomplete = Rule(
    "capture-incomplete", .note, "The handler could not capture everything")
  package static let threadNotStopped = Rule(
    "thread-not-stopped", .note, "A thread could not be stopped, so its registers are unknown")
  package static let partialRegisters = Rule(
    "partial-registers", .note, "Only the stack pointer and the instruction pointer of a thread are known")

  package static let all = [
    emptyDump, noVersion, noProcessInfo, noSystemInfo, exceptionWithoutThread, unknownArchitecture, guessedArchitecture,
    mixedArchitecture, tooManyEntries, severalExceptions, tooManyCodes, badCodes, unknownFlavor,
    stateSize, noRegisters, stackWithoutAddress, stackAndFrames, badAnnotation,
    captureIncomplete, threadNotStopped, partialRegisters,
  ]
}
