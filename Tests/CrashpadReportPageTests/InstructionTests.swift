// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The instruction on a page, with stand-ins for capstone.
struct InstructionTests {
  /// A report of x86_64 with the bytes of "push rbp; mov rbp, rsp" before the instruction, and of "ud2" at it.
  private static let report = """
    {"app_name":"Shop","bug_type":"309"}
    {"procName":"Shop","pid":1,"cpuType":"X86-64","faultingThread":0,
    "exception":{"type":"EXC_BAD_INSTRUCTION","signal":"SIGILL"},
    "instructionByteStream":{"beforePC":"VUiJ5Q==","atPC":"DwuQ"},
    "threads":[{"triggered":true,"threadState":{"flavor":"x86_THREAD_STATE","rip":{"value":4112},"rsp":{"value":64}},
    "frames":[{"imageIndex":0,"imageOffset":16}]}],
    "usedImages":[{"base":4096,"size":4096,"name":"Shop","path":"/Shop","arch":"x86_64"}]}
    """

  /// - Parameter libraries: the directory in which libraries are looked for first.
  private static func page(in folder: TemporaryFolder, libraries: String) throws -> String {
    try folder.write(Array(report.utf8), to: "crash.ips")
    let result = try Tool.shell(
      "LD_LIBRARY_PATH=\(folder.url(libraries).path) crashpadctl report --no-system crash.ips -o crash.html",
      in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    return String(decoding: try folder.bytes(of: "crash.html"), as: UTF8.self)
  }

  private static let hint = "No disassembly: libcapstone4 or libcapstone5 is not installed where this page was made."

  @Test func `Without capstone a page has the bytes and names the package`() throws {
    let folder = try TemporaryFolder()
    // The loader finds these first, and they are no libraries.
    for number in [4, 5] { try folder.write([], to: "lib/libcapstone.so.\(number)") }
    let page = try Self.page(in: folder, libraries: "lib")
    #expect(page.contains("<code>0f 0b 90</code>"))
    #expect(page.contains(Self.hint))
    #expect(!page.contains("aria-label=\"Disassembly\""))
  }

  /// Each instruction has one byte, and texts that fill their places.
  private static let standIn = """
    #include <stdbool.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>
    typedef struct {
      unsigned id;
      uint64_t address;
      uint16_t size;
      uint8_t bytes[BYTES];
      char mnemonic[32], op_str[160];
      void *detail;
    } cs_insn;
    unsigned cs_version(int *major, int *minor) { *major = VERSION; *minor = 0; return VERSION << 8; }
    int cs_open(int architecture, int mode, size_t *handle) { *handle = 1; return architecture != 3 || mode != 8; }
    int cs_close(size_t *handle) { return *handle != 1; }
    void *cs_malloc(size_t handle) { return handle == 1 ? calloc(1, sizeof(cs_insn)) : 0; }
    void cs_free(void *instruction, size_t count) { if (count == 1) free(instruction); }
    bool cs_disasm_iter(size_t handle, const uint8_t **code, size_t *size, uint64_t *address, cs_insn *line) {
      if (*size == 0 || handle != 1) return false;
      memset(line, '<', sizeof *line);
      memset(line->mnemonic, 'm', sizeof line->mnemonic);
      memset(line->op_str, '0' + VERSION, sizeof line->op_str);
      ++*code; --*size; ++*address;
      return true;
    }
    """

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cc"), "cc is not installed"),
    arguments: [(4, 4, 16), (5, 5, 24), (5, 4, 16), (4, 5, 24), (5, 6, 24)])
  func `The layout is that of the version, and other versions are not used`(name: Int, version: Int, bytes: Int) throws
  {
    let folder = try TemporaryFolder()
    for number in [4, 5] { try folder.write([], to: "lib/libcapstone.so.\(number)") }
    try folder.write(Array(Self.standIn.utf8), to: "standin.c")
    let made = try Tool.shell(
      "cc -shared -fPIC -DVERSION=\(version) -DBYTES=\(bytes) standin.c -o lib/libcapstone.so.\(name)", in: folder)
    #expect(made.status == 0, "\(made.errorText)")
    let page = try Self.page(in: folder, libraries: "lib")
    let text = String(repeating: "m", count: 32) + " " + String(repeating: "\(version)", count: 160)
    #expect(page.contains("<mark>&gt; 0x0000000000001010  0f  \(text)</mark>") == (name == version))
    #expect(page.contains("  0x000000000000100f  e5  \(text)\n") == (name == version))
    #expect(page.contains(Self.hint) == (name != version))
  }
}
