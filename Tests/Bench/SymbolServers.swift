// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import FoundationEssentials
import Glibc

/// Files of symbols from a server on this machine: beside curl, which downloads the same files at once.
extension Bench {
  func servers() throws {
    guard let nginx = Command.find("nginx") ?? Command.find("../sbin/nginx") else {
      return print("\nServers: left out, as nginx is not on the PATH")
    }
    let count = full(200, quick: 40)
    let rounds = full(21, quick: 5)
    let files = try workspace.make(.servedFiles, count, "served")
    let dump = try workspace.make(.servedDump, count, "served.idump")
    let server = try WebServer(nginx, workspace, serving: files)
    defer { server.end() }
    title("Symbol files of \(count) modules from a server on this machine; \(rounds) runs")
    try compare(
      server.url, server.url, (0..<count).map(ServedRecipe.path), dump, local: files, walks: true, rounds)
    guard let compiler = Command.find("g++") ?? Command.find("c++") else { return }
    let builtDump = try workspace.make(.builtDump, count, "built.idump")
    try makePrograms(compiler, count, below: files)
    title("Debug information of \(count) ELF files from that server, as from debuginfod; \(rounds) runs")
    try compare(
      server.url, "debuginfod+\(server.url)", (0..<count).map(ServedRecipe.builtPath), builtDump, local: nil,
      walks: false, rounds)
    try workspace.remove(files)
  }

  private func compare(
    _ url: String, _ server: String, _ paths: [String], _ dump: String, local: String?, walks: Bool, _ rounds: Int
  ) throws {
    let (folder, list) = (workspace.file("downloads"), workspace.file("urls"))
    let lines = paths.map { "url = \"\(url)/\($0)\"\noutput = \"\(folder)/\($0)\"\n" }
    try writeFile(list, Array(lines.joined().utf8))
    func own(_ words: [String], _ cache: String) -> Command {
      Command(
        workspace.tool, words + ["--no-system", "--symbols-url", server, "--symbols-cache", cache, dump],
        accepting: [0, 1])
    }
    let (cold, warm) = (workspace.file("cold-cache"), workspace.file("warm-cache"))
    let check = ["symbols", "check"]
    var contenders = [
      Contender(
        "curl --parallel", Command(try need("curl"), ["-sS", "-f", "--parallel", "--create-dirs", "-K", list]),
        output: folder),
      Contender("check, cold", own(check, cold), output: cold), Contender("check, warm", own(check, warm)),
    ]
    if let local {
      contenders.append(
        Contender(
          "check, local files",
          Command(workspace.tool, check + ["--no-system", "--symbols", local, dump], accepting: [0, 1])))
    }
    if walks {
      let walk = workspace.file("walk-cache")
      contenders.append(Contender("symbolize, cold", own(["symbolize", "--threads", "all"], walk), output: walk))
    }
    let results = try workspace.interleave(contenders, rounds: rounds)
    showProcessorTime(results)
    func ratio(_ index: Int, to base: Int) -> Double {
      results[index].wall.paired(with: results[base].wall) { $0 / $1 }.median
    }
    for index in walks ? [1, results.count - 1] : [1] {
      let first = ratio(index, to: 0)
      let name = "1.3x curl, \(results[index].name): \(Text.ratio(first)) of the same round's"
      print("  " + Text.goal(name, first <= 1.3))
    }
    if local != nil {
      let last = ratio(2, to: 3)
      print("  " + Text.goal("no slower than local files, warm: \(Text.ratio(last))", last <= 1))
    }
    try workspace.remove(warm)
  }

  /// Programs of 250 KB that differ in their build ids.
  private func makePrograms(_ compiler: String, _ count: Int, below root: String) throws {
    let program = workspace.file("built")
    let source = workspace.file("built.cc")
    let text = """
      #include <map>
      #include <string>
      std::map<std::string, int> m;
      int main(int c, char **v) { m[v[0]] = c; return m.size(); }

      """
    try writeFile(source, Array(text.utf8))
    let id = (0..<20).map { UInt8(0xa0 + $0) }
    try workspace.run(
      Command(compiler, ["-g", "-O1", "-Wl,--build-id=0x\(Hex.digits(id))", source, "-o", program]))
    var bytes = Array(FileManager.default.contents(atPath: program) ?? Data())
    guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: id) }) else {
      throw BenchError(text: "\(program) has no build id")
    }
    for index in 0..<count {
      bytes.replaceSubrange(place..<place + id.count, with: ServedRecipe.buildID(index))
      let path = "\(root)/\(ServedRecipe.builtPath(index))"
      try FileManager.default.createDirectory(
        atPath: String(path[..<path.lastIndex(of: "/")!]), withIntermediateDirectories: true)
      try writeFile(path, bytes)
    }
  }
}

/// nginx on a port of its own, until its end is called.
private struct WebServer {
  let url: String
  private let stop: Command
  private let workspace: Workspace

  init(_ nginx: String, _ workspace: Workspace, serving folder: String) throws {
    let port = try Self.freePort()
    let (settings, own) = (workspace.file("nginx.conf"), workspace.file("nginx"))
    try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
    let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(own)/\($0);" }
    let text = """
      \(getuid() == 0 ? "user root;" : "")
      worker_processes 2; pid \(own)/pid; error_log \(own)/errors;
      events {}
      http {
        access_log off; sendfile on; keepalive_requests 10000; \(places.joined(separator: " "))
        server { listen 127.0.0.1:\(port); root \(folder); }
      }

      """
    try writeFile(settings, Array(text.utf8))
    self.workspace = workspace
    url = "http://127.0.0.1:\(port)"
    stop = Command(nginx, ["-c", settings, "-s", "stop"])
    try workspace.run(Command(nginx, ["-c", settings]))
  }

  func end() { _ = try? workspace.run(stop) }

  private static func freePort() throws -> Int {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard isBound else { throw BenchError(text: "no port is free") }
    return Int(address.sin_port.bigEndian)
  }
}
