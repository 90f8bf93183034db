// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadDatabase

@Suite("Pauses of servers")
struct UploadPausesTests {
  @Test(
    "Lines with times or counts that this program does not write are skipped",
    arguments: [
      "-9223372036854775808 https://a", "0 https://a", "5 https://a 9223372036854775807", "5 https://a 0", "5", "a b",
    ])
  func damaged(_ line: String) {
    let pauses = UploadPauses(Array("\(line)\n7 https://b 3\n".utf8))
    #expect(pauses["https://a"] == nil)
    #expect(pauses["https://b"] == UploadPause(until: 7, failures: 3))
  }
}
