public import CrashpadFiles

/// The reason why an input is no dump or report that can be read, or can't be converted.
public enum DumpInputFailure: Error, Sendable {
  /// The content can't be read; the compression is e.g. "zstd", or "zip" for an archive's member.
  case compressed(String, DecompressionFailure)
  /// An archive has more than one dump or report: the names of those members, in the archive's order.
  case archiveOfMany([String])
  /// A path goes on below a file that is no directory, and the file has no part of this name.
  case noSuchPart(String)
  /// The first bytes say what the file is instead: "is a PNG image".
  case notADump(kind: String)
  /// An archive without a dump or report, or one that can't be looked into: "is an encrypted zip archive".
  case noDumpIn(archive: String)
  /// There is no conversion from this format to that one.
  case notConvertible(InputFormat, to: Conversion.Target)
}
