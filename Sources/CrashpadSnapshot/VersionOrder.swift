// SPDX-License-Identifier: Apache-2.0
/// The order of a program's version and build in the line "Version:" of a crash text: "1.2 (12)" or "12 (1.2)".
package enum VersionOrder: Sendable {
  case versionFirst
  case buildFirst

  /// The order in the texts of Apple's systems; nil if the system or its version is not known.
  ///
  /// Up to iOS 14, and the other systems made of it, the build was first. Since then texts are translations of JSON, in
  /// the order of the Mac's. Source: dated reports of both kinds; Apple, "Examining the fields in a crash report".
  package static func of(_ system: SystemSnapshot) -> VersionOrder? {
    guard let platform = system.platform, !platform.isInferred else {
      return system.operatingSystem == .macos ? .versionFirst : nil
    }
    if platform.isOnMac || system.operatingSystem == .macos { return .versionFirst }
    guard let name = platform.name, let major = system.osMajor else { return nil }
    switch name {
    case .iOS, .iPadOS, .tvOS, .audioOS: return major < 15 ? .buildFirst : .versionFirst
    case .watchOS: return major < 8 ? .buildFirst : .versionFirst
    case .bridgeOS: return major < 6 ? .buildFirst : .versionFirst
    case .visionOS, .macOS, .macCatalyst, .driverKit: return .versionFirst
    }
  }

  /// The order that the forms of both values show: a version has dots, a build may be one number. Nil if they have the
  /// same form.
  package static func shown(by outer: String, _ inner: String) -> VersionOrder? {
    func isNumber(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    func isDotted(_ text: String) -> Bool {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      return parts.count > 1 && parts.allSatisfy { isNumber(String($0)) }
    }
    if isDotted(outer), isNumber(inner) { return .versionFirst }
    if isNumber(outer), isDotted(inner) { return .buildFirst }
    return nil
  }
}
