// SPDX-License-Identifier: Apache-2.0
public import CrashpadDatabase
public import CrashpadFiles

/// Why an upload run could not start.
public enum UploadFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// libcurl is not installed. `names` are the library names that were tried, `reason` is
  /// the loader's error for the first.
  case noLibrary(names: [String], reason: String)
  /// The settings do not state whether uploads are allowed. Nothing was sent or moved.
  case settings(SettingsFailure)
  /// The proxy in the options is no address of one.
  case badProxy
  /// A header field in the options describes the body, as only the request itself can: the name of the field.
  case badHeader(name: String)
  /// A file or directory of the database can't be used.
  case database(FileFailure)

  /// The errors of a run, as one type.
  init(_ error: any Error) {
    switch error {
    case let failure as UploadFailure: self = failure
    case let failure as FileFailure: self = .database(failure)
    default: preconditionFailure("an upload run throws \(error)")
    }
  }

  /// The failure of a file, or this failure.
  package var cause: any Error { if case .database(let failure) = self { failure } else { self } }

  public var description: String {
    switch self {
    case .noLibrary(let names, let reason): "\(names.first ?? "libcurl") can't be loaded, which uploads need: \(reason)"
    case .settings(let failure): "\(failure)"
    case .badProxy: "the proxy is no address of one"
    case .badHeader(let name): "the header field \(name) describes the body, which each request does itself"
    case .database(let failure): "\(failure)"
    }
  }
}

/// Why the settings do not state whether uploads are allowed.
public enum SettingsFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file does not exist, or is empty.
  case missing
  case damaged(DatabaseSettings.Damage)
  /// The settings can't be read, or the time of an attempt can't be written into them.
  case unreadable(FileFailure)

  public var description: String {
    switch self {
    case .missing: "the database has no settings, which would say whether uploads are allowed"
    case .damaged(let damage): "the database's settings are damaged: \(damage)"
    case .unreadable(let failure): "\(failure)"
    }
  }
}
