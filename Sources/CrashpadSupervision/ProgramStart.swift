// SPDX-License-Identifier: Apache-2.0
internal import CCrashpadLinux
internal import Glibc
package import SystemPackage

/// The start of a program as a child.
package struct ProgramStart: Sendable {
  /// As the program receives them, its own name first; without NULs.
  package var arguments: [[UInt8]]
  /// Each in the form `NAME=VALUE`.
  package var environment: [[UInt8]]
  /// The paths at which the program may be.
  package var candidates: ProgramSearch.Candidates
  /// Standard streams that this tool opened because they were closed; they are closed again for the program.
  package var closedStreams: [Int32] = []
  /// Signals whose action this tool changed.
  package var changedSignals: [Int32] = []
  /// The changed signals that the program has to ignore, because this tool was started with them ignored.
  package var ignoredSignals: [Int32] = []
  /// Another standard output; nil for this tool's own.
  package var standardOutput: FileDescriptor?
  /// Another standard error; nil for this tool's own.
  package var standardError: FileDescriptor?

  package init(_ arguments: [[UInt8]], environment: [[UInt8]], candidates: ProgramSearch.Candidates) {
    self.arguments = arguments
    self.environment = environment
    self.candidates = candidates
  }

  /// The tool's own environment.
  package static var ownEnvironment: [[UInt8]] {
    var result: [[UInt8]] = []
    var next = unsafe environ
    while let variable = unsafe next.pointee {
      result.append(unsafe UnsafeBufferPointer(start: variable, count: strlen(variable)).map { UInt8(bitPattern: $0) })
      unsafe next += 1
    }
    return result
  }

  /// Starts the program, with `mask` as its blocked signals. Returns the process id.
  func start(mask: sigset_t) throws(Errno) -> pid_t {
    let paths = CStrings(candidates.paths)
    let arguments = CStrings(arguments)
    let shell = CStrings([Array("/bin/sh".utf8), []] + self.arguments.dropFirst())
    let environment = CStrings(environment)
    defer { for list in [paths, arguments, shell, environment] { list.free() } }
    var program = unsafe linux_program(
      paths: paths.start, arguments: arguments.start, shell_arguments: shell.start, environment: environment.start,
      mask: mask, changed: signalSet(changedSignals), ignored: signalSet(ignoredSignals),
      closed: closedStreams.reduce(0) { $0 | 1 << UInt32($1) }, standard_output: standardOutput?.rawValue ?? -1,
      standard_error: standardError?.rawValue ?? -1)
    var failure: Int32 = 0
    let child = unsafe linux_start(&program, &failure)
    guard child > 0 else { throw Errno(rawValue: failure) }
    return child
  }
}

/// Texts for C, in an array that ends with NULL.
@safe
private struct CStrings {
  let start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ texts: [[UInt8]]) {
    count = texts.count
    unsafe start = .allocate(capacity: count + 1)
    for (index, text) in texts.enumerated() { unsafe start[index] = strdup(text.map { CChar(bitPattern: $0) } + [0]) }
    unsafe start[count] = nil
  }

  func free() {
    for index in 0..<count { unsafe Glibc.free(start[index]) }
    unsafe start.deallocate()
  }
}

func signalSet(_ signals: [Int32]) -> sigset_t {
  var set = sigset_t()
  unsafe sigemptyset(&set)
  for signal in signals { unsafe sigaddset(&set, signal) }
  return set
}
