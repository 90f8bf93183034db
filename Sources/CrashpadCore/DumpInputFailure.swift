// SPDX-License-Identifier: Apache-2.0
public import CrashpadFiles
internal import IntermediateDump
public import SystemPackage

/// The reason why an input is no dump or report that can be read, or can't be converted.
public enum DumpInputFailure: Error, Sendable {
  /// The file can't be opened or read.
  case file(Errno)
  case directory
  /// A socket, a device, or something else without bytes to read.
  case notAFile
  /// A pipe with more bytes than the limit, which is 1 GiB.
  case pipeTooLong
  /// The file became shorter while it was read, or its disk can't be read.
  case becameShorter
  /// A large pipe that can't be kept in this directory for temporary files.
  case notSpooled(FilePath, Errno)
  /// The content can't be read; the compression is e.g. "zstd", or "zip" for an archive's member.
  case compressed(String, DecompressionFailure)
  /// An archive has more than one dump or report: the names of those members, in the archive's order.
  case archiveOfMany([String])
  /// A text holds this number of reports; a path below it selects one by its number, from 1 on.
  case severalReports(Int)
  /// A path continues below a file, such as `feedback.zip/crash.ips`, but the file has no member of this name.
  case noSuchPart(String)
  /// The file is of another kind, recognized by its first bytes: "is a PNG image".
  case notADump(kind: String)
  /// An archive without a dump or report, or one whose members can't be read: "is an encrypted zip archive".
  case noDumpIn(archive: String)
  /// JSON that is no dump, with the problem and its byte offset.
  case notTheJSONForm(String, at: Int)
  /// There is no conversion from this format to that one.
  case notConvertible(InputFormat, to: ConversionTarget)

  /// The errors of opening and reading a file, as one type.
  init(_ error: any Error) {
    switch error {
    case let failure as DumpInputFailure: self = failure
    case let errno as Errno: self = .file(errno)
    case let failure as SpoolFile.Failure: self = .notSpooled(failure.folder, failure.errno)
    case let failure as DumpJSON.Failure: self = .notTheJSONForm(failure.problem, at: failure.offset)
    case let failure as InputFile.NotReadable:
      switch failure.reason {
      case .directory: self = .directory
      case .notAFile: self = .notAFile
      case .tooLarge: self = .pipeTooLong
      case .unreadable: self = .becameShorter
      }
    default: self = .file(.ioError)
    }
  }
}

extension DumpInputFailure: CustomStringConvertible {
  /// The rest of a sentence that begins with the input's name.
  public var description: String {
    switch self {
    case .file(let errno): errno.description
    case .directory: "\(InputFile.NotReadable(reason: .directory))"
    case .notAFile: "\(InputFile.NotReadable(reason: .notAFile))"
    case .pipeTooLong: "\(InputFile.NotReadable(reason: .tooLarge))"
    case .becameShorter: "\(InputFile.NotReadable(reason: .unreadable))"
    case .notSpooled(let folder, let errno): "is a large pipe and can't be kept in \(folder): \(errno)"
    case .compressed(let compression, let reason): "is compressed (\(compression)) and \(reason)"
    case .archiveOfMany(let names): "is an archive with \(names.count) dumps or reports"
    case .severalReports(let count): "holds \(count) reports"
    case .noSuchPart(let name): "the file has no part that is named \"\(name)\""
    case .notADump(let kind): "is \(kind), not a dump or crash report"
    case .noDumpIn(let archive): "is \(archive)"
    case .notTheJSONForm(let problem, let offset): "\(problem), at byte \(offset)"
    case .notConvertible(let format, let target):
      "is a \(FormatRow.of(format).title), which is not converted to \(target.rawValue)"
    }
  }
}
