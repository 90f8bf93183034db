// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite("Several inputs at once")
struct ParallelReadingTests {
  /// The first input is a FIFO that is written only when the second one has been read: a command that reads one input
  /// after the other would wait for ever.
  @Test(
    "Commands read an input for each processor at once, unless --jobs says otherwise",
    .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1, "one processor"),
    arguments: ["convert -o out", "symbolize", "group", "events"])
  func atOnce(_ command: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let script = """
      mkfifo first second
      timeout 60 crashpadctl \(command) first second > out.txt 2>&1 & tool=$!
      timeout 20 sh -c 'cat crash.idump > second && cat crash.idump > first' || echo 'one after the other'
      wait $tool; echo $?
      """
    let result = try Tool.shell(script, in: folder)
    #expect(result.text == "0\n", "\(command): \(result.text)\(result.errorText)")
    let alone = try Tool.shell(
      """
      timeout 10 crashpadctl \(command) -j 1 first second > out.txt 2>&1 & tool=$!
      timeout 1 sh -c 'cat crash.idump > second' && echo 'both at once'
      for fifo in first second; do timeout 5 sh -c "cat crash.idump > $fifo"; done
      wait $tool; echo $?
      """, in: folder)
    #expect(alone.text == "0\n", "\(command): \(alone.text)\(alone.errorText)")
  }

  @Test("While the first input is slow, others are read only so far that their results take little memory")
  func window() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let result = try Tool.shell(
      """
      mkdir in; mkfifo in/000.idump; for n in $(seq 101 300); do cp crash.idump in/$n.idump; done
      timeout 60 crashpadctl convert -q -j 2 in/*.idump -o out & tool=$!
      until [ "$(ls out 2>/dev/null | wc -l)" -ge 31 ]; do sleep 0.05; done
      sleep 0.3; ls out | wc -l
      timeout 20 sh -c 'cat crash.idump > in/000.idump'; wait $tool; echo $?; ls out | wc -l
      """, in: folder)
    #expect(result.text == "31\n0\n201\n", "\(result.errorText)")
  }
}
