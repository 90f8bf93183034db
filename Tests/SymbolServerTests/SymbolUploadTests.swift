// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Synchronization
import Testing
import ToolRunner

/// `symbols upload` against servers on the loopback interface.
@Suite("Uploads of symbols")
struct SymbolUploadTests {
  private static let ids = (1...3).map { "00112233445566778899AABBCCDDEE0\($0)0" }

  private static func sym(_ number: Int, more: String = "") -> String {
    "MODULE Linux x86_64 \(ids[number]) lib\(number).so\nPUBLIC 1000 0 work\(number)\n\(more)"
  }

  private static func place(_ number: Int) -> String { "lib\(number).so/\(ids[number])/lib\(number).so.sym" }

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for number in 0..<3 { try folder.write(Array(Self.sym(number).utf8), to: "symbols/\(Self.place(number))") }
    try folder.write(Array("no symbols\n".utf8), to: "symbols/notes.txt")
    return folder
  }

  private func upload(_ folder: TemporaryFolder, to target: String, _ more: String = "") throws -> Tool.Outcome {
    try Tool.shell(
      "crashpadctl symbols upload symbols --to '\(target)' --token secret1 --record record \(more)", in: folder)
  }

  /// The names of the members of the archive in a form, and what they hold.
  private func members(_ post: FileServer.Post) throws -> [String: String] {
    let body = Data(post.body)
    let start = try #require(body.range(of: Data("PK\u{3}\u{4}".utf8))).lowerBound
    let end = try #require(body.range(of: Data("\r\n-----".utf8), options: .backwards)).lowerBound
    let folder = try TemporaryFolder()
    try folder.write(Array(body[start..<end]), to: "a.zip")
    let script = "import zipfile; z = zipfile.ZipFile('a.zip'); assert z.testzip() is None; "
    let names = try Tool.shell(
      "python3 -c \"\(script) print(*[n + '=' + z.read(n).decode().replace('\\n', '|') for n in z.namelist()])\"",
      in: folder)
    try #require(names.status == 0, "\(names.errorText)")
    let text = names.text.split(separator: "\n").first ?? ""
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    return [parts[0]: parts[1]]
  }

  @Test("Tecken gets each file once, in an archive with its place; a second run sends nothing")
  func tecken() throws {
    let folder = try folder()
    let server = try FileServer { _ in .status(201) }
    let first = try upload(folder, to: "tecken=\(server.url)/")
    #expect(first.status == 0)
    #expect(first.errorText.contains("3 files sent to http://127.0.0.1"), "\(first.errorText)")
    #expect(server.paths == Array(repeating: "/upload/", count: 3))
    #expect(server.fields.filter { $0 == "Auth-Token: secret1" }.count == 3)
    var all: [String: String] = [:]
    for post in server.posts { all.merge(try members(post)) { one, _ in one } }
    #expect(
      all
        == Dictionary(
          uniqueKeysWithValues: (0..<3).map {
            (Self.place($0), Self.sym($0).replacingOccurrences(of: "\n", with: "|"))
          }))

    let second = try upload(folder, to: "tecken=\(server.url)/")
    #expect(second.status == 0)
    #expect(second.errorText.contains("0 files sent") && second.errorText.contains("3 there already"))
    #expect(server.paths.count == 3)

    // Another content is another file, and another server has none.
    try folder.write(Array(Self.sym(1, more: "PUBLIC 2000 0 more\n").utf8), to: "symbols/\(Self.place(1))")
    _ = try upload(folder, to: "tecken=\(server.url)/")
    #expect(server.paths.count == 4)
    #expect(!(try String(contentsOf: folder.url("record"), encoding: .utf8)).contains("secret1"))
  }

  @Test("Sentry gets debug files at its project, and a dry run makes no request")
  func sentry() throws {
    let folder = try folder()
    // A server of another make, which takes no parts.
    let server = try FileServer { .status($0.contains("chunk-upload") ? 404 : 201) }
    let plan = try upload(folder, to: "sentry=\(server.url)/acme/app", "--dry-run --format json")
    #expect(plan.text.contains("\"outcome\": \"sent\""))
    #expect(server.paths.isEmpty)
    let sent = try upload(folder, to: "sentry=\(server.url)/acme/app")
    #expect(sent.status == 0, "\(sent.errorText)")
    #expect(
      server.paths.filter { !$0.contains("chunk-upload") }
        == Array(repeating: "/api/0/projects/acme/app/files/dsyms/", count: 3))
    #expect(server.fields.contains("Authorization: Bearer secret1"))
  }

  @Test(
    "Sentry has a file only if its list has the id that was asked for",
    arguments: [
      (#"[{"debugId": "00112233-4455-6677-8899-aabbccddee02-0"}]"#, 2), ("[]", 3),
      (#"[{"debugId": "99112233-4455-6677-8899-aabbccddee02"}, {"name": "a"}]"#, 3),
      (#"{"debugId": "00112233-4455-6677-8899-aabbccddee02"}"#, nil), ("<html>", nil),
    ] as [(String, Int?)])
  func sentryList(_ list: String, _ sent: Int?) throws {
    let folder = try folder()
    let server = try FileServer {
      $0.contains("debug_id=") ? .file(Array(list.utf8)) : .status($0.contains("chunk-upload") ? 404 : 201)
    }
    #expect(try upload(folder, to: "sentry=\(server.url)/acme/app").status == 0)
    // As runs leave it that were killed before the server answered.
    _ = try Tool.shell("sed -i /^sent/d record", in: folder)
    let next = try upload(folder, to: "sentry=\(server.url)/acme/app")
    // All of the three files are asked for, and the list has that of one.
    #expect(server.posts.count == 3 + (sent ?? 0), "\(next.errorText)")
    #expect((next.status == 0) == (sent != nil))
    #expect(next.errorText.contains("is not known: its answer is no list") == (sent == nil))
  }

  @Test("A server that is busy is asked again; a file that it refuses does not keep the others")
  func retries() throws {
    let folder = try folder()
    let count = Mutex(0)
    let server = try FileServer { path in
      guard path == "/upload/" else { return .status(404) }
      let number = count.withLock { count in
        count += 1
        return count
      }
      return .status([1: 503, 2: 201, 3: 400, 4: 201][number] ?? 201)
    }
    let outcome = try upload(folder, to: "tecken=\(server.url)")
    #expect(
      outcome.errorText.contains("2 files sent") && outcome.errorText.contains("1 refused"), "\(outcome.errorText)")
    #expect(outcome.status == 1)
    #expect(server.posts.count == 4)
    let next = try upload(folder, to: "tecken=\(server.url)")
    #expect(next.errorText.contains("1 file sent") && next.errorText.contains("2 there already"), "\(next.errorText)")
  }

  @Test("A wrong token ends the run after one request")
  func wrongToken() throws {
    let folder = try folder()
    let server = try FileServer { _ in .status(403) }
    let outcome = try upload(folder, to: "tecken=\(server.url)", "--format json")
    #expect(outcome.status == 2)
    #expect(server.posts.count == 1)
    #expect(outcome.text.contains("\"not_sent\""))
    #expect(!outcome.text.contains("secret1") && !outcome.errorText.contains("secret1"))
  }

  @Test(
    "A run that was killed while it sent leaves the rest to the next one, which asks whether the server has the file",
    arguments: [true, false])
  func killed(serverHasIt: Bool) throws {
    let folder = try folder()
    let posts = Mutex(0)
    let isSlow = Mutex(true)
    let server = try FileServer { path in
      guard path == "/upload/" else { return serverHasIt ? .file(Array("MODULE".utf8)) : .status(404) }
      let number = posts.withLock { posts in
        posts += 1
        return posts
      }
      return number == 2 && isSlow.withLock { $0 } ? .hang : .status(201)
    }
    let process = try Tool.start(
      ["symbols", "upload", "symbols", "--to", "tecken=\(server.url)", "--record", "record"], in: folder)
    for _ in 0..<1000 where server.posts.count < 2 { usleep(10_000) }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    isSlow.withLock { $0 = false }
    #expect(server.posts.count == 2)
    let next = try upload(folder, to: "tecken=\(server.url)")
    #expect(next.status == 0, "\(next.errorText)")
    // The file that was under way is sent again only if the server says that it does not have it.
    #expect(server.posts.count == (serverHasIt ? 3 : 4))
    let last = try upload(folder, to: "tecken=\(server.url)")
    #expect(last.errorText.contains("3 there already"))
    #expect(server.posts.count == (serverHasIt ? 3 : 4))
  }

  @Test("A run that is asked to end finishes the file that it sends, and the next one sends the rest")
  func ended() throws {
    let folder = try folder()
    let server = try FileServer { path in
      guard path == "/upload/" else { return .status(404) }
      usleep(300_000)
      return .status(201)
    }
    let run = "crashpadctl symbols upload symbols --to tecken=\(server.url) --record record"
    // It sends the first file when the record has it.
    let wait = "while ! grep -q open record 2> none; do sleep 0.01; done"
    let first = try Tool.shell("\(run) & tool=$!; \(wait); kill -TERM $tool; wait $tool; echo $?", in: folder)
    #expect(first.text == "75\n", "\(first.errorText)")
    #expect(first.errorText.contains("asked to end; the next run sends the rest"), "\(first.errorText)")
    #expect(first.errorText.contains("1 file sent") && first.errorText.contains("2 not sent"), "\(first.errorText)")
    #expect(server.posts.count == 1)
    let next = try Tool.shell(run, in: folder)
    #expect(next.status == 0 && next.errorText.contains("2 files sent"), "\(next.errorText)")
    #expect(server.posts.count == 3)
  }

  @Test("A pause between two tries ends with the run, and a limit of time ends a run as a signal does")
  func endedPause() throws {
    let folder = try folder()
    let server = try FileServer { $0 == "/upload/" ? .status(503) : .status(404) }
    let start = Date()
    let outcome = try upload(folder, to: "tecken=\(server.url)", "--max-time 500ms --attempts 20")
    #expect(outcome.status == 75 && outcome.errorText.contains("3 not sent"), "\(outcome.errorText)")
    #expect(Date().timeIntervalSince(start) < 10)
    let copy = try upload(folder, to: "s3-layout=store", "--max-time 1ms")
    #expect([0, 75].contains(copy.status), "\(copy.errorText)")
  }

  @Test("Runs at once send each file once")
  func atOnce() throws {
    let folder = try folder()
    let server = try FileServer { _ in .status(201) }
    let one = "crashpadctl symbols upload symbols --to tecken=\(server.url) --record record"
    let outcome = try Tool.shell("\(one) & \(one) & \(one) & wait", in: folder)
    #expect(outcome.status == 0)
    #expect(server.posts.count == 3, "\(outcome.errorText)")
  }

  @Test("A directory gets the layout of a store, and a file of another content is kept")
  func directory() throws {
    let folder = try folder()
    let first = try upload(folder, to: "s3-layout=store")
    #expect(first.status == 0 && first.errorText.contains("3 files sent to store"), "\(first.errorText)")
    for number in 0..<3 {
      #expect(try String(contentsOf: folder.url("store/" + Self.place(number)), encoding: .utf8) == Self.sym(number))
    }
    #expect(try upload(folder, to: "s3-layout=store").errorText.contains("3 there already"))
    try folder.write(Array(Self.sym(1, more: "PUBLIC 2000 0 more\n").utf8), to: "symbols/\(Self.place(1))")
    let other = try upload(folder, to: "s3-layout=store")
    #expect(other.status == 1 && other.errorText.contains("another file has its place"))
  }

  @Test("A compressed file is sent and copied as what it holds, and is the same file the next time")
  func compressed() throws {
    let folder = try TemporaryFolder()
    try folder.write(Packing.gzip(Array(Self.sym(1).utf8)), to: "symbols/lib1.so.sym.gz")
    let server = try FileServer { _ in .status(201) }
    let sent = try upload(folder, to: "tecken=\(server.url)")
    #expect(sent.status == 0, "\(sent.errorText)")
    let post = try #require(server.posts.first)
    #expect(try members(post) == [Self.place(1): Self.sym(1).replacingOccurrences(of: "\n", with: "|")])
    // The same file without compression.
    try folder.write(Array(Self.sym(1).utf8), to: "symbols/other.sym")
    #expect(try upload(folder, to: "tecken=\(server.url)").errorText.contains("2 there already"))

    for command in [
      "upload symbols/lib1.so.sym.gz --to s3-layout=store", "index symbols/lib1.so.sym.gz --copy -o copies",
    ] {
      for _ in 0..<2 {
        let result = try Tool.shell("crashpadctl symbols \(command)", in: folder)
        #expect(result.status == 0, "\(result.errorText)")
      }
    }
    for name in ["store", "copies"] {
      #expect(try String(contentsOf: folder.url("\(name)/" + Self.place(1)), encoding: .utf8) == Self.sym(1))
    }
  }

  @Test("Without --record, each server has a record below the directory of states")
  func standardRecord() throws {
    let folder = try folder()
    let server = try FileServer { _ in .status(201) }
    let command = "XDG_STATE_HOME=$PWD/state crashpadctl symbols upload symbols --to tecken="
    for path in ["a", "b", "a"] { _ = try Tool.shell(command + "\(server.url)/\(path)", in: folder) }
    #expect(server.paths == Array(repeating: "/a/upload/", count: 3) + Array(repeating: "/b/upload/", count: 3))
    let records = try Tool.shell("ls state/crashpadctl/symbol-uploads", in: folder).outputLines.filter { !$0.isEmpty }
    #expect(records.count == 2)
  }
}
