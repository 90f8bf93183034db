// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Counts instructions: the same on every machine and in every run, whatever else the machine does.
struct Callgrind {
  private let workspace: Workspace
  private let valgrind: String
  private let strip: String
  /// The tool without its debugging information: Callgrind 3.19 gives up on clang's DWARF 5.
  let tool: String

  /// Nil, and says why, where the programs for it are not installed.
  init?(_ workspace: Workspace) throws {
    guard let valgrind = Command.find("valgrind"), let strip = Command.find("strip") else {
      print("  valgrind or strip is not installed: no instructions are counted.")
      return nil
    }
    self.workspace = workspace
    self.valgrind = valgrind
    self.strip = strip
    tool = workspace.file("crashpadctl-stripped")
    try workspace.run(Command(strip, ["-o", tool, workspace.tool]))
  }

  /// A copy of a library without its debugging information.
  func stripped(_ library: String) throws -> String {
    let copy = workspace.file("stripped.so")
    try workspace.run(Command(strip, ["-o", copy, library]))
    return copy
  }

  /// User-space instructions of a program from its start to its end.
  func instructions(of command: Command) throws -> Int {
    let counts = workspace.file("counts")
    var counted = Command(
      valgrind, ["--tool=callgrind", "--callgrind-out-file=\(counts)", command.path] + command.arguments,
      accepting: command.accepted)
    counted.environment = command.environment
    try workspace.run(counted)
    for line in workspace.errors().split(separator: "\n").reversed() {
      let parts = line.split(separator: ":")
      if parts.count == 2, parts[0].hasSuffix("Collected "), let count = Int(parts[1].drop { $0 == " " }) {
        return count
      }
    }
    throw BenchError(text: "valgrind did not say how many instructions it saw\n\(workspace.errors())")
  }
}
