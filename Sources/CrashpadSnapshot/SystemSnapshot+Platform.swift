// SPDX-License-Identifier: Apache-2.0
extension SystemSnapshot {
  /// The name of the system that the version belongs to: "watchOS", "Linux", or "macOS" for the Simulator on a Mac.
  public var name: String {
    guard operatingSystem == .ios, let name = platform?.name else { return operatingSystem.rawValue }
    return name.rawValue
  }

  /// The platform where it is another than the system's, such as "iOS 18.5 Simulator" or "Mac Catalyst" on macOS.
  package var environment: String? {
    guard let platform, platform.isSimulator || operatingSystem == .macos && platform.name != .macOS else { return nil }
    return operatingSystem == .ios && platform.isSimulator ? "Simulator" : platform.text
  }
}
