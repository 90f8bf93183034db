// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import SystemPackage

extension OpenFile {
  /// Throws `FileFailure` with `tooManyLinks` if the file has another name: it may be a link to a file elsewhere, which
  /// would be changed or sent through it. A file of a database has one name.
  func checkLinks() throws(FileFailure) {
    // A file system may know of a name that was removed a moment ago.
    if try status().linkCount > 1, try linkCount() > 1 { throw FileFailure(path, .tooManyLinks) }
  }
}
