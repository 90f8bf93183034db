// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `make soak` sets `CRASHPADCTL_SOAK`: tests whose cases take minutes together then take all of them instead of some.
public enum Soak {
  public static let isOn = ProcessInfo.processInfo.environment["CRASHPADCTL_SOAK"] != nil

  /// How often something is repeated: `all` times under `make soak`.
  public static func times(_ all: Int, or few: Int) -> Int { isOn ? all : few }

  /// Every case under `make soak`, otherwise the first and each that is `step` behind it.
  public static func every<Case>(_ step: Int, of cases: [Case]) -> [Case] {
    isOn ? cases : stride(from: 0, to: cases.count, by: step).map { cases[$0] }
  }
}
