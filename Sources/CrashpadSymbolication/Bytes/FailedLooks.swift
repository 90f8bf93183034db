// SPDX-License-Identifier: Apache-2.0
internal import SystemPackage

extension Errno {
  /// Whether the error says that there is no such file.
  var isOfMissingFile: Bool { [.noSuchFileOrDirectory, .notDirectory, .fileNameTooLong].contains(self) }

  /// Whether the error says that only others may read the file. For a file of this machine, that is no fault of a search.
  var isOfOthersFile: Bool { self == .permissionDenied || self == .notPermitted }
}
