// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// The exit statuses, from sysexits.h if it has a suitable one. Throwing one ends the command; the reason is printed
/// before.
enum ExitStatus: Int32, Error {
  case success = 0
  case findings = 1
  /// Some of several inputs could not be read, or their outputs not be written.
  case partial = 2
  case usage = 64
  case noData = 65
  case noInput = 66
  case cannotCreate = 73
  case ioError = 74
  case temporaryFailure = 75
  case notPermitted = 77
  /// Ended by Ctrl-C at a terminal, as shells have it.
  case interrupted = 130

  /// The status of a run with several inputs.
  init(of statuses: [ExitStatus]) {
    self = .success
    for status in statuses { add(status) }
  }

  /// Adds the status of one of several inputs. Faults of an input's content are findings. A script that accepts those
  /// would not notice a mistyped path, which has a status of its own.
  mutating func add(_ other: ExitStatus) {
    switch other {
    case .success: break
    case .findings, .noData: if self == .success { self = .findings }
    default: self = .partial
    }
  }

  /// The exit status for a failed system call.
  init(_ errno: Errno, creating: Bool) {
    switch errno {
    case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels: self = creating ? .cannotCreate : .noInput
    case .permissionDenied, .notPermitted: self = .notPermitted
    case .readOnlyFileSystem, .fileExists, .isDirectory, .fileNameTooLong, .noSuchAddressOrDevice:
      self = creating ? .cannotCreate : .noInput
    case .resourceBusy, .wouldBlock: self = .temporaryFailure
    default: self = .ioError
    }
  }
}
