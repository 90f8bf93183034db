/// Why something could not be uploaded at all.
public enum UploadFailure: Error, Sendable, Hashable {
  /// libcurl is not installed, with the names that were tried and what the loader said of the first.
  case noLibrary(names: [String], reason: String)
}
