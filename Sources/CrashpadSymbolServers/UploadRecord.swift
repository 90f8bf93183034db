// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
package import CrashpadFiles
internal import CrashpadSymbolication
package import SystemPackage

/// The files that a server has, so far as is known: a line for each, in a file to which runs append.
///
/// A line is written before a file is sent, and another one when the server has answered: a run that was killed between the two
/// leaves a file of which only the server knows whether it has it.
package final class UploadRecord {
  package enum State: Sendable {
    case sent
    /// It was being sent when a run ended.
    case open
  }

  /// Nil if nothing is added.
  private let file: AppendedFile?
  private var states: [String: State] = [:]

  /// In milliseconds.
  private static let longestWait = 600_000
  /// In bytes; a line has some hundred.
  private static let largest = 1 << 28

  /// Opens the record, which is made if it is missing. Throws `Errno`, or `FileFailure`, with `wouldBlock` while another run
  /// sends files to the same server.
  package init(_ path: FilePath) throws {
    guard let file = try AppendedFile(path, permissions: 0o600) else { throw Errno.invalidArgument }
    self.file = file
    // Another run sends the same files: what is left is known when it ends.
    try file.file.lock(exclusive: true, waiting: Self.longestWait)
    // Without its name, a power failure would take all lines.
    try file.syncName()
    let bytes = try file.bytes(at: 0, count: min(try file.file.status().size, Self.largest))
    read(bytes)
    // The next line begins on a line of its own.
    if let last = bytes.last, last != 0x0a { try append("") }
  }

  /// Reads a record that stays as it is, and may be missing. Throws `Errno` or `InputFile.NotReadable`.
  package init(reading path: FilePath) throws {
    file = nil
    guard try FileStatus(ifPresent: path) != nil else { return }
    read(try InputFile(regular: path).withBytes { $0.array() })
  }

  private func read(_ bytes: [UInt8]) {
    // A killed run may leave the beginning of a line.
    for line in bytes.split(separator: 0x0a, omittingEmptySubsequences: true) where line.count > 6 {
      let text = String(decoding: line, as: UTF8.self)
      let words = text.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { continue }
      switch words[0] {
      case "sent": states[String(words[1])] = .sent
      case "open": states[String(words[1])] = .open
      case "gone": states[String(words[1])] = nil
      default: break
      }
    }
  }

  /// The state of a file; nil for a new one.
  package func state(_ key: String) -> State? { states[key] }

  package func begin(_ key: String) throws(FileFailure) { try set(key, .open, "open") }
  package func finish(_ key: String) throws(FileFailure) { try set(key, .sent, "sent") }
  /// The server refused the file, or does not have it.
  package func forget(_ key: String) throws(FileFailure) { try set(key, nil, "gone") }

  private func set(_ key: String, _ state: State?, _ word: String) throws(FileFailure) {
    try append("\(word) \(key)")
    states[key] = state
  }

  private func append(_ line: String) throws(FileFailure) {
    try file?.file.write(Array("\(line)\n".utf8))
    try file?.file.sync()
  }

  /// The key of a file for a server: its content, and its place there.
  package static func key(_ content: InputFile, _ place: String) -> String {
    hexadecimalDigits(content.withBytes { SHA256.digest($0) }) + " " + place
  }

  /// The name of the record of a server, which has nothing of its address.
  package static func name(of receiver: SymbolReceiver) -> String {
    let text = Array("\(receiver.kind.rawValue) \(receiver.name)".utf8)
    return hexadecimalDigits(Array(unsafe SHA256.digest(text.span.bytes).prefix(16)))
  }
}
