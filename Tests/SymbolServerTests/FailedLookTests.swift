// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Synchronization
import Testing
import ToolRunner

/// A server that does not answer says nothing about what it has: no command makes a fact of that.
@Suite("Looks that fail")
struct FailedLookTests {
  private typealias Sample = SymbolServerTests.Sample

  /// A server with the file of a sample, which answers with `status` instead while that is not 200.
  private struct Server {
    let sample: Sample
    let files: FileServer
    private final class State: Sendable { let status = Mutex(200) }
    private let state = State()

    init() throws {
      let sample = try Sample()
      self.sample = sample
      // The program itself, whose function at fault is in the signature.
      let missing = try Tool.run(["symbolize", "--missing", "--no-system", "crash.idump"], in: sample.folder)
      let line = try #require(missing.outputLines.first { $0.hasPrefix("Example\t") }, "\(missing.text)")
      let words = line.split(separator: "\t").map(String.init)
      // The name before an address is in no signature; that of a function around it is.
      let symbols = Array("MODULE mac arm64 \(words[1]) Example\nFUNC 0 f000000 0 from_a_server\n".utf8)
      let (state, place) = (self.state, "/" + words[3])
      files = try FileServer { path in
        let status = state.status.withLock { $0 }
        // A portal answers with a page of its own, or leads to one.
        if status == Self.portal { return .file(Array("<!DOCTYPE html><html>log in</html>".utf8)) }
        if status == 302 { return .redirect(path == "/login" ? "/login/again" : "/login") }
        return status != 200 ? .status(status) : path == place ? .file(symbols) : .status(404)
      }
    }

    static let portal = 1

    func answer(_ status: Int) { state.status.withLock { $0 = status } }

    func run(_ command: String) throws -> Tool.Outcome {
      try Tool.shell(
        "exec crashpadctl \(command) --no-system --symbols-cache cache --symbols-url \(files.url) crash.idump",
        in: sample.folder)
    }

    func forget() throws { try FileManager.default.removeItem(at: sample.folder.url("cache")) }
  }

  private static let events = "events --cursor cursor -o events.ndjson"

  private func lines(_ server: Server) -> [String] {
    let bytes = (try? server.sample.folder.bytes(of: "events.ndjson")) ?? []
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Statuses that say nothing of the file.
  private static let silences = [500, 302, Server.portal]

  @Test("An event waits for its names while servers do not answer, and is written once", arguments: silences)
  func events(status: Int) throws {
    let server = try Server()
    server.answer(status)
    let down = try server.run(Self.events)
    #expect(down.status == 75 && down.errorText.contains("crash.idump: error: its symbols"), "\(down.errorText)")
    #expect(lines(server).isEmpty)
    server.answer(200)
    #expect(try server.run(Self.events).status == 0)
    let written = lines(server)
    #expect(!written.isEmpty && written.joined().contains("from_a_server"))
    #expect(try server.run(Self.events).status == 0)
    #expect(lines(server) == written)
  }

  @Test(
    "An event of an old dump is written without names, and so is one whose server has answered",
    arguments: [500, 403, 404])
  func nameless(status: Int) throws {
    let server = try Server()
    server.answer(status)
    let age = status == 500 ? " --now \(Int(Date().timeIntervalSince1970) + 4 * 86_400)" : ""
    let outcome = try server.run(Self.events + age)
    #expect(outcome.status == 0, "\(outcome.errorText)")
    #expect(!lines(server).isEmpty)
  }

  @Test(
    "A group without its names is not called new while servers do not answer",
    arguments: ["", " --index i", " --dump-timeout 60s"])
  func groups(options: String) throws {
    let server = try Server()
    let base = try server.run("group --format json")
    #expect(base.status == 0)
    try server.sample.folder.write([UInt8](base.output), to: "base.json")
    let gate = "group --fail-on new:base.json" + options
    try server.forget()
    server.answer(500)
    let down = try server.run(gate)
    #expect(down.status == 75, "\(down.errorText)")
    #expect(!down.errorText.contains("new group") && down.errorText.contains("symbols could not be looked up"))
    let document = try JSONDocument(server.run(gate + " --format json").output)
    #expect(document["groups"].array.first?["new"].bool == nil)
    // It has answered, and has no names: the group is another one.
    server.answer(404)
    #expect(try server.run(gate).status == 1)
    try server.forget()
    server.answer(200)
    #expect(try server.run(gate).status == (options.contains("index") ? 1 : 0))
  }

  @Test("Symbols of which it is not known whether they are there are not called missing", arguments: silences)
  func check(status: Int) throws {
    let server = try Server()
    server.answer(status)
    let down = try server.run("symbols check --module Example")
    #expect(down.status == 75 && !down.errorText.contains("FAILED"), "\(down.errorText)")
    #expect(down.errorText.contains("is not known"))
    let stack = try server.run("symbolize").text
    #expect(stack.contains("a symbol server that may have them could not be asked"), "\(stack)")
    server.answer(404)
    #expect(try server.run("symbols check --module Example").status == 1)
    try server.forget()
    server.answer(200)
    #expect(try server.run("symbols check --module Example").status == 0)
  }
}
