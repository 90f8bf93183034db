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
}
