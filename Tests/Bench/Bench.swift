// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// Runs one command line; the result is the exit status. No timing fails it: only programs that do.
func bench(_ arguments: [String]) -> Int32 {
  do {
    if arguments.count == 4, arguments[0] == Recipe.option {
      guard let recipe = Recipe(rawValue: arguments[1]), let number = Int(arguments[2]) else { return 64 }
      try recipe.write(number, to: arguments[3])
      return 0
    }
    if arguments.first == CaptureChild.option { return CaptureChild.run(arguments) }
    if arguments.count == 2, arguments[0] == TreeRecipe.option { return TreeRecipe.readBundles(below: arguments[1]) }
    if arguments.count == 3, arguments[0] == TreeRecipe.lookOption, let count = Int(arguments[2]) {
      return TreeRecipe.lookAtBundles(below: arguments[1], count: count)
    }
    guard let options = Options(arguments) else { throw BenchError(text: Options.usage) }
    let workspace = try Workspace(tool: options.tool)
    // An interrupt then ends the child, which ends the bench as any failure does, and nothing is left behind.
    signal(SIGINT, SIG_IGN)
    defer { workspace.removeAll() }
    try Bench(options: options, workspace: workspace).run()
    return 0
  } catch {
    let text = (error as? BenchError)?.text ?? "\(error)"
    fflush(nil)
    complain("bench: \(text)\n")
    return text == Options.usage ? 64 : 1
  }
}

private func complain(_ text: String) {
  var bytes = Array(text.utf8)
  unsafe _ = write(2, &bytes, bytes.count)
}

struct Bench {
  let options: Options
  let workspace: Workspace

  func run() throws {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    print("\(workspace.tool) on \(processors) processors, files in \(workspace.path)")
    print(
      "Runs are interleaved after one that is not counted. A ratio is that of the medians, then that of the minima.")
    for question in options.questions {
      switch question {
      case .large: try large()
      case .directory: try directory()
      case .startup: try startup()
      case .instructions: try instructions()
      case .growth: try growth()
      case .database: try database()
      case .symbols: try symbols()
      case .trees: try trees()
      case .servers: try servers()
      case .pages: try pages()
      case .appleReports: try appleReports()
      case .capture: try capture()
      case .upload: try upload()
      }
      fflush(nil)
    }
  }

  func full<Value>(_ full: Value, quick: Value) -> Value { options.isQuick ? quick : full }

  // MARK: The peer

  /// The peer for dumps of an architecture ("arm64" or "x86_64"), if there is one.
  func peer(_ architecture: String) -> String? {
    guard let peer = options.peer else { return nil }
    for ending in ["arm64", "x86_64"] where peer.hasSuffix(".\(ending)") {
      let sibling = peer.dropLast(ending.count) + architecture
      return FileManager.default.isExecutableFile(atPath: String(sibling)) ? String(sibling) : nil
    }
    return peer
  }

  func peerCommand(_ peer: String, _ input: String, _ output: String, accepting accepted: Set<Int32> = [0]) -> Command {
    let uuid = "00000000-0000-4000-8000-000000000001"
    return Command(peer, [input, output, "--report-id", uuid, "--client-id", uuid], accepting: accepted)
  }
}
