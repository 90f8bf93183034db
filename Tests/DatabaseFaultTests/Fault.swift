// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import ToolRunner

/// The fault in one run of the tool. `FaultInjection.h` says what each variable does.
struct Fault: Sendable {
  var variables: [(name: String, value: String)] = []

  static let none = Fault()
  static func killed(before n: Int) -> Fault { Fault(variables: [("FAULT_KILL_BEFORE", "\(n)")]) }
  /// Half of the bytes are written by a call that writes.
  static func killed(within n: Int) -> Fault { Fault(variables: [("FAULT_KILL_WITHIN", "\(n)")]) }
  static func ended(by signal: Int32, before n: Int) -> Fault {
    Fault(variables: [("FAULT_SIGNAL", "\(signal)"), ("FAULT_SIGNAL_BEFORE", "\(n)")])
  }
  static let shortWrites = Fault(variables: [("FAULT_SHORT", "1")])
  static let shortReads = Fault(variables: [("FAULT_SHORT", "1"), ("FAULT_CALLS", "look-read")])
  /// The calls that change nothing.
  static let looks = ["look-open", "look-stat", "look-read", "look-list"]

  /// Call `first` fails; if `step` is not 0, every `step`-th from there on. Only calls of these names count, if any.
  static func failing(_ error: Int32, first: Int, step: Int = 0, calls: [String] = []) -> Fault {
    var fault = Fault(variables: [("FAULT_ERRNO", "\(error)"), ("FAULT_FIRST", "\(first)"), ("FAULT_STEP", "\(step)")])
    if !calls.isEmpty { fault.variables.append(("FAULT_CALLS", calls.joined(separator: ","))) }
    return fault
  }

  /// The same, and a record of what the disk has, in this directory.
  func recordingDisk(_ name: String) -> Fault {
    var fault = self
    fault.variables.append(("FAULT_DISK", name))
    return fault
  }

  static func pausing(before n: Int, file: String) -> Fault {
    Fault(variables: [("FAULT_PAUSE_BEFORE", "\(n)"), ("FAULT_PAUSE_FILE", file)])
  }

  /// The words before a command in a shell. Paths are relative to the folder's `work`.
  func prefix(_ folder: TemporaryFolder, root: String, log: String? = nil) -> String {
    let work = folder.work.resolvingSymlinksInPath().path
    let paths = ["FAULT_PAUSE_FILE", "FAULT_DISK"]
    var all = variables.map { paths.contains($0.name) ? ($0.name, "\(work)/\($0.value)") : $0 }
    all.append(("LD_PRELOAD", PreloadedLibrary.faultInjection))
    all.append(("FAULT_SKIP_SYNC", "1"))
    all.append(("FAULT_ROOT", "\(work)/\(root)"))
    if let log { all.append(("FAULT_LOG", "\(work)/\(log)")) }
    return "env " + all.map { "\($0.0)='\($0.1)'" }.joined(separator: " ")
  }
}

/// A call that the tool made, as the library wrote it down.
struct Call: Sendable {
  let number: Int
  let name: String
  let path: String
  let newPath: String?
  let failed: Bool

  init?(_ line: Substring) {
    var words = line.split(separator: " ", maxSplits: 2)
    guard words.count == 3, let number = Int(words[0]) else { return nil }
    failed = words[2].hasSuffix(" !")
    if failed { words[2] = words[2].dropLast(2) }
    let paths = String(words[2]).components(separatedBy: " -> ")
    self.number = number
    name = String(words[1])
    path = paths[0]
    newPath = paths.count > 1 ? paths[1] : nil
  }

  var writes: Bool { ["write", "pwrite", "writev"].contains(name) }
  var waits: Bool { ["fsync", "fdatasync", "syncfs"].contains(name) }
}

/// The random numbers of these tests, and how much they do.
enum Sweep {
  private static let environment = ProcessInfo.processInfo.environment

  /// `CRASHPADCTL_SEED`, to see a failure again; else another one in each run.
  static let seed: UInt64 = {
    let seed = environment["CRASHPADCTL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
    print("database faults: CRASHPADCTL_SEED=\(seed)")
    return seed
  }()

  /// `CRASHPADCTL_SWEEP_ALL=1`: every call, in place of some.
  static let isWhole = environment["CRASHPADCTL_SWEEP_ALL"] == "1"

  /// A number from the environment.
  static func number(_ name: String, or standard: Int) -> Int { environment[name].flatMap { Int($0) } ?? standard }

  /// Some of `numbers`, or all of them.
  static func sample(_ numbers: [Int], _ count: Int, area: UInt64) -> [Int] {
    if isWhole || numbers.count <= count { return numbers }
    var random = SplitMix64(seed: seed, area: area)
    return Array(numbers.shuffled(using: &random).prefix(count)).sorted()
  }
}
