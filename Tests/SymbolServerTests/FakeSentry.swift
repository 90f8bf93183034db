// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A server of Sentry that takes files in parts, as its public sources say: it knows parts and files by their SHA-1, which it believes
/// the client.
final class FakeSentry: Sendable {
  struct State {
    var settings: [String: any Sendable] = [
      "chunkSize": 32, "chunksPerRequest": 2, "maxRequestSize": 64, "hashAlgorithm": "sha1", "compression": ["gzip"],
      "accept": ["debug_files", "release_files"],
    ]
    /// The answer in place of its settings.
    var settingsAnswer: FileServer.Answer?
    /// The bytes of each part as they came, and whether they are compressed.
    var parts: [String: (bytes: [UInt8], isCompressed: Bool)] = [:]
    /// The parts of each whole file by its name, in order.
    var files: [String: (digest: String, parts: [String])] = [:]
    /// How often it was asked for the state of each file that it makes.
    var asked: [String: Int] = [:]
    /// The answer to questions for a file that has all of its parts: a state for each, the last one for the rest.
    var states = ["created", "assembling", "ok"]
    /// Answers in place of its own, for a request.
    var other: @Sendable (FileServer.Post) -> FileServer.Answer? = { _ in nil }
    /// The number of parts in each request.
    var requests: [[String]] = []
  }

  private let state = Mutex(State())
  private let place = Mutex<FileServer?>(nil)

  init(_ change: (inout State) -> Void = { _ in }) throws {
    state.withLock { change(&$0) }
    let server = try FileServer(answer: { [weak self] in self?.answer($0) ?? .status(500) }, backlog: 64)
    place.withLock { $0 = server }
  }

  var server: FileServer { place.withLock { $0! } }
  var target: String { "sentry=\(server.url)/acme/app" }

  func change<Value: Sendable>(_ body: @Sendable (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

  static let settingsPath = "/api/0/organizations/acme/chunk-upload/"
  static let assemblyPath = "/api/0/projects/acme/app/files/difs/assemble/"

  private func answer(_ post: FileServer.Post) -> FileServer.Answer {
    if let other = change({ $0.other })(post) { return other }
    switch post.path {
    case Self.settingsPath where post.body.isEmpty: return settings()
    case Self.settingsPath: return take(post.body)
    case Self.assemblyPath: return assemble(post.body)
    default: return .status(404)
    }
  }

  private static func json(_ value: Any) -> FileServer.Answer {
    .file([UInt8]((try? JSONSerialization.data(withJSONObject: value)) ?? Data()))
  }

  private func settings() -> FileServer.Answer {
    change { $0.settingsAnswer ?? Self.json($0.settings.mapValues { $0 as Any }) }
  }

  private func take(_ body: [UInt8]) -> FileServer.Answer {
    let parts = Self.parts(body)
    return change { state in
      state.requests.append(parts.map(\.name))
      for part in parts { state.parts[part.name] = (part.bytes, part.field == "file_gzip") }
      return .status(200)
    }
  }

  /// The files in a form.
  static func parts(_ body: [UInt8]) -> [(field: String, name: String, bytes: [UInt8])] {
    let all = Data(body)
    guard let line = all.range(of: Data("\r\n".utf8)) else { return [] }
    let mark = Data("\r\n".utf8) + all[..<line.lowerBound]
    var result: [(field: String, name: String, bytes: [UInt8])] = []
    var rest = Data("\r\n".utf8) + all
    while let start = rest.range(of: mark),
      let head = rest.range(of: Data("\r\n\r\n".utf8), in: start.upperBound..<rest.endIndex),
      let end = rest.range(of: mark, in: head.upperBound..<rest.endIndex)
    {
      let words = String(decoding: rest[start.upperBound..<head.lowerBound], as: UTF8.self).split(separator: "\"")
      result.append((String(words[1]), String(words[3]), [UInt8](rest[head.upperBound..<end.lowerBound])))
      rest = Data(rest[end.lowerBound...])
    }
    return result
  }

  private func assemble(_ body: [UInt8]) -> FileServer.Answer {
    guard let files = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: [String: Any]] else {
      return .status(400)
    }
    let named: [(digest: String, name: String, parts: [String])] = files.map {
      ($0, $1["name"] as? String ?? "", $1["chunks"] as? [String] ?? [])
    }
    return change { state in
      var answer: [String: Any] = [:]
      for file in named {
        let missing = file.parts.filter { state.parts[$0] == nil }
        var word = "not_found"
        if missing.isEmpty {
          let count = state.asked[file.digest, default: 0]
          state.asked[file.digest] = count + 1
          word = state.states[min(count, state.states.count - 1)]
          if word == "ok" { state.files[file.name] = (file.digest, file.parts) }
        }
        answer[file.digest] = ["state": word, "missingChunks": missing, "detail": "no such format"] as [String: Any]
      }
      return Self.json(answer)
    }
  }
}
