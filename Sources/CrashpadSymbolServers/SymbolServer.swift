// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadUpload

/// A server with files of modules, and the layout of their paths on it.
package struct SymbolServer: Sendable, Hashable {
  package enum Layout: String, Sendable, CaseIterable {
    /// `NAME/ID/NAME.sym`, as Breakpad's tools, Tecken and minidump-stackwalk have it.
    case breakpad
    /// `ab/cdef…/debuginfo`, as symsorter makes it for symbolicator.
    case unified
    /// Microsoft's Simple Symbol Query Protocol.
    case ssqp
    /// elfutils' `buildid/ID/debuginfo`.
    case debuginfod
  }

  package let layout: Layout
  /// Nil for none: only files of this layout that the cache has are used.
  package let address: WebAddress?

  package init(_ layout: Layout, _ address: WebAddress) { (self.layout, self.address) = (layout, address) }

  private init(cacheOf layout: Layout) { (self.layout, address) = (layout, nil) }

  /// No servers, but the files of all layouts in the cache.
  package static var none: [SymbolServer] { Layout.allCases.map { SymbolServer(cacheOf: $0) } }

  /// Parses an address with the name of a layout before it, such as `debuginfod+https://example.com`. An address without one is
  /// that of a server in Breakpad's layout.
  package init(_ text: String) throws(SymbolServerFailure) {
    var (layout, address) = (Layout.breakpad, text)
    if let prefix = Self.prefix(text) {
      guard let named = Layout(rawValue: prefix) else { throw .unknownLayout }
      (layout, address) = (named, String(text.dropFirst(prefix.count + 1)))
    }
    do throws(WebAddressFailure) { self.init(layout, try WebAddress(address)) } catch { throw .address(error) }
  }

  /// The letters before a `+` in the scheme.
  private static func prefix(_ text: String) -> String? {
    let scheme = text.prefix { $0.isLetter || $0.isNumber || "+-.".contains($0) }
    guard text.dropFirst(scheme.count).hasPrefix("://"), let plus = scheme.firstIndex(of: "+") else { return nil }
    return String(scheme[..<plus])
  }

  /// The address for messages, without what may be a secret.
  package var name: String { address?.publicText ?? "the cache" }
}

/// The reason why a text is not the address of a symbol server. No message has the text, which may contain a secret.
package enum SymbolServerFailure: Error, Sendable, CustomStringConvertible {
  /// Another word than a layout is before the address.
  case unknownLayout
  case address(WebAddressFailure)

  package var description: String {
    switch self {
    case .unknownLayout:
      "the layout before + is one of \(SymbolServer.Layout.allCases.map(\.rawValue).joined(separator: ", "))"
    case .address(let failure): "\(failure)"
    }
  }
}
