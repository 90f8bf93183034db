// SPDX-License-Identifier: Apache-2.0
internal import CrashpadFiles
internal import SystemPackage

/// multipart/form-data (RFC 7578) as Crashpad writes it: fields, then files. The names of the parts are escaped as
/// browsers do.
///
/// Files are read while they are sent. Source: `util/net/http_multipart_builder.cc`.
final class MultipartBody: RequestBody {
  struct File {
    let name: [UInt8]
    let fileName: [UInt8]
    let file: OpenFile
    /// The number of bytes that are sent: the size of the file when it was opened.
    let size: Int
  }

  private enum Piece {
    case bytes([UInt8])
    case file(OpenFile, size: Int)

    var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .file(_, let size): size
      }
    }
  }

  let boundary: String
  private let pieces: [Piece]
  private let total: Int
  private var piece = 0
  /// The offset in the current piece.
  private var offset = 0

  /// Fields and files are sent in the given order.
  init(fields: [UploadField], files: [File], boundary: String) {
    self.boundary = boundary
    var pieces: [Piece] = []
    var text: [UInt8] = []
    for field in fields {
      text += Self.head(boundary, field.name) + "\r\n\r\n".utf8 + field.value + "\r\n".utf8
    }
    for file in files {
      text += Self.fileHead(boundary, file.name, file.fileName)
      pieces.append(.bytes(text))
      pieces.append(.file(file.file, size: file.size))
      text = Array("\r\n".utf8)
    }
    text += "--\(boundary)--\r\n".utf8
    pieces.append(.bytes(text))
    self.pieces = pieces
    total = pieces.reduce(0) { total, piece in
      // Sparse files may have any size.
      let (sum, overflow) = total.addingReportingOverflow(piece.count)
      return overflow ? .max : sum
    }
  }

  /// A form with files whose bytes are in memory.
  init(_ parts: [FormPart], boundary: String) {
    self.boundary = boundary
    var pieces: [Piece] = []
    for part in parts {
      let head = Self.fileHead(boundary, Array(part.field.utf8), Array(part.fileName.utf8))
      pieces += [.bytes((pieces.isEmpty ? [] : Array("\r\n".utf8)) + head), .bytes(part.content)]
    }
    self.pieces = pieces + [.bytes(Array("\r\n--\(boundary)--\r\n".utf8))]
    total = self.pieces.reduce(0) { $0 + $1.count }
  }

  var contentType: String { "multipart/form-data; boundary=\(boundary)" }
  var byteCount: Int? { total }
  var isLarge: Bool { total >= 1 << 20 }

  func rewind() { (piece, offset) = (0, 0) }

  func read(into bytes: inout MutableRawSpan) throws(FileFailure) -> Int {
    while piece < pieces.count {
      let room = min(bytes.byteCount, pieces[piece].count - offset)
      if room == 0 {
        piece += 1
        offset = 0
        continue
      }
      switch pieces[piece] {
      case .bytes(let text):
        unsafe bytes.withUnsafeMutableBytes { buffer in
          unsafe text.withUnsafeBytes { unsafe buffer.copyMemory(from: .init(rebasing: $0[offset..<offset + room])) }
        }
      case .file(let file, _):
        var part = bytes._mutatingExtracting(first: room)
        // A file that was truncated meanwhile can't fill the announced length.
        guard try file.read(at: offset, into: &part) == room else { throw FileFailure(file.path, .ioError) }
      }
      offset += room
      return room
    }
    return 0
  }

  // MARK: Form

  private static func head(_ boundary: String, _ name: [UInt8]) -> [UInt8] {
    "--\(boundary)\r\nContent-Disposition: form-data; name=\"".utf8 + escaped(name) + "\"".utf8
  }

  private static func fileHead(_ boundary: String, _ name: [UInt8], _ fileName: [UInt8]) -> [UInt8] {
    head(boundary, name) + "; filename=\"".utf8 + escaped(fileName)
      + "\"\r\nContent-Type: application/octet-stream\r\n\r\n".utf8
  }

  /// Escapes quotes, line ends and the percent sign. As in Crashpad, a name ends at its first NUL.
  static func escaped(_ name: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for byte in name.prefix(while: { $0 != 0 }) {
      switch byte {
      case 0x0d: result += "%0d".utf8
      case 0x0a: result += "%0a".utf8
      case 0x22: result += "%22".utf8
      case 0x25: result += "%25".utf8
      default: result.append(byte)
      }
    }
    return result
  }

  /// 56 characters with 190 bits of randomness, in the form that Crashpad uses.
  static func makeBoundary() -> String {
    let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    var generator = SystemRandomNumberGenerator()
    var random: [UInt8] = []
    // Each number gives eight characters, because each number costs a system call.
    for _ in 0..<4 {
      var number: UInt64 = generator.next()
      for _ in 0..<8 {
        random.append(characters[Int(number % UInt64(characters.count))])
        number /= UInt64(characters.count)
      }
    }
    return "---MultipartBoundary-\(String(decoding: random, as: UTF8.self))---"
  }
}
