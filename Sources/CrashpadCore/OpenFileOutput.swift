public import BinaryFormat
public import FileSystem

/// An open file as a place for bytes.
public final class OpenFileOutput: ByteOutput {
  private let file: OpenFile

  public init(_ file: OpenFile) { self.file = file }

  /// Throws `FileFailure`.
  public func write(_ bytes: RawSpan) throws { try file.write(bytes) }
}
