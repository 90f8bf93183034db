// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The cache of Go's compiler: Go's own library takes seconds, and is compiled once for all tests of a run.
public enum GoCache {
  /// `CRASHPADCTL_TEST_GO_CACHE`, which scripts/test sets, or a directory that goes with the process.
  public static let path: String = {
    if let path = ProcessInfo.processInfo.environment["CRASHPADCTL_TEST_GO_CACHE"] { return path }
    atexit { try? FileManager.default.removeItem(at: GoCache.ownPlace) }
    return ownPlace.path
  }()

  private static let ownPlace = FileManager.default.temporaryDirectory.appending(path: "crashpadctl-go-\(getpid())")
}
