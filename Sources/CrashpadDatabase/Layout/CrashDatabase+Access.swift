// SPDX-License-Identifier: Apache-2.0
package import CrashpadFiles
internal import Glibc
internal import SystemPackage

extension CrashDatabase {
  /// The first directory of the database that this process may not change, and why; nil if it may change all of them. Only
  /// permissions are checked: a change may still fail. For dry runs.
  package var unchangeable: FileFailure? {
    let places = [path] + (DatabaseLayout.directories + [DatabaseLayout.pendingDumps]).map { path.appending($0) }
    for place in places {
      let result = unsafe place.withPlatformString { unsafe faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) }
      if result != 0, errno != ENOENT { return FileFailure(place, Errno(rawValue: errno)) }
    }
    return nil
  }
}
