// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Units by which compilers refer to the debug information of an imported module: they have the form of split DWARF and, of
/// Swift, a table of lines, but no code.
struct ImportUnitTests {
  /// A unit with a name, a table of lines, and the id and name of a file that is not there.
  private static let unit = """
      .section .debug_abbrev,"",@progbits
    .Labbrev:
      .uleb128 1, 0x11
      .byte 0
      .uleb128 0x03, 0x08, 0x10, 0x17, 0x2131, 0x07, 0x2130, 0x08, 0, 0
      .byte 0
      .section .debug_line,"",@progbits
    .Lline:
      .long .Lline_end - .Lline_start
    .Lline_start:
      .short 4
      .long .Lheader_end - .Lheader
    .Lheader:
      .byte 1, 1, 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0
    .Lheader_end:
    .Lline_end:
      .section .debug_info,"",@progbits
      .long .Lend - .Lstart
    .Lstart:
      .short 4
      .long .Labbrev
      .byte 8
      .uleb128 1
      .asciz "Shims"
      .long .Lline
      .quad 0xf0af995fac1964b8
      .asciz "/none/Shims.pcm"
    .Lend:
      .section .note.GNU-stack,"",@progbits

    """

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cc"), "no C compiler"))
  func `A module that is imported is no missing file`() throws {
    let folder = try TemporaryFolder()
    try Data(Self.unit.utf8).write(to: folder.url("unit.s"))
    try Data("int main(void) { return 0; }\n".utf8).write(to: folder.url("main.c"))
    let script = """
      cc -g -gdwarf-4 main.c unit.s -o program && crashpadctl symbols lookup program \
        $(nm program | awk '$3 == "_start" { print "0x" $1 }')
      """
    let outcome = try Tool.shell(script, in: folder)
    #expect(
      outcome.status == 0 && outcome.text.hasPrefix("_start\n") && outcome.errorText.isEmpty, "\(outcome.errorText)")
  }
}
