// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import CrashpadMinidump
public import CrashpadSnapshot
public import SystemPackage

/// The reason why there is no output of a conversion.
public enum ConversionFailure: Error, Sendable, CustomStringConvertible {
  /// The input can't be read, or can't be converted into this format.
  case input(DumpInputFailure)
  /// The output can't be written.
  case output(FilePath, Errno)
  /// A minidump has offsets of 32 bits, and this one would have more bytes.
  case tooLarge(byteCount: Int)
  /// Minidumps have no registers of this architecture here.
  case unsupportedArchitecture(CPUArchitecture)

  /// The errors of converting to the file at `output`, as one type.
  init(_ error: any Error, _ output: FilePath) {
    switch error {
    case MinidumpWriter.Failure.tooLarge(let byteCount): self = .tooLarge(byteCount: byteCount)
    case MinidumpWriter.Failure.unsupportedArchitecture(let architecture):
      self = .unsupportedArchitecture(architecture)
    case let errno as Errno: self = .output(output, errno)
    default: self = .input(DumpInputFailure(error))
    }
  }

  /// The rest of a sentence that begins with the input's name.
  public var description: String {
    switch self {
    case .input(let failure): "\(failure)"
    case .output(let path, let errno): "can't be converted to \(path): \(errno)"
    case .tooLarge(let byteCount): "is too large: the minidump would have \(byteCount) bytes"
    case .unsupportedArchitecture(let architecture): "has registers of \(architecture), which minidumps do not get"
    }
  }
}
