// SPDX-License-Identifier: Apache-2.0
/// The reason why compressed content can't be read.
public enum DecompressionFailure: Error, Equatable, Sendable {
  /// There is no decompressor for it, or its library is not installed.
  case unsupported
  /// The stream is invalid from some place on.
  case damaged
  /// The stream is incomplete.
  case cut
  /// The result is larger than `InputFile.pipeLimit` in bytes.
  case tooLarge
  /// The result is so much larger than the file that this is no real file.
  case bomb
}

extension DecompressionFailure: CustomStringConvertible {
  /// The rest of a sentence that begins with "The file is compressed and".
  public var description: String {
    switch self {
    case .unsupported: "can't be decompressed here"
    case .damaged: "damaged"
    case .cut: "ends early"
    case .tooLarge: "holds more than \(InputFile.pipeLimit) bytes"
    case .bomb: "holds more than any dump does"
    }
  }
}
