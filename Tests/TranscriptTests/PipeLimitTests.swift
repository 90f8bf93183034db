// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite("Inputs from pipes")
struct PipeLimitTests {
  @Test("A large pipe is read as the file that it comes from", arguments: ["", "TMPDIR=spool ", "TMPDIR=/no/such "])
  func large(_ environment: String) throws {
    let folder = try TemporaryFolder()
    // Memory takes 8 MiB of it.
    let dump = Samples.crash.setting(.stackRegionData, to: [UInt8](repeating: 0x5a, count: 9 << 20))
    try folder.write(dump, to: "large.idump")
    let result = try Tool.shell(
      "mkdir spool; crashpadctl convert -q large.idump -o file.dmp && cat large.idump | \(environment)crashpadctl convert -q - -o pipe.dmp && cmp file.dmp pipe.dmp; echo $?; ls -A spool",
      in: folder)
    #expect(result.text == "0\n", "\(result.errorText)")
  }

  @Test("A pipe without an end is refused, and takes no memory")
  func endless() throws {
    let result = try Tool.shell(
      "ulimit -v 400000; crashpadctl inspect --max-input-size 500MiB /dev/zero", in: TemporaryFolder())
    #expect(result.status == 66)
    #expect(
      result.errorText
        == "/dev/zero: error: is a pipe or a device with more than 500 MiB; --max-input-size allows more\n")
  }

  @Test(
    "A message says that there is no place for a large pipe",
    .enabled(if: Machine.canMount, "no rights to mount"))
  func fullDisk() throws {
    let folder = try TemporaryFolder()
    let script =
      "mount -t tmpfs -o size=10m none spool && TMPDIR=spool crashpadctl inspect --max-input-size 20MiB /dev/zero"
    let result = try Tool.shell("mkdir spool; unshare --mount \(Machine.mapping) sh -c '\(script)'", in: folder)
    #expect(result.status == 74)
    #expect(
      result.errorText
        == "/dev/zero: error: is a large pipe and can't be kept in spool: No space left on device; $TMPDIR names another place\n"
    )
  }
}
