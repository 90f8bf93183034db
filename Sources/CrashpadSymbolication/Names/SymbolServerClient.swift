// SPDX-License-Identifier: Apache-2.0
package import SystemPackage

/// One file that a server may have, by the id of a module.
package struct ServerRequest: Sendable, Hashable {
  /// The use of a file.
  package enum Part: Sendable, Hashable {
    /// Names and lines.
    case names
    /// The program itself, which has the rules for frames.
    case program
  }

  /// The index of the server.
  package let server: Int
  package let part: Part
  /// The components of its path on the server.
  package let path: [String]
  /// The components of its path in the cache.
  package let place: [String]

  package init(server: Int, part: Part, path: [String], place: [String]) {
    (self.server, self.part, self.path, self.place) = (server, part, path, place)
  }
}

/// The answer of a server to one request.
package struct ServerAnswer: Sendable, Hashable {
  package enum Outcome: Sendable, Hashable {
    /// The file was downloaded before, and has the module's id.
    case kept
    /// The file was downloaded, and has the module's id.
    case downloaded
    /// The server does not have the file.
    case absent
    /// The server did not have the file within the last hour, and was not asked again.
    case absentBefore
    /// The server was not asked.
    case notAsked(String)
    /// The server was asked in vain: nothing is known about the file.
    case failed(String)
    /// The server sent another file.
    case refused(String)
  }

  /// The address, without what may be a secret. Nil for a file that was kept without it.
  package let url: String?
  package let outcome: Outcome
  /// The file in the cache.
  package let path: FilePath?
  /// Whether the server gave no answer that counts, so that it may have the file. One that refuses it, as stores do with what they
  /// do not have, or that sends another file, has answered.
  package let isOpen: Bool

  package init(url: String?, outcome: Outcome, path: FilePath? = nil, isOpen: Bool = false) {
    (self.url, self.outcome, self.path, self.isOpen) = (url, outcome, path, isOpen)
  }
}

/// Servers with files of modules, and the files that they gave before. All methods are thread-safe.
package protocol SymbolServerClient: AnyObject, Sendable {
  /// The files that the servers may have of a module, in the order in which to ask.
  func requests(for identity: ModuleIdentity) -> [ServerRequest]
  /// The file that a server gave before, if it has the module's id, and its address if that is known.
  func kept(_ request: ServerRequest, _ identity: ModuleIdentity) -> (path: FilePath, url: String?)?
  /// Asks a server. A file that it returns has the module's id. Nil if there is no server for the request.
  func get(_ request: ServerRequest, _ identity: ModuleIdentity) -> ServerAnswer?
  /// Whether any server may be asked, so that a search may take long. Otherwise only files that were kept are used.
  var asks: Bool { get }
  /// Whether a server could not be asked for a file: symbols that were not found may be there.
  var hasFailed: Bool { get }
  /// Whether a server gave no answer that counts: `isOpen` of any.
  var hasOpenQuestions: Bool { get }
}
