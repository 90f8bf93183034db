// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles
internal import CrashpadJSON
internal import CrashpadSymbolication
internal import CrashpadUpload

/// How a server of Sentry takes files in parts: its answer to `GET …/organizations/NAME/chunk-upload/`.
struct ChunkSettings {
  /// Takes the parts.
  let address: WebAddress
  /// The size of each part of a file but the last, in bytes.
  let chunkSize: Int
  /// The most parts of a request, and their bytes together before they are compressed.
  let mostChunks: Int
  let largestRequest: Int
  /// In bytes; nil for no limit.
  let largestFile: Int?
  let takesGzip: Bool

  /// - Parameter own: the address that was asked.
  /// - Returns: nil if the server does not take symbol files in this way, or in one that is not known.
  init?(_ answer: [UInt8], own: WebAddress) {
    let tree = unsafe JSONTree(answer.span.bytes)
    guard tree.failure == nil, let root = tree.root, root.kind == .object else { return nil }
    func number(_ name: StaticString) -> Int? { root[name]?.int64.flatMap { $0 > 0 ? Int($0) : nil } }
    guard let size = number("chunkSize"), size <= Self.largestChunk, root["hashAlgorithm"]?.string == "sha1",
      root["accept"].map({ $0.elements.contains { $0.string == "debug_files" } }) ?? true
    else { return nil }
    chunkSize = size
    mostChunks = number("chunksPerRequest") ?? 1
    largestRequest = max(number("maxRequestSize") ?? size, size)
    largestFile = number("maxFileSize")
    takesGzip = root["compression"]?.elements.contains { $0.string == "gzip" } ?? false
    address = Self.address(root["url"]?.string, own)
  }

  /// In bytes; a part is in memory.
  private static let largestChunk = 256 << 20

  /// The address that the server names, if the token may go there: to the same server, or one below its name. A server behind a
  /// proxy may name one that only it can reach.
  private static func address(_ text: String?, _ own: WebAddress) -> WebAddress {
    guard let named = text.flatMap({ text in hint { try WebAddress(text) } }), named.port == own.port,
      named.host == own.host || named.host.hasSuffix(".\(own.host)"), named.scheme == .https || own.scheme == .http
    else { return own }
    return named
  }

  /// The requests in which parts are sent, each with as many as the server takes.
  func requests(_ parts: [ChunkedFile.Part]) -> [[ChunkedFile.Part]] {
    var requests: [[ChunkedFile.Part]] = []
    var size = 0
    for part in parts {
      size += part.range.count
      if let last = requests.last, last.count < mostChunks, size <= largestRequest {
        requests[requests.count - 1].append(part)
      } else {
        requests.append([part])
        size = part.range.count
      }
    }
    return requests
  }
}

/// A file, its parts and their digests.
struct ChunkedFile {
  struct Part {
    let digest: String
    let range: Range<Int>
  }

  let file: SymbolUploadFile
  /// Its key in the record.
  let key: String
  let content: InputFile
  let digest: String
  let parts: [Part]
  /// Whether parts of it were sent by this run.
  var wasSent = false

  init(_ file: SymbolUploadFile, _ content: InputFile, _ key: String, chunkSize: Int) {
    (self.file, self.content, self.key) = (file, content, key)
    (digest, parts) = content.withBytes { bytes in
      var whole = SHA1()
      let parts = stride(from: 0, to: bytes.byteCount, by: chunkSize).map { start in
        let range = start..<min(start + chunkSize, bytes.byteCount)
        let part = bytes.extracting(range)
        whole.update(part)
        return Part(digest: hexadecimalDigits(SHA1.digest(part)), range: range)
      }
      return (hexadecimalDigits(whole.finish()), parts)
    }
  }

  /// The name for the server, without directories.
  var name: String { file.place.split(separator: "/").last.map(String.init) ?? file.place }

  /// The parts with these digests, each once.
  func parts(_ digests: Set<String>) -> [Part] {
    var rest = digests
    return parts.filter { rest.remove($0.digest) != nil }
  }

  /// A part as a file in a form, under the name of its digest.
  func formPart(_ part: Part, _ compressor: CompressionStream?) -> FormPart {
    content.withBytes { bytes in
      let own = bytes.extracting(part.range)
      compressor?.reset()
      if let packed = compressor?.compressed(own) {
        return FormPart(field: "file_gzip", fileName: part.digest, content: packed)
      }
      return FormPart(field: "file", fileName: part.digest, content: own.array())
    }
  }
}

/// The state of a file, as a server of Sentry says.
struct AssemblyState {
  enum Progress: String {
    case missing = "not_found"
    /// It will be made of its parts.
    case created
    case assembling
    case whole = "ok"
    case failed = "error"
  }

  let progress: Progress
  let missing: Set<String>
  let detail: String?

  /// The states in an answer, by the digests of files; nil if the answer has another form.
  static func all(_ answer: [UInt8]) -> [String: AssemblyState]? {
    let tree = unsafe JSONTree(answer.span.bytes)
    guard tree.failure == nil, let root = tree.root, root.kind == .object else { return nil }
    var states: [String: AssemblyState] = [:]
    for (digest, value) in root.members {
      guard let progress = value["state"]?.string.flatMap({ Progress(rawValue: $0) }) else { return nil }
      states[digest] = AssemblyState(
        progress: progress, missing: Set(value["missingChunks"]?.elements.compactMap(\.string) ?? []),
        detail: value["detail"]?.string)
    }
    return states
  }

  /// The request for the states of files, which the server makes of their parts if it has all of them.
  static func request(_ files: [ChunkedFile]) -> [UInt8] {
    JSONWriter.bytes(.compact) { json in
      json.object { json in
        for file in files {
          json.object(file.digest) { json in
            json.member("name", file.name)
            json.member("chunks", file.parts.map(\.digest))
          }
        }
      }
    }
  }
}
