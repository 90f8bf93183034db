// SPDX-License-Identifier: Apache-2.0
/// The commands that the tool has, as it says itself: a new one is tested without being named here.
public enum CommandTree {
  /// The commands with an action, by their words: `inspect`, `database list`. Neither groups, nor `help`, nor hidden ones.
  public static let commands: [String] = {
    guard let result = try? Tool.run(["--experimental-dump-help"], in: TemporaryFolder()),
      let dump = try? JSONDocument(result.output)
    else { return [] }
    return leaves(of: dump["command"], []).map { $0.joined(separator: " ") }
  }()

  /// Every option of a command's `--help`, by all its names: `["-o", "--output"]`.
  public static func options(inHelp help: String) -> [[String]] {
    help.split(separator: "\n").filter { $0.hasPrefix("  -") }.map { line in
      // The description of the option stands behind at least two blanks.
      var label = line.dropFirst(2)
      if let end = label.firstRange(of: "  ") { label = label[..<end.lowerBound] }
      return label.split(separator: " ").filter { $0.hasPrefix("-") }.map { String($0.filter { $0 != "," }) }
    }
  }

  private static func leaves(of command: JSONDocument, _ path: [String]) -> [[String]] {
    let children = command["subcommands"].array.filter { $0["shouldDisplay"].bool != false }
    if children.isEmpty { return path.isEmpty || path == ["help"] ? [] : [path] }
    return children.flatMap { leaves(of: $0, path + [$0["commandName"].string ?? ""]) }
  }
}
