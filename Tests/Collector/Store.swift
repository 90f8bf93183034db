// SPDX-License-Identifier: Apache-2.0
import CZlib
import Glibc
import Synchronization

/// The folder of the reports, or their count.
///
/// `log.ndjson` has a line with `"event": "request"` for each request whose body has come whole, before it is answered; then
/// one with `"answered"` that says whether the answer could be written. A request that ended early has `"broken"`, and no
/// other.
final class Store: Sendable {
  let directory: String?
  private let answer: String
  private let log: Int32
  private let number = Atomic<Int>(0)
  private let reports = Atomic<Int>(0)
  private let bytes = Atomic<Int>(0)
  private let connections = Atomic<Int>(0)
  private let accepted = Atomic<Int>(0)
  private let tries = Mutex<[String: Int]>([:])

  init(directory: String?, answer: String) {
    self.directory = directory
    self.answer = answer
    guard let directory else {
      log = -1
      return
    }
    unsafe mkdir(directory, 0o755)
    log = unsafe open(directory + "/log.ndjson", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard log >= 0 else {
      complain("collector: cannot make \(directory)/log.ndjson: error \(errno)", status: 73)
    }
  }

  func nextNumber() -> Int { number.add(1, ordering: .relaxed).newValue }

  func id(_ number: Int) -> String { answer.replacing("%", with: "\(number)") }

  /// How often a report came, with this time.
  func tries(of report: String) -> Int {
    tries.withLock {
      $0[report, default: 0] += 1
      return $0[report]!
    }
  }

  func received(_ byteCount: Int64) {
    reports.add(1, ordering: .relaxed)
    bytes.add(Int(byteCount), ordering: .relaxed)
  }

  /// One call for a line, so that lines stay whole.
  func write(_ line: JSONLine) {
    guard log >= 0 else { return }
    let bytes = Array(line.line.utf8) + [10]
    if unsafe Glibc.write(log, bytes, bytes.count) != bytes.count {
      complain("collector: cannot write log.ndjson: error \(errno)", status: 74)
    }
  }

  func connectionBegins() {
    connections.add(1, ordering: .relaxed)
    accepted.add(1, ordering: .relaxed)
  }
  func connectionEnds() { connections.subtract(1, ordering: .releasing) }

  func waitForConnections(seconds: Int) {
    for _ in 0..<(seconds * 1000) where connections.load(ordering: .acquiring) > 0 { usleep(1000) }
  }

  func waitForOtherConnections() {
    while connections.load(ordering: .acquiring) > 1 { usleep(500) }
  }

  var summary: String {
    var line = JSONLine()
    line.add("connections", Int64(accepted.load(ordering: .relaxed)))
    line.add("reports", Int64(reports.load(ordering: .relaxed)))
    line.add("bytes", Int64(bytes.load(ordering: .relaxed)))
    return line.line
  }
}

/// One request's parts, on their way to the disk.
struct StoredReport: PartSink {
  let folder: String?
  private(set) var parts: [Part] = []
  private var file: Int32 = -1
  var count: Int { parts.count }

  init(_ store: Store, _ number: Int) {
    folder = store.directory.map { "\($0)/\(number)" }
    if let folder { unsafe mkdir(folder, 0o755) }
  }

  /// Writes a whole file.
  func write(_ name: String, _ bytes: [UInt8]) throws {
    guard let folder else { return }
    let file = try Self.open("\(folder)/\(name)")
    defer { close(file) }
    try unsafe bytes.withUnsafeBytes { try unsafe Self.write($0, to: file) }
  }

  private static func open(_ path: String) throws(Ended) -> Int32 {
    let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw Ended(reason: "cannot make \(path): error \(errno)") }
    return file
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(Ended) {
    var done = 0
    while done < bytes.count {
      let count = unsafe Glibc.write(file, bytes.baseAddress! + done, bytes.count - done)
      guard count > 0 else { throw Ended(reason: "cannot store a part: error \(errno)") }
      done += count
    }
  }

  mutating func begin(_ part: Part) throws {
    var part = part
    if part.fileName != nil, let folder {
      part.storedAs = "part-\(parts.count + 1)"
      file = try Self.open("\(folder)/\(part.storedAs!)")
    }
    parts.append(part)
  }

  mutating func take(_ bytes: UnsafeRawBufferPointer) throws {
    let last = parts.count - 1
    parts[last].size += Int64(bytes.count)
    unsafe parts[last].checksum = UInt32(
      crc32(UInt(parts[last].checksum), bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(bytes.count)))
    if parts[last].fileName == nil {
      let room = MultipartParser.maximumField - parts[last].value.count
      unsafe parts[last].value.append(contentsOf: bytes.prefix(max(0, room)))
    } else if file >= 0 {
      try unsafe Self.write(bytes, to: file)
    }
  }

  mutating func end() {
    if file >= 0 { close(file) }
    file = -1
  }

  /// The fields as a list of pairs, in their order; bytes that are no UTF-8 are told as such.
  var fields: String {
    JSONLine.list(
      parts.filter { $0.fileName == nil }.map { part in
        let text: String =
          String(validating: part.value, as: UTF8.self)
          ?? "not UTF-8:" + part.value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return JSONLine.list([JSONLine.quoted(part.name), JSONLine.quoted(text)])
      })
  }

  var list: String {
    JSONLine.list(
      parts.map { part in
        var line = JSONLine()
        line.add("name", part.name)
        line.add("file_name", part.fileName)
        line.add("type", part.type)
        line.add("size", part.size)
        line.add("crc32", Int64(part.checksum))
        line.add("file", part.storedAs)
        return line.line
      })
  }

  /// The name of the report's minidump: `<uuid>`.
  var report: String? {
    let names = parts.filter { $0.name == "upload_file_minidump" }.compactMap { $0.fileName }
    guard let name = names.first else { return nil }
    return name.hasSuffix(".dmp") ? String(name.dropLast(4)) : name
  }
}
