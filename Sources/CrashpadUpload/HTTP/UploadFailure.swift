public import CrashpadDatabase
public import CrashpadFiles

/// Why an upload run could not start.
public enum UploadFailure: Error, Sendable, Equatable {
  /// libcurl is not installed. `names` are the library names that were tried, `reason` is
  /// the loader's error for the first.
  case noLibrary(names: [String], reason: String)
  /// The settings do not state whether uploads are allowed. Nothing was sent or moved.
  case settings(SettingsFailure)
}

/// Why the settings do not state whether uploads are allowed.
public enum SettingsFailure: Error, Sendable, Equatable {
  /// The file does not exist, or is empty.
  case missing
  case damaged(DatabaseSettings.Damage)
  /// The settings can't be read, or the time of an attempt can't be written into them.
  case unreadable(FileFailure)
}
