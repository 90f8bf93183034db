// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Files and directories with symbols that can't be read: each is one finding, and the run goes on.
@Suite("Symbols at fault")
struct UnreadableSymbolTests {
  private static let commands = [
    "symbolize --no-system", "explain --no-system", "group --no-system", "report --no-system -o out.html",
    "events --no-system", "symbols check --no-system", "inspect",
  ]

  /// Makes two dumps `a.idump` and `b.idump`, and `$sym`: a symbol file of a module in their stacks, so large that it is
  /// mapped.
  private static let start = #"""
    crashpadctl symbolize --missing --no-system a.idump 2>/dev/null | head -n 1 > module
    name=$(cut -f 1 module) id=$(cut -f 2 module)
    { echo "MODULE mac arm64 $id $name"; seq -f 'FUNC %06.0f 1 0 function' 100000 120000; } > whole.sym

    """#

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    var parameters = SynthParameters(architecture: .arm64, seed: 1)
    parameters.exception = .badAccess
    for name in ["a", "b"] { try folder.write(SynthDump(parameters).bytes, to: "\(name).idump") }
    return folder
  }

  private func check(_ result: Tool.Outcome, _ path: String, _ reason: String, _ command: String) {
    #expect(result.status < 2, "\(command): \(result.status)\n\(result.errorText)")
    let lines = result.errorText.split(separator: "\n").filter { $0.contains("[unreadable-symbols]") }
    #expect(lines.count == 1, "\(command)\n\(result.errorText)")
    #expect(lines.first?.hasPrefix("\(path): warning: ") == true, "\(command)\n\(result.errorText)")
    #expect(lines.first?.contains(reason) == true, "\(command)\n\(result.errorText)")
  }

  @Test("A symbol file that becomes shorter while it is read is one finding", arguments: Self.commands)
  func cut(_ command: String) throws {
    let folder = try folder()
    let result = try Tool.shell(
      Self.start + #"mkdir s; mv whole.sym "s/$name.sym"; "#
        + "LD_PRELOAD='\(PreloadedLibrary.faultInjection)' FAULT_CUT=/s/ crashpadctl \(command) -s s a.idump b.idump",
      in: folder)
    let name = try #require(String(validating: folder.bytes(of: "module").prefix { $0 != 9 }, as: UTF8.self))
    check(result, "s/\(name).sym", "it became shorter", command)
  }

  @Test(
    "A program with symbols that becomes shorter while it is read is named",
    arguments: ["symbols info cut.so", "symbols lookup cut.so 0x1000", "symbols dump cut.so -o out.sym"])
  func cutProgram(_ command: String) throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell(
      """
      cp '\(PreloadedLibrary.faultInjection)' cut.so; truncate -s 1M cut.so
      LD_PRELOAD='\(PreloadedLibrary.faultInjection)' FAULT_CUT=/cut.so crashpadctl \(command)
      """, in: folder)
    #expect(result.status == 74, "\(result.errorText)")
    #expect(result.errorText.contains("cut.so: error: became shorter while it was read"), "\(result.errorText)")
    #expect(!folder.exists("out.sym"))
  }

  @Test(
    "A file without permission to read, a FIFO and a loop of links are one finding each, and nothing waits",
    .enabled(if: Machine.isRoot && Machine.hasSetpriv, "needs the rights of root"),
    arguments: Soak.every(2, of: Self.commands))
  func denied(_ command: String) throws {
    let folder = try folder()
    for (make, place, path, reason) in [
      (#"cp whole.sym file; chmod 0 file"#, "file", "file", "Permission denied"),
      (#"mkdir shut; cp whole.sym "shut/$name.sym"; chmod 0 shut"#, "shut", "shut", "Permission denied"),
      (#"mkdir -p deep/in; cp whole.sym deep/in/x; chmod 0 deep/in"#, "deep", "deep/in", "Permission denied"),
      (#"mkfifo -m 666 fifo"#, "fifo", "fifo", "no regular file"),
      (#"mkdir fifos; mkfifo -m 666 "fifos/$name""#, "fifos", "fifos/", "no regular file"),
      (#"ln -s loop loop"#, "loop", "loop", "Too many levels of symbolic links"),
      (#"mkdir loops; ln -s "$name" "loops/$name""#, "loops", "loops/", "Too many levels of symbolic links"),
    ] {
      let run = "as-nobody crashpadctl \(command) -s \(place) a.idump b.idump"
      let result = try Tool.shell(
        "\(Self.start)chmod -R a+rwX ..; rm -f out.html; \(make); \(run)", in: folder)
      let module = String(decoding: try folder.bytes(of: "module").prefix { $0 != 9 }, as: UTF8.self)
      check(result, path + (path.hasSuffix("/") ? module : ""), reason, "\(place): \(command)")
    }
  }
}
