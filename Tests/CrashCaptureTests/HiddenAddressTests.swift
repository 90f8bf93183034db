// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// x86-64 refuses addresses that no pointer can have without reporting them: 0 stands in their place.
#if arch(x86_64)
  struct HiddenAddressTests {
    private static let source = """
      #include <string.h>
      __attribute__((noinline)) static int turn(volatile int *gear) { return *gear + 1; }
      int main(void) {
        long place = WHERE;
        int *gear;
        memcpy(&gear, &place, sizeof gear);
        return turn(gear);
      }
      """

    private static let script = """
      gcc -g -O1 -o program program.c || exit 1
      crashpadctl run -q -d db --handler-library '%@' ./program 2>/dev/null
      crashpadctl convert db/pending-serialized-ios-dump/* -o dump.dmp
      for form in db/pending-serialized-ios-dump/* dump.dmp; do crashpadctl explain "$form"; done
      """

    private func explain(_ address: String) throws -> String {
      let folder = try TemporaryFolder()
      try Data(Self.source.replacing("WHERE", with: address).utf8).write(to: folder.url("program.c"))
      let library = try HandlerLibrary.path()
      return try Tool.shell(Self.script.replacing("%@", with: "\(library)"), in: folder).text
    }

    @Test(.enabled(if: ServerTests.path(of: "gcc") != nil, "gcc is not installed"))
    func `An address that the processor does not report is that of the instruction, or not known`() throws {
      let text = try explain("0x6172747320746f6e")
      let parts = text.components(separatedBy: ": crash\n").dropFirst()
      #expect(parts.count == 2)
      for part in parts {
        // Without the system's capstone the instruction is not known.
        let isKnown = part.contains("The instruction uses 0x6172747320746f6e, which no pointer can have")
        #expect(isKnown ? part.contains("not stra") : part.contains("Which address was refused"), "\(part)")
        #expect(!part.contains("A null pointer was used"), "\(part)")
      }
    }

    @Test(.enabled(if: ServerTests.path(of: "gcc") != nil, "gcc is not installed"))
    func `An address that was reported stays that of the fault`() throws {
      let text = try explain("0x10")
      #expect(text.contains("A null pointer was used") && !text.contains("The instruction uses"), "\(text)")
    }
  }
#endif
