internal import CrashpadBytes
package import CrashpadFiles

/// An open file as a place for bytes.
package final class OpenFileOutput: ByteOutput {
  private let file: OpenFile

  package init(_ file: OpenFile) { self.file = file }

  /// Throws `FileFailure`.
  package func write(_ bytes: RawSpan) throws { try file.write(bytes) }
}
