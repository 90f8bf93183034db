// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// The cost of uploading: against curl, started once for each report, and in memory.
extension Bench {
  func upload() throws {
    let collector = try CollectorChild(workspace)
    defer { collector.end() }
    try uploadRate(collector)
    try uploadMemory(collector)
  }

  private func uploadRate(_ collector: CollectorChild) throws {
    let count = full(10_000, quick: 1000)
    // As many as take some seconds; a process is one like the other.
    let curls = full(500, quick: 100)
    let rounds = full(3, quick: 2)
    let reports = try workspace.make(.uploads, count, "uploads")
    let bytes = try workspace.total("\(reports)/pending")
    title(
      "Upload \(Text.grouped(count)) reports, \(Text.grouped(bytes)) bytes, to a server on this machine; \(rounds) runs, "
        + "curl with \(curls) of them")
    let database = workspace.file("upload-database")
    func upload(_ name: String, _ options: [String]) -> Contender {
      Contender(
        name, Command(workspace.tool, ["upload", "-q", "-d", database, "--url", collector.url] + options),
        output: database,
        prepare: { try workspace.run(Command(try need("cp"), ["-r", reports, database])) })
    }
    let script = workspace.file("curls")
    try writeFile(script, Array(try curlScript(reports, curls, collector.url).utf8))
    let contenders = [
      Contender("curl, once for each", Command(try need("sh"), [script])),
      upload("upload", []), upload("upload --no-gzip", ["--no-gzip"]), upload("upload -j 1", ["-j", "1"]),
    ]
    let results = try workspace.interleave(contenders, rounds: rounds)
    var table = Table("", "reports/s", "best", "ratio", "user us each", "system us each", "peak MiB")
    func rate(_ result: Timing) -> Double {
      Double(result.name == results[0].name ? curls : count) / result.wall.median
    }
    for result in results {
      let number = Double(result.name == results[0].name ? curls : count)
      table.add(
        result.name, Text.fixed(rate(result), 0), Text.fixed(number / result.wall.minimum, 0),
        Text.ratio(rate(result) / rate(results[0])), Text.fixed(result.user.median / number * 1e6, 0),
        Text.fixed(result.system.median / number * 1e6, 0), Text.mebibytes(result.peakBytes))
    }
    table.show()
    print("  " + Text.goal("5x curl", results[1...].allSatisfy { rate($0) >= 5 * rate(results[0]) }))
    try workspace.remove(reports)
  }

  /// The fields that the tool sends of such a report, and the file.
  private func curlScript(_ reports: String, _ count: Int, _ url: String) throws -> String {
    let curl = try need("curl")
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(reports)/pending").sorted()
      .filter { $0.hasSuffix(".dmp") }.prefix(count)
    let fields = (Recipe.uploadFields + [("guid", Recipe.uploadClient)]).map { "-F '\($0.0)=\($0.1)'" }
      .joined(separator: " ")
    return names.map { name in
      "'\(curl)' -sS -f -o /dev/null \(fields) "
        + "-F 'upload_file_minidump=@\(reports)/pending/\(name);type=application/octet-stream' '\(url)' || exit 1\n"
    }.joined()
  }

  private func uploadMemory(_ collector: CollectorChild) throws {
    let (few, many) = (100, full(10_000, quick: 1000))
    let large = full(1 << 30, quick: 64 << 20)
    title("Memory of uploads")
    var table = Table("", "gzip MiB", "--no-gzip MiB", "gzip s", "--no-gzip s")
    var peaks: [[Int]] = []
    for (name, recipe, number) in [
      ("\(few) reports", Recipe.uploads, few), ("\(Text.grouped(many)) reports", .uploads, many),
      ("one sparse report of \(large >> 20) MiB", .hugeUpload, large),
    ] {
      let runs = try [[], ["--no-gzip"]].map { options in
        let database = try workspace.make(recipe, number, "upload-memory")
        defer { try? workspace.remove(database) }
        return try workspace.run(
          Command(workspace.tool, ["upload", "-q", "-d", database, "--url", collector.url] + options))
      }
      table.add([name] + runs.map { Text.mebibytes($0.peakBytes) } + runs.map { Text.fixed($0.seconds, 1) })
      peaks.append(runs.map(\.peakBytes))
    }
    table.show()
    let grew = zip(peaks[0], peaks[1]).map { $1 - $0 }.max() ?? 0
    print("  " + Text.goal("flat: \(Text.mebibytes(grew)) MiB more for \(many / few) times as many", grew < 4 << 20))
    print("  " + Text.goal("32 MiB for any report", peaks[2].allSatisfy { $0 < 32 << 20 }))
  }
}

/// The collector beside this program, which only counts.
private final class CollectorChild {
  let url: String
  private let child: pid_t
  /// It runs as long as this is open.
  private let input: Int32

  init(_ workspace: Workspace) throws {
    let path = URL(fileURLWithPath: workspace.program).deletingLastPathComponent().appending(path: "collector").path
    guard FileManager.default.isExecutableFile(atPath: path) else { throw BenchError(text: "no program: \(path)") }
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw BenchError(text: "no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let said = workspace.file("collector")
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, said, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let arguments = [path, "--discard"]
    var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var variables: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
    var child: pid_t = 0
    let failure = unsafe posix_spawn(&child, path, &actions, nil, &words, &variables)
    close(ends[0])
    guard failure == 0 else { throw BenchError(text: "cannot run \(path): error \(failure)") }
    self.child = child
    input = ends[1]
    var port: Substring?
    for _ in 0..<1000 where port == nil {
      usleep(10_000)
      let text = String(decoding: FileManager.default.contents(atPath: said) ?? Data(), as: UTF8.self)
      if text.hasSuffix("\n") { port = text.split(whereSeparator: \.isWhitespace).last }
    }
    guard let port else { throw BenchError(text: "the collector says nothing") }
    url = "http://127.0.0.1:\(port)/submit"
  }

  func end() {
    close(input)
    var status: Int32 = 0
    unsafe _ = waitpid(child, &status, 0)
  }
}
