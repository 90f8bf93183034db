public import CrashDatabase
public import FileSystem

/// Why something could not be uploaded at all.
public enum UploadFailure: Error, Sendable, Equatable {
  /// libcurl is not installed, with the names that were tried and what the loader said of the first.
  case noLibrary(names: [String], reason: String)
  /// The settings do not say whether uploads are allowed. Nothing was sent or moved.
  case settings(SettingsFailure)
}

/// Why the settings do not say whether uploads are allowed.
public enum SettingsFailure: Error, Sendable, Equatable {
  /// There is no file, or it is empty.
  case missing
  case damaged(DatabaseSettings.Damage)
  /// They can't be read, or the time of an attempt can't be written into them.
  case unreadable(FileFailure)
}
