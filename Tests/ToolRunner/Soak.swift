// SPDX-License-Identifier: Apache-2.0
public import DumpSynth
import Foundation

/// `make soak` sets `CRASHPADCTL_SOAK`: tests whose cases take minutes together then take all of them instead of some.
public enum Soak {
  public static let isOn = ProcessInfo.processInfo.environment["CRASHPADCTL_SOAK"] != nil

  /// How often something is repeated: `all` times under `make soak`.
  public static func times(_ all: Int, or few: Int) -> Int { isOn ? all : few }

  /// `CRASHPADCTL_CHOICE`, to see a failure again; else another one in each run.
  private static let seed: UInt64 = {
    let environment = ProcessInfo.processInfo.environment
    let given = environment["CRASHPADCTL_CHOICE"] ?? environment["CRASHPADCTL_SEED"]
    let seed = given.flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    print("chosen cases: CRASHPADCTL_CHOICE=\(seed)")
    return seed
  }()

  /// Numbers that follow from the choice, others in each line of the tests.
  public static func random(_ line: Int = #line) -> SplitMix64 { SplitMix64(seed: seed, area: UInt64(line)) }

  /// Every case under `make soak`, otherwise as many as are told, others in each run. For cases that are alike.
  public static func some<Case>(_ count: Int, of cases: [Case], line: Int = #line) -> [Case] {
    if isOn || cases.count <= count { return cases }
    var random = random(line)
    return cases.indices.shuffled(using: &random).prefix(count).sorted().map { cases[$0] }
  }

  /// Every case under `make soak`, otherwise the first and each that is `step` behind it.
  public static func every<Case>(_ step: Int, of cases: [Case]) -> [Case] {
    isOn ? cases : stride(from: 0, to: cases.count, by: step).map { cases[$0] }
  }
}
