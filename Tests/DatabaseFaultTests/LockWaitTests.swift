// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

@Suite("Waiting for a lock", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct LockWaitTests {
  /// Each short sleep takes ten times as long, as on a busy machine.
  private static let slow = """
    #include <time.h>
    int usleep(unsigned time) {
      struct timespec pause = {0, time * 10000L};
      return nanosleep(&pause, 0);
    }
    """

  @Test("The settings' lock is waited for by the clock, on a busy machine too")
  func busy() throws {
    let folder = try TemporaryFolder()
    try DatabasePlan.plain(1).make(at: folder.url("db"))
    try folder.write(Array(Self.slow.utf8), to: "slow.c")
    let result = try Tool.shell(
      """
      '\(HandlerLibrary.compiler ?? "clang")' -shared -fPIC slow.c -o slow.so && crashpadctl process -q -d db
      crashpadctl database settings -d db --uploads-enabled no > /dev/null
      flock db/settings.dat sleep 20 > /dev/null 2>&1 & holder=$!
      sleep 0.5
      LD_PRELOAD=./slow.so timeout 15 crashpadctl database info -d db > /dev/null; echo $?
      kill $holder
      """, in: folder)
    #expect(result.text.hasSuffix("75\n"), "\(result.text)\(result.errorText)")
  }
}
