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
  package init(_ text: String) throws(WebAddressFailure) {
    for layout in Layout.allCases where text.hasPrefix("\(layout.rawValue)+") {
      self.init(layout, try WebAddress(String(text.dropFirst(layout.rawValue.count + 1))))
      return
    }
    self.init(.breakpad, try WebAddress(text))
  }

  /// The address for messages, without what may be a secret.
  package var name: String { address?.publicText ?? "the cache" }
}
