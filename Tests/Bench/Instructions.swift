// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Question 4: what one more dump costs in a run that is going on.
extension Bench {
  private struct Case {
    let name: String
    let architecture: String
    let shape: Recipe
    /// The cost of Crashpad's own C++ at revision 48b459d7: user-space instructions for one conversion, process start
    /// excluded. Source: the README.md of the corpus, for the dumps of these names; its medium dump had 1.4 MB. They are
    /// here so that a machine without the peer has something to compare with.
    let crashpad: Int
  }

  private static let cases = [
    Case(name: "small_mach", architecture: "arm64", shape: .smallShape, crashpad: 2_600_000),
    Case(name: "medium", architecture: "x86_64", shape: .mediumShape, crashpad: 40_000_000),
    Case(name: "modules_heavy", architecture: "arm64", shape: .moduleHeavyShape, crashpad: 115_000_000),
  ]

  func instructions() throws {
    title("Instructions for one more dump: (convert -j 1 -q of 6 copies - of 2 copies) / 4; one run each, millions")
    guard let callgrind = try Callgrind(workspace) else { return }
    var table = Table("", "bytes", "convert", "per byte", "Crashpad, noted", "to noted", "peer, counted", "to peer")
    for item in Self.cases {
      let (dump, label) = try self.dump(item)
      let bytes = try workspace.size(dump)
      let ours = try oneMore(dump, callgrind)
      let theirs = try peer(item.architecture).map { try one(dump, peer: $0, callgrind) }
      table.add(
        label, Text.grouped(bytes), Text.millions(ours), Text.fixed(Double(ours) / Double(bytes), 2),
        Text.millions(item.crashpad), Text.ratio(Double(ours) / Double(item.crashpad)),
        theirs.map(Text.millions) ?? "-", theirs.map { Text.ratio(Double(ours) / Double($0)) } ?? "-")
    }
    table.show()
    print("  Noted: Crashpad's C++ at revision 48b459d7, process start excluded; its medium dump had 1.4 MB.")
    if options.peer != nil { print("  Counted: the peer's run on the dump less its run on an empty file.") }
  }

  private func dump(_ item: Case) throws -> (path: String, label: String) {
    let name = "\(item.name).\(item.architecture)"
    if let corpus = options.corpus {
      let path = "\(corpus)/\(name).idump"
      if FileManager.default.fileExists(atPath: path) { return (path, name) }
    }
    return (try workspace.make(item.shape, 0, "\(name).idump"), "\(name), synthesised")
  }

  private func oneMore(_ dump: String, _ callgrind: Callgrind) throws -> Int {
    let counts = try [2, 6].map { count in
      let folder = try workspace.copies(count, of: dump, "copies")
      let output = workspace.file("converted")
      let count = try callgrind.instructions(
        of: Command(callgrind.tool, ["convert", "-j", "1", "-q", folder, "-o", output]))
      try workspace.remove(folder)
      try workspace.remove(output)
      return count
    }
    return (counts[1] - counts[0]) / 4
  }

  /// The peer converts one dump in a process; what it takes to reject an empty file is its start.
  private func one(_ dump: String, peer: String, _ callgrind: Callgrind) throws -> Int {
    let empty = workspace.file("empty")
    try writeFile(empty, [])
    let output = workspace.file("peer.dmp")
    let start = try callgrind.instructions(of: peerCommand(peer, empty, output, accepting: Set(0...255)))
    let whole = try callgrind.instructions(of: peerCommand(peer, dump, output))
    return whole - start
  }
}
