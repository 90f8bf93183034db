// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import FoundationEssentials

/// The cost of names: beside llvm-symbolizer for addresses, beside Breakpad's minidump_stackwalk for stacks. A peer that is
/// not on the PATH is left out.
extension Bench {
  func symbols() throws {
    try addresses()
    try walking()
    try threads()
  }

  // MARK: Addresses

  private func addresses() throws {
    guard let compiler = Command.find("g++") ?? Command.find("c++"), let nm = Command.find("nm") else {
      return print("\nAddresses: left out, as there is no C++ compiler or no nm")
    }
    let program = workspace.file("program")
    try compile(compiler, program, units: full(6, quick: 2))
    let list = workspace.file("addresses")
    let script = "\"$0\" -S --defined-only \"$1\" | awk '$3 ~ /^[tTwW]$/ { print $1, $2 }' > \"$2\""
    try workspace.run(Command(try need("sh"), ["-c", script, nm, program, list]))
    let picked = try pick(full(10_000, quick: 2000), from: list)
    let picks = workspace.file("picked")
    try writeFile(picks, Array(picked.map { "0x\($0)\n" }.joined().utf8))
    let rounds = full(9, quick: 3)
    title(
      "\(Text.grouped(picked.count)) addresses of a program of \(Text.grouped(try workspace.size(program))) bytes; \(rounds) runs"
    )
    var contenders: [Contender] = []
    for name in ["llvm-symbolizer-19", "llvm-symbolizer"] where contenders.isEmpty {
      guard let peer = Command.find(name) else { continue }
      contenders.append(Contender(name, reading(Command(peer, ["--obj=\(program)"]), picks)))
    }
    contenders.append(
      Contender("symbols lookup", reading(Command(workspace.tool, ["symbols", "lookup", program]), picks)))
    let results = try workspace.interleave(contenders, rounds: rounds)
    showProcessorTime(results)
    if contenders.count > 1 {
      print(
        "  " + Text.goal("half of llvm-symbolizer's processor time", results[1].processor <= results[0].processor / 2))
    } else {
      print("  llvm-symbolizer is not on the PATH")
    }
    try workspace.remove(program)
  }

  private func reading(_ command: Command, _ file: String) -> Command {
    var command = command
    command.input = file
    return command
  }

  private func pick(_ count: Int, from list: String) throws -> [String] {
    let text = String(decoding: FileManager.default.contents(atPath: list) ?? Data(), as: UTF8.self)
    let functions = text.split(separator: "\n").compactMap { line -> (start: UInt64, size: UInt64)? in
      let words = line.split(separator: " ")
      guard words.count == 2, let start = UInt64(words[0], radix: 16), let size = UInt64(words[1], radix: 16), size > 0
      else { return nil }
      return (start, size)
    }
    guard !functions.isEmpty else { throw BenchError(text: "nm names no functions") }
    var random = SplitMix64(seed: 11, area: 94)
    return (0..<count).map { _ in
      let function = functions[random.below(functions.count)]
      return String(function.start + UInt64(random.below(Int(function.size))), radix: 16)
    }
  }

  /// A program whose units instantiate much of the C++ library, as large programs do.
  func compile(_ compiler: String, _ program: String, units: Int) throws {
    var objects: [String] = []
    for unit in 0..<units {
      var text =
        "#include <algorithm>\n#include <map>\n#include <regex>\n#include <string>\n#include <unordered_map>\n#include <vector>\n"
      for number in 0..<60 {
        let name = "u\(unit)_\(number)"
        text += """
          namespace \(name) {
          struct Key { int a; std::string b; bool operator<(const Key &o) const { return a < o.a || (a == o.a && b < o.b); } };
          template <int N> struct Box { std::map<Key, std::vector<Box<N> *>> all; std::unordered_map<std::string, Key> keys;
            int sum(const std::vector<Key> &list) const { int s = N; for (auto &k : list) s += k.a * (int)k.b.size(); return s; }
            void add(const std::string &t) { keys[t] = Key{N, t}; all[Key{N, t}].push_back(this); } };
          int run(int n) { std::vector<Key> v; for (int i = 0; i < n; i++) v.push_back({i, std::to_string(i)});
            std::sort(v.begin(), v.end(), [](const Key &x, const Key &y) { return y < x; });
            Box<\(number)> b; for (auto &k : v) b.add(k.b); return b.sum(v) + (int)b.all.size(); }
          }

          """
      }
      text += unit == 0 ? "int main(int c, char **) { return u0_0::run(c); }\n" : ""
      let source = workspace.file("unit\(unit).cc")
      let object = workspace.file("unit\(unit).o")
      try writeFile(source, Array(text.utf8))
      try workspace.run(Command(compiler, ["-g", "-O1", "-c", source, "-o", object]))
      objects.append(object)
    }
    try workspace.run(Command(compiler, objects + ["-o", program]))
    for object in objects { try workspace.remove(object) }
  }

  // MARK: Stacks

  private func walking() throws {
    let functions = full(130_000, quick: 20_000)
    let store = workspace.file("store")
    let symbols = "\(store)/\(SymbolRecipe.storePath)"
    let folder = String(symbols.prefix(upTo: symbols.lastIndex(of: "/")!))
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try workspace.make(.symbolFile, functions, "symbols")
    try FileManager.default.moveItem(atPath: workspace.file("symbols"), toPath: symbols)
    let dump = try minidump(.symbolDump, functions)
    let rounds = full(9, quick: 3)
    title(
      "Stacks of 40 threads with names, symbol file of \(Text.grouped(try workspace.size(symbols))) bytes; \(rounds) runs"
    )
    try walk(dump, store: store, factor: 0.2, rounds: rounds)
    try workspace.remove(store)
  }

  private func threads() throws {
    let count = full(500, quick: 100)
    let dump = try minidump(.manyStacks, count)
    let rounds = full(31, quick: 9)
    title("Stacks of \(count) threads without symbols; \(rounds) runs")
    try walk(dump, store: nil, factor: 0.6, rounds: rounds)
  }

  private func minidump(_ recipe: Recipe, _ number: Int) throws -> String {
    let dump = try workspace.make(recipe, number, "stacks.idump")
    let minidump = workspace.file("\(recipe.rawValue).dmp")
    try workspace.run(Command(workspace.tool, ["convert", "-q", dump, "-o", minidump]))
    return minidump
  }

  private func walk(_ dump: String, store: String?, factor: Double, rounds: Int) throws {
    let paths = store.map { ["--symbols", $0] } ?? []
    let own = ["symbolize", "--threads", "all", dump] + paths
    var contenders: [Contender] = []
    if let peer = Command.find("minidump_stackwalk") {
      contenders.append(Contender("minidump_stackwalk", Command(peer, [dump] + (store.map { [$0] } ?? []))))
    }
    contenders.append(Contender("symbolize", Command(workspace.tool, own, accepting: [0, 1])))
    contenders.append(
      Contender(
        "symbolize, 9 dumps",
        Command(workspace.tool, own + Array(repeating: dump, count: 8) + ["-j", "1"], accepting: [0, 1])))
    let results = try workspace.interleave(contenders, rounds: rounds)
    showProcessorTime(results)
    if contenders.count > 2 {
      print(
        "  "
          + Text.goal(
            "\(factor) of minidump_stackwalk's processor time", results[1].processor <= results[0].processor * factor))
    } else {
      print("  Breakpad's minidump_stackwalk is not on the PATH")
    }
  }

  func showProcessorTime(_ results: [Timing]) {
    var table = Table("", "user ms", "system ms", "both", "ratio", "median ms", "peak MiB")
    for result in results {
      table.add(
        result.name, Text.milliseconds(result.user.median), Text.milliseconds(result.system.median),
        Text.milliseconds(result.processor), Text.ratio(result.processor / results[0].processor),
        Text.milliseconds(result.wall.median), Text.mebibytes(result.peakBytes))
    }
    table.show()
  }
}

extension Timing {
  /// Seconds of user and system time.
  var processor: Double { user.median + system.median }
}
