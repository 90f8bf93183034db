// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Symbol files of machines whose stacks are not walked here: other readers walk them by these rules.
@Suite(
  "Symbol files of other machines have frame rules",
  .enabled(if: Toolbox.clang != nil && Toolbox.lld != nil, "clang or ld.lld is not installed"))
struct OtherMachineTests {
  @Test(arguments: [
    ("riscv64-unknown-linux-gnu", "riscv", ".cfa: sp 0 + .ra: ra", ".cfa: sp 32 +", ".ra: .cfa -8 + ^"),
    ("mips64el-unknown-linux-gnuabi64", "mips", ".cfa: $sp 0 + .ra: $ra", ".cfa: $sp 32 +", ".ra: .cfa -8 + ^"),
  ])
  func rules(target: String, architecture: String, first: String, framed: String, saved: String) throws {
    let folder = try TemporaryFolder()
    let source = """
      int other(int *);
      int twice(int n) { int a[4] = {n, n, n, n}; return other(a) + a[1]; }

      """
    try folder.write(Array(source.utf8), to: "twice.c")
    let options = "-O1 -g -fasynchronous-unwind-tables -ffreestanding -nostdlib -shared -fPIC -fuse-ld=lld"
    let built = try Tool.shell("'\(Toolbox.clang!)' --target=\(target) \(options) twice.c -o twice.so", in: folder)
    guard built.status == 0 else { try Test.cancel("clang here does not know \(target)") }
    let dumped = try Tool.shell("crashpadctl symbols dump -q twice.so -o twice.sym", in: folder)
    try #require(dumped.status == 0, "\(dumped.errorText)")
    let lines = String(decoding: try folder.bytes(of: "twice.sym"), as: UTF8.self).split(separator: "\n")
    #expect(lines.first?.hasPrefix("MODULE Linux \(architecture) ") == true)
    #expect(lines.contains { $0.hasPrefix("STACK CFI INIT ") && $0.hasSuffix(first) })
    #expect(lines.contains { $0.hasPrefix("STACK CFI ") && $0.contains(framed) })
    #expect(lines.contains { $0.hasPrefix("STACK CFI ") && $0.contains(saved) })
  }
}
