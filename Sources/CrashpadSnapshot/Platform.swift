// SPDX-License-Identifier: Apache-2.0
/// The platform of Apple's that the code of a process was built for and ran on.
///
/// It says more than the number of a system in a minidump, which knows iOS and macOS alone. A fact that nothing in the
/// input states or shows is nil, and never that of an iPhone.
public struct Platform: Sendable, Hashable {
  /// The platforms by the names that Apple gives them today.
  public enum Name: String, Sendable, CaseIterable {
    case iOS
    case iPadOS
    case macOS
    case watchOS
    case tvOS
    case visionOS
    case bridgeOS
    case audioOS
    case macCatalyst = "Mac Catalyst"
    case driverKit = "DriverKit"
  }

  /// The platform; nil if only the Simulator is known.
  public var name: Name?
  /// Whether the process ran in the Simulator, on a Mac.
  public var isSimulator: Bool
  /// The version of the simulated system, such as "18.5", if the system of the report is that of the Mac.
  public var simulatedVersion: String?
  /// Whether the platform was concluded, as from the model, and not stated.
  public var isInferred: Bool

  package init(_ name: Name?, isSimulator: Bool = false, isInferred: Bool = false) {
    self.name = name
    self.isSimulator = isSimulator
    self.isInferred = isInferred
  }

  /// Whether the process ran on a Mac.
  package var isOnMac: Bool { isSimulator || [.macOS, .macCatalyst, .driverKit].contains(name) }
}

extension Platform {
  /// The numbers of LC_BUILD_VERSION, which the first line of an `.ips` has. Source: Apple, `mach-o/loader.h`.
  private static let numbers: [(number: UInt64, name: Name, isSimulator: Bool)] = [
    (1, .macOS, false), (2, .iOS, false), (3, .tvOS, false), (4, .watchOS, false), (5, .bridgeOS, false),
    (6, .macCatalyst, false), (7, .iOS, true), (8, .tvOS, true), (9, .watchOS, true), (10, .driverKit, false),
    (11, .visionOS, false), (12, .visionOS, true),
  ]

  /// Nil if no platform has the number.
  package init?(number: UInt64) {
    guard let row = Self.numbers.first(where: { $0.number == number }) else { return nil }
    self.init(row.name, isSimulator: row.isSimulator)
  }

  /// Nil for a platform that has no number of its own.
  package var number: UInt64? {
    let name = name == .iPadOS ? .iOS : name
    return Self.numbers.first { $0.name == name && $0.isSimulator == isSimulator }?.number
  }

  /// Such as "iOS 18.5 Simulator", "Mac Catalyst" or "iOS"; nil if it has no name.
  package var text: String? {
    let parts = [name?.rawValue, simulatedVersion, isSimulator ? "Simulator" : nil].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}
