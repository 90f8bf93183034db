// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import CrashpadUpload
public import SystemPackage

extension CrashpadClient {
  /// The reason why a call did nothing.
  public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The handler is needed, but was not started.
    case notStarted
    /// The handler runs in this process already.
    case alreadyStarted
    /// The program id is empty, begins with a dot, unlike the name of any dump, or contains a slash or NUL.
    case badProgramID(String)
    /// There are more than 64 annotations, a name of more than 255 bytes or a value of more than 4095.
    case annotationDoesNotFit(String)
    case database(FilePath, Errno)
    /// The handler failed, with this message.
    case handler(String, Errno)
    /// A dump was not written. The path is empty for a pending dump of the database.
    case dump(FilePath, Errno)
    /// Nothing was processed, or the settings can't be read or written.
    case processing(FilePath, Errno)
    /// Events could not be recorded as sent; `EILSEQ` if the file with the record is damaged.
    case events(FilePath, Errno)
    /// Reports can't be sent to the URL, which is not in the failure as it may hold a password or a key.
    case badURL(WebAddressFailure)
    /// A hang monitor runs in this process already.
    case monitorAlreadyStarted
    /// The hang monitor's thread could not be started.
    case monitor(Errno)

    /// A sentence without a period at its end.
    public var description: String {
      switch self {
      case .notStarted: "the handler was not started"
      case .alreadyStarted: "the handler was started already"
      case .badProgramID(let id): "not a program id (no slash, no dot in front): \(id)"
      case .annotationDoesNotFit(let name): "an annotation does not fit: \(name)"
      case .handler(let message, let errno): message.isEmpty ? "\(errno)" : message
      case .dump(let path, let errno): "no dump was written\(path.isEmpty ? "" : " to \(path)"): \(errno)"
      case .database(let path, let errno), .processing(let path, let errno), .events(let path, let errno):
        "\(path): \(errno)"
      case .badURL(let failure): "reports can't be sent to the URL: \(failure)"
      case .monitorAlreadyStarted: "the hang monitor was started already"
      case .monitor(let errno): "the hang monitor's thread did not start: \(errno)"
      }
    }

    /// For C.
    var errno: Errno {
      switch self {
      case .notStarted: .noSuchProcess
      case .alreadyStarted, .monitorAlreadyStarted: .alreadyInProcess
      case .badProgramID, .badURL: .invalidArgument
      case .annotationDoesNotFit: .argListTooLong
      case .database(_, let errno), .handler(_, let errno), .dump(_, let errno), .processing(_, let errno),
        .events(_, let errno), .monitor(let errno):
        errno
      }
    }
  }
}
