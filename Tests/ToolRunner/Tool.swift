// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The tool under test, run as a process of its own.
public enum Tool {
  /// The result of a command.
  public struct Outcome: Sendable {
    public let output: Data
    public let errors: Data
    /// The exit status; that of a signal is 128 more than its number, as shells have it.
    public let status: Int32

    public var text: String { String(decoding: output, as: UTF8.self) }
    public var errorText: String { String(decoding: errors, as: UTF8.self) }
    public var outputLines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
  }

  /// `CRASHPADCTL`, or the product beside the test bundle.
  public static let path: String = {
    if let path = ProcessInfo.processInfo.environment["CRASHPADCTL"] { return path }
    let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../.build/debug")
    let places = [bundle, sources].map { $0.appending(path: "crashpadctl").standardizedFileURL.path }
    return places.first { FileManager.default.isExecutableFile(atPath: $0) } ?? places[0]
  }()

  /// Nothing of the caller's environment gets in: neither its language, nor the width of its terminal.
  private static func environment(_ folder: TemporaryFolder) -> [String: String] {
    [
      "PATH": "\(folder.commands):/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "HOME": "/", "TZ": "UTC",
      // Indexes of this machine's large files stay out of the caller's cache.
      "XDG_CACHE_HOME": folder.cache.path,
      "SOURCE_DATE_EPOCH": "1700000000", "LD_LIBRARY_PATH": folder.commands,
      // Swift's own report of a crash takes seconds, and may wait for ever.
      "SWIFT_BACKTRACE": "enable=no",
    ]
  }

  /// A shell command in the folder; `crashpadctl` is the tool. It is ended after `limit` seconds with status 124.
  public static func shell(_ command: String, in folder: TemporaryFolder, limit: Int = 300) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    return try run(process, in: folder, limit: limit)
  }

  public static func run(_ arguments: [String], in folder: TemporaryFolder, input: Data? = nil) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let result = try run(process, in: folder, input: input)
    PrintedDocuments.keepFile(arguments, in: folder.work)
    return result
  }

  /// Starts the tool and does not wait for it.
  public static func start(_ arguments: [String], in folder: TemporaryFolder) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    prepare(process, folder)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try startUnblocked(process)
    return process
  }

  private static func prepare(_ process: Process, _ folder: TemporaryFolder) {
    process.currentDirectoryURL = folder.work
    process.environment = environment(folder)
    process.standardInput = FileHandle.nullDevice
  }

  private static func run(
    _ process: Process, in folder: TemporaryFolder, input: Data? = nil, limit: Int? = nil
  ) throws -> Outcome {
    prepare(process, folder)
    // Files in place of pipes: a pipe would have to be emptied while the command runs.
    let output = try folder.scratchFile()
    let errors = try folder.scratchFile()
    if let input {
      let file = try folder.scratchFile()
      try input.write(to: file)
      process.standardInput = try FileHandle(forReadingFrom: file)
    }
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try startUnblocked(process)
    let timeLimit = limit.map { TimeLimit(process, seconds: $0) }
    process.waitUntilExit()
    let ownStatus = process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0)
    let status = timeLimit?.isExceeded() == true ? 124 : ownStatus
    let result = Outcome(output: try Data(contentsOf: output), errors: try Data(contentsOf: errors), status: status)
    PrintedDocuments.keep(result.output)
    return result
  }

  /// Starts a process that was set up.
  ///
  /// Threads that run tests block most signals, and processes inherit that: a shell's trap would never be called.
  public static func startUnblocked(_ process: Process) throws {
    var none = sigset_t()
    var old = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &old)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
    // A shell starts what runs in the background with SIGINT ignored, and ignored it would stay in the child.
    let interrupt = signal(SIGINT, SIG_DFL)
    defer { signal(SIGINT, interrupt) }
    try process.run()
  }
}
