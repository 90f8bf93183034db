// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The message that the C library keeps before it aborts, read from cores of this machine's kernel.
@Suite(.enabled(if: CrashedProgram.canWriteCores && Toolbox.gcc != nil, "no gcc, or the kernel writes no core here"))
struct AbortMessageTests {
  private static let source = """
    #include <assert.h>
    #include <stdlib.h>
    #include <string.h>
    int main(int count, char **arguments) {
      char *volatile memory = malloc(24);
      switch (atoi(arguments[1])) {
      case 0: assert(count > 7); break;
      case 1: free(memory); free(memory); break;
      case 2: free((char *)memory + 8); break;
      case 3: abort();
      }
      return 0;
    }
    """

  @Test(
    arguments: [
      ("0", "program.c:7: main: Assertion `count > 7' failed."), ("1", "free(): double free detected"),
      ("2", "free(): invalid pointer"), ("3", nil),
    ] as [(String, String?)])
  func `A core has the message with which the C library ended the program`(_ kind: String, _ message: String?) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array(Self.source.utf8), to: "program.c")
    let outcome = try Tool.shell(
      """
      '\(Toolbox.gcc ?? "gcc")' -g -O0 program.c -o program || exit 9
      mkdir cores; cd cores; ulimit -c $(ulimit -H -c); ../program \(kind) 2>/dev/null; mv * ../a.core; cd ..
      crashpadctl inspect a.core; crashpadctl explain ./a.core; crashpadctl symbolize --format json a.core > a.json
      """, in: folder)
    let details: Comment = "\(outcome.text)\(outcome.errorText)"
    guard let message else {
      #expect(!outcome.text.contains("Assertion") && !outcome.text.contains("free()"), details)
      return
    }
    #expect(outcome.text.contains(message), details)
    #expect(outcome.text.contains("The program left the message"), details)
  }
}
