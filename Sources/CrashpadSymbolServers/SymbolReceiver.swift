// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSymbolication
package import CrashpadUpload

/// A server that takes symbol files.
package struct SymbolReceiver: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    /// Mozilla's symbol server, and others with its `/upload/`.
    case tecken
    /// Sentry's debug files; the address ends with the names of organization and project.
    case sentry
  }

  package let kind: Kind
  package let address: WebAddress

  package init(_ kind: Kind, _ address: WebAddress) { (self.kind, self.address) = (kind, address) }

  /// The address for messages and for the record, without what may be a secret.
  package var name: String { address.publicText }

  /// Whether the address has what the kind needs.
  package var isWhole: Bool { kind == .tecken || project != nil }

  /// The last two components of the address's path, and those before.
  private var project: (before: [String], organization: String, name: String)? {
    let parts = address.path.split(separator: "/").map(String.init)
    guard parts.count >= 2 else { return nil }
    return (Array(parts.dropLast(2)), parts[parts.count - 2], parts[parts.count - 1])
  }

  /// The address of requests that send files.
  ///
  /// Tecken: "Upload: Symbols Upload", docs/upload.rst. Sentry: docs.sentry.io, "Upload a New File".
  var target: WebAddress {
    switch kind {
    case .tecken: address.appending(["upload", ""])
    case .sentry: files
    }
  }

  private var files: WebAddress { projectFiles("dsyms") }

  private func projectFiles(_ components: String...) -> WebAddress {
    let project = project ?? ([], "", "")
    let path = project.before + ["api", "0", "projects", project.organization, project.name, "files"]
    return address.withPath(path + components + [""])
  }

  /// The address that says how Sentry takes files in parts, and takes them.
  var parts: WebAddress {
    let project = project ?? ([], "", "")
    return address.withPath(project.before + ["api", "0", "organizations", project.organization, "chunk-upload", ""])
  }

  /// The address that has Sentry make files of their parts.
  var assembly: WebAddress { projectFiles("difs", "assemble") }

  /// The address that shows whether the server has a file.
  func address(of place: String, _ id: DebugID?) -> WebAddress {
    switch kind {
    case .tecken: address.appending(place.split(separator: "/").map(String.init))
    case .sentry: files.adding("debug_id", Array((id?.uuid.text ?? "").utf8))
    }
  }

  /// The header field with a token; nil if a header can't have it.
  func field(_ token: String) -> HTTPHeader? {
    switch kind {
    case .tecken: HTTPHeader(name: "Auth-Token", value: token)
    case .sentry: HTTPHeader(name: "Authorization", value: "Bearer \(token)")
    }
  }
}
