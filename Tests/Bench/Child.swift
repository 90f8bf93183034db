// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// A program to run, its output thrown away.
struct Command {
  var path: String
  var arguments: [String]
  /// Exit statuses that are no failure.
  var accepted: Set<Int32> = [0]
  /// The file that is its standard input.
  var input = "/dev/null"
  /// The destination of its standard output.
  var output = "/dev/null"
  /// Variables that it gets beside those that all get, or in their place.
  var environment: [String] = []
  /// The signal that ends it.
  var signal: Int32 = 0

  init(_ path: String, _ arguments: [String], accepting accepted: Set<Int32> = [0]) {
    self.path = path
    self.arguments = arguments
    self.accepted = accepted
  }

  /// A program of this system.
  static func find(_ name: String) -> String? {
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return folders.split(separator: ":").map { "\($0)/\(name)" }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }
}

struct BenchError: Error {
  let text: String
}

/// The resources that one run of a program used.
struct Measurement {
  let seconds: Double
  let userSeconds: Double
  let systemSeconds: Double
  /// `ru_maxrss`: mapped files count as far as they were touched. Linux starts it at what the process that
  /// started this one has, so this program makes its inputs in children and stays small itself.
  let peakBytes: Int
}

extension Command {
  /// Runs the program to its end. Time is counted from before it is started until its status was read.
  ///
  /// Its environment is always the same, and Swift's hashes are not seeded, so that counts of instructions repeat.
  func run(errors: String) throws -> Measurement {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    // This program ignores an interrupt, to clean up behind it; what it started does not.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGINT)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

    var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    let fixed = ["PATH=/usr/bin:/bin", "LC_ALL=C", "SWIFT_DETERMINISTIC_HASHING=1", "SWIFT_BACKTRACE=enable=no"]
    let names = Set(environment.map { $0.prefix { $0 != "=" } })
    let all = fixed.filter { !names.contains($0.prefix { $0 != "=" }) } + environment
    var variables = unsafe all.map { unsafe strdup($0) } + [nil]
    defer { unsafe variables.forEach { unsafe free($0) } }

    var child: pid_t = 0
    var status: Int32 = 0
    var usage = rusage()
    let clock = ContinuousClock()
    let start = clock.now
    let failure = unsafe posix_spawn(&child, path, &actions, &attributes, &words, &variables)
    guard failure == 0 else { throw BenchError(text: "cannot run \(path): error \(failure)") }
    while unsafe wait4(child, &status, 0, &usage) < 0 {
      guard errno == EINTR else { throw BenchError(text: "cannot wait for \(path)") }
    }
    let elapsed = clock.now - start
    try check(status, errors)
    return Measurement(
      seconds: elapsed / .seconds(1),
      userSeconds: Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6,
      systemSeconds: Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6,
      peakBytes: usage.ru_maxrss * 1024)
  }

  private func check(_ status: Int32, _ errors: String) throws {
    let signal = status & 0x7f
    if signal != 0, signal == self.signal { return }
    if signal == 0, self.signal == 0, accepted.contains(status >> 8 & 0xff) { return }
    let how = signal == 0 ? "ended with status \(status >> 8 & 0xff)" : "was ended by signal \(signal)"
    let said =
      FileManager.default.contents(atPath: errors).map { String(decoding: $0.suffix(1000), as: UTF8.self) } ?? ""
    throw BenchError(text: "\(([path] + arguments).joined(separator: " ")) \(how)\n\(said)")
  }
}
