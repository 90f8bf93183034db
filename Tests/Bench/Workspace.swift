// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// The temporary directory of one bench, and what runs in it.
struct Workspace {
  let tool: String
  let path: String
  /// This program.
  let program: String

  init(tool: String) throws {
    self.tool = URL(fileURLWithPath: tool).path
    guard FileManager.default.isExecutableFile(atPath: self.tool) else { throw BenchError(text: "no program: \(tool)") }
    program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    path = FileManager.default.temporaryDirectory.appending(path: "crashpadctl-bench-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func run(_ command: Command) throws -> Measurement {
    try command.run(errors: file("errors"))
  }

  /// The standard output of a program.
  func read(_ command: Command) throws -> String {
    var command = command
    command.output = file("output")
    try run(command)
    return String(decoding: FileManager.default.contents(atPath: command.output) ?? Data(), as: UTF8.self)
  }

  /// The standard error of the last program.
  func errors() -> String {
    String(decoding: FileManager.default.contents(atPath: file("errors")) ?? Data(), as: UTF8.self)
  }

  /// Makes a dump, or a directory of dumps, in a child: see `Measurement.peakBytes`.
  func make(_ recipe: Recipe, _ number: Int, _ name: String) throws -> String {
    let path = file(name)
    try run(Command(program, [Recipe.option, recipe.rawValue, "\(number)", path]))
    return path
  }

  /// A directory with this many copies of a dump.
  func copies(_ count: Int, of dump: String, _ name: String) throws -> String {
    let folder = file(name)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for number in 0..<count { try FileManager.default.copyItem(atPath: dump, toPath: "\(folder)/\(number).idump") }
    return folder
  }

  func size(_ path: String) throws -> Int {
    var information = stat()
    guard unsafe stat(path, &information) == 0 else { throw BenchError(text: "no file: \(path)") }
    return information.st_size
  }

  /// Bytes of all files in a directory.
  func total(_ folder: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { try $0 + size("\(folder)/\($1)") }
  }

  func remove(_ path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    try FileManager.default.removeItem(atPath: path)
  }

  /// The folder in which the outputs of earlier runs wait for their removal.
  var aside: String { file("aside") }

  /// Takes an output out of the way of the next run. Removed, it would slow that down: ext4 searches long for a free inode
  /// that was not in use a few seconds ago.
  func putAside(_ path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    try FileManager.default.createDirectory(atPath: aside, withIntermediateDirectories: true)
    let count = try FileManager.default.contentsOfDirectory(atPath: aside).count
    try FileManager.default.moveItem(atPath: path, toPath: "\(aside)/\(count)")
  }

  func removeAll() {
    try? FileManager.default.removeItem(atPath: path)
  }
}

func writeFile(_ path: String, _ bytes: [UInt8]) throws {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
  defer { close(descriptor) }
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 else { break }
    rest = rest.dropFirst(count)
  }
  guard descriptor >= 0, rest.isEmpty else { throw BenchError(text: "cannot write \(path)") }
}
