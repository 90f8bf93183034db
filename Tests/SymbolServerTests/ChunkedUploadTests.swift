// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
import ToolRunner

/// `symbols upload` to servers of Sentry that take files in parts.
@Suite("Uploads of symbols in parts")
struct ChunkedUploadTests {
  private static func sym(_ number: Int) -> String {
    "MODULE Linux x86_64 00112233445566778899AABBCCDDEE0\(number)0 lib\(number).so\nPUBLIC 1000 0 work\(number)\n"
  }

  private static let dsyms = "/api/0/projects/acme/app/files/dsyms/"

  private func folder(_ count: Int = 3) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for number in 0..<count { try folder.write(Array(Self.sym(number).utf8), to: "symbols/lib\(number).so.sym") }
    return folder
  }

  private func upload(
    _ folder: TemporaryFolder, _ sentry: FakeSentry, _ more: String = "", record: String = "record"
  ) throws -> Tool.Outcome {
    try Tool.shell(
      "crashpadctl symbols upload symbols --to '\(sentry.target)' --token secret1 --record \(record) \(more)",
      in: folder)
  }

  /// Checks that the server has each file, whole and under the right digests.
  private func check(_ sentry: FakeSentry, has numbers: [Int]) throws {
    let state = sentry.change { $0 }
    #expect(state.files.keys.sorted() == numbers.map { "lib\($0).so.sym" })
    let folder = try TemporaryFolder()
    for (digest, part) in state.parts {
      try folder.write(part.bytes, to: "parts/\(digest)\(part.isCompressed ? ".gz" : "")")
    }
    let unpacked = try Tool.shell(
      "cd parts && if ls *.gz > list 2> none; then gunzip *.gz; fi; rm -f list none", in: folder)
    try #require(unpacked.status == 0, "\(unpacked.errorText)")
    for (name, file) in state.files {
      var bytes: [UInt8] = []
      for part in file.parts { bytes += try folder.bytes(of: "parts/\(part)") }
      try folder.write(bytes, to: "parts/\(file.digest)")
      #expect(String(decoding: bytes, as: UTF8.self) == Self.sym(Int(name.filter(\.isNumber)) ?? 9))
    }
    let digests = try Tool.shell("cd parts && sha1sum * | awk '$1 != $2'", in: folder)
    #expect(digests.status == 0 && digests.text.isEmpty, "\(digests.text)")
  }

  @Test(
    "Each part is sent once, in requests as large as the server takes; another run sends nothing",
    arguments: [true, false])
  func parts(compresses: Bool) throws {
    let folder = try folder()
    let sentry = try FakeSentry { if !compresses { $0.settings["compression"] = nil } }
    let first = try upload(folder, sentry)
    #expect(first.status == 0 && first.errorText.contains("3 files sent"), "\(first.errorText)")
    try check(sentry, has: [0, 1, 2])
    let state = sentry.change { $0 }
    #expect(state.parts.values.allSatisfy { $0.isCompressed == compresses })
    // The first part of all files is the same.
    #expect(state.requests.map(\.count) == [2, 1, 2, 2])
    #expect(Set(state.requests.joined()).count == 7)
    let server = sentry.server
    #expect(server.fields.filter { $0 == "Authorization: Bearer secret1" }.count == server.paths.count)
    #expect(!server.paths.contains(Self.dsyms))

    let count = server.paths.count
    #expect(try upload(folder, sentry).errorText.contains("3 there already"))
    #expect(server.paths.count == count + 0)
    let other = try upload(folder, sentry, record: "other")
    #expect(other.status == 0 && other.errorText.contains("3 there already"), "\(other.errorText)")
    #expect(sentry.change { $0.requests.count } == 4)
  }

  @Test("A run that was killed between two requests leaves the rest to the next one")
  func killed() throws {
    let folder = try folder()
    let posts = Mutex(0)
    let isSlow = Mutex(true)
    let sentry = try FakeSentry {
      $0.settings["chunksPerRequest"] = 1
      $0.other = { post in
        guard post.path == FakeSentry.settingsPath, !post.body.isEmpty else { return nil }
        let number = posts.withLock { posts in
          posts += 1
          return posts
        }
        return number == 2 && isSlow.withLock { $0 } ? .hang : nil
      }
    }
    let process = try Tool.start(
      ["symbols", "upload", "symbols", "--to", sentry.target, "--record", "record"], in: folder)
    for _ in 0..<1000 where posts.withLock({ $0 }) < 2 { usleep(10_000) }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    isSlow.withLock { $0 = false }
    let next = try upload(folder, sentry)
    #expect(next.status == 0 && next.errorText.contains("3 files sent"), "\(next.errorText)")
    try check(sentry, has: [0, 1, 2])
    #expect(sentry.change { $0.requests.map(\.count) } == Array(repeating: 1, count: 7))
  }

  @Test("A file that the server can't make is refused with its reason, and the others are sent")
  func refused() throws {
    let folder = try folder(1)
    let sentry = try FakeSentry { $0.states = ["created", "error"] }
    let outcome = try upload(folder, sentry)
    #expect(
      outcome.status == 1 && outcome.errorText.contains("the server says: no such format"), "\(outcome.errorText)")
    #expect(outcome.errorText.contains("1 refused"))
    // It is sent again, as nothing says that it was taken.
    sentry.change { $0.states = ["ok"] }
    let next = try upload(folder, sentry)
    #expect(next.status == 0, "\(next.errorText)")
    try check(sentry, has: [0])
  }

  @Test("A file of which the server makes nothing is no file that was sent; a later run asks for it")
  func unfinished() throws {
    let folder = try folder()
    let sentry = try FakeSentry { $0.states = ["created", "assembling"] }
    let outcome = try upload(folder, sentry, "--timeout 1s")
    #expect(outcome.status == 2 && outcome.errorText.contains("3 failed"), "\(outcome.errorText)")
    #expect(outcome.errorText.contains("the server has all of it, and makes no file of it"), "\(outcome.errorText)")
    sentry.change { $0.states = ["ok"] }
    let next = try upload(folder, sentry)
    #expect(next.status == 0 && next.errorText.contains("3 there already"), "\(next.errorText)")
    #expect(sentry.change { $0.requests.count } == 4)
  }

  @Test(
    "A server that takes no parts of symbol files, or in a way that is not known, gets each file as a whole",
    arguments: [
      #"{"chunkSize": 0}"#, "[]", "<html>", #"{"chunkSize": 32, "hashAlgorithm": "sha256"}"#,
      #"{"hashAlgorithm": "sha1"}"#,
      #"{"chunkSize": 32, "hashAlgorithm": "sha1", "accept": ["release_files"]}"#,
      #"{"chunkSize": 9000000000000000000, "hashAlgorithm": "sha1"}"#, "404", "405",
    ])
  func whole(_ settings: String) throws {
    let folder = try folder()
    let sentry = try FakeSentry {
      $0.settingsAnswer = Int(settings).map { .status($0) } ?? .file(Array(settings.utf8))
      $0.other = { $0.path == Self.dsyms ? .status(201) : nil }
    }
    let outcome = try upload(folder, sentry)
    #expect(outcome.status == 0 && outcome.errorText.contains("3 files sent"), "\(outcome.errorText)")
    #expect(sentry.server.paths == [FakeSentry.settingsPath] + Array(repeating: Self.dsyms, count: 3))
  }

  @Test(
    "An answer that does not say how parts are taken leaves the files for the next run",
    arguments: [(401, 1), (403, 1), (302, 2), (500, 2), (503, 2)])
  func noSettings(_ status: Int, _ requests: Int) throws {
    let folder = try folder()
    let sentry = try FakeSentry { $0.settingsAnswer = .status(status) }
    let outcome = try upload(folder, sentry, "--attempts 2 --format json")
    #expect(outcome.status == 2 && outcome.text.contains("\"not_sent\""), "\(outcome.text)\(outcome.errorText)")
    let reason = status == 302 ? "it redirects to an address that is not used" : "the server answered \(status)"
    #expect(outcome.errorText.contains(reason), "\(outcome.errorText)")
    #expect(sentry.server.paths.count == requests)
    sentry.change { $0.settingsAnswer = nil }
    #expect(try upload(folder, sentry).errorText.contains("3 files sent"))
  }

  @Test(
    "An answer that does not name the file, or asks for nothing that it lacks, is no word about the file",
    arguments: [
      "{}", "[]", "no", #"{"DIGEST": {"state": "done"}}"#,
      #"{"DIGEST": {"state": "not_found", "missingChunks": ["0"]}}"#,
    ])
  func unknown(_ answer: String) throws {
    let folder = try folder(1)
    let sentry = try FakeSentry {
      $0.other = { post in
        guard post.path == FakeSentry.assemblyPath else { return nil }
        let digest = String(decoding: post.body, as: UTF8.self).split(separator: "\"")[1]
        return .file(Array(answer.replacingOccurrences(of: "DIGEST", with: digest).utf8))
      }
    }
    let outcome = try upload(folder, sentry)
    #expect(outcome.status == 2 && outcome.errorText.contains("is not known"), "\(outcome.errorText)")
    sentry.change { $0.other = { _ in nil } }
    #expect(try upload(folder, sentry).errorText.contains("1 file sent"))
    try check(sentry, has: [0])
  }

  @Test(
    "The token goes to no other server than the one that was named",
    arguments: ["http://elsewhere.invalid", "ftp://127.0.0.1"])
  func otherServer(_ place: String) throws {
    let folder = try folder()
    let other = try FileServer { _ in .status(200) }
    for url in ["\(place):\(other.port)/take/", "http://127.0.0.1:\(other.port)/take/", "/take/"] {
      let sentry = try FakeSentry { $0.settings["url"] = url }
      #expect(try upload(folder, sentry, record: "record\(url.count)").status == 0)
      try check(sentry, has: [0, 1, 2])
    }
    #expect(other.paths.isEmpty)
    // An address of its own is used.
    let sentry = try FakeSentry()
    let address = sentry.server.url + "/parts/"
    sentry.change {
      $0.settings["url"] = address
      $0.other = { $0.path == "/parts/" ? .status(400) : nil }
    }
    let outcome = try upload(folder, sentry, record: "last")
    #expect(outcome.errorText.contains("the server answered 400"), "\(outcome.errorText)")
  }

  @Test("A file that is larger than the server takes is not sent")
  func large() throws {
    let folder = try folder(1)
    let sentry = try FakeSentry { $0.settings["maxFileSize"] = 40 }
    let outcome = try upload(folder, sentry)
    #expect(outcome.status == 1 && outcome.errorText.contains("the server takes files of up to 40 bytes"))
    #expect(sentry.server.paths == [FakeSentry.settingsPath])
  }
}
