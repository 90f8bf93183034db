import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadFiles

@Suite("Files that return less than is asked for")
struct ShortReadTests {
  /// Files of /proc that are longer than a page. Only whole lines are returned by each read.
  @Test("A file of /proc is read to its end", arguments: ["/proc/self/maps", "/proc/self/smaps", "/proc/kallsyms"])
  func longFile(path: String) throws {
    // A process in a system call does not change its mappings; those of this process would change while it is read.
    let sleeper = Process()
    sleeper.executableURL = URL(fileURLWithPath: "/bin/sleep")
    sleeper.arguments = ["60"]
    try sleeper.run()
    defer { sleeper.terminate() }
    let path = path.replacing("self", with: "\(sleeper.processIdentifier)")
    let deadline = Date(timeIntervalSinceNow: 10)
    // Before exec(2), the mappings are those of this process.
    while try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(sleeper.processIdentifier)/exe")
      .contains("sleep") == false, Date() < deadline
    {}
    let expected = try Self.byPages(path)
    try #require(expected.count > 0)
    let input = try InputFile(FilePath(path))
    #expect(input.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } } == expected)
    #expect(try InputFile.prefix(of: FilePath(path), count: expected.count + 1) == expected)
    #expect(try InputFile.prefix(of: FilePath(path), count: expected.count - 1) == expected.dropLast())
    var blocks: [UInt8] = []
    try SequentialInput(FilePath(path)).forEachBlock { block in unsafe block.withUnsafeBytes { unsafe blocks += $0 } }
    #expect(blocks == expected)
  }

  /// Read by calls of the system alone.
  private static func byPages(_ path: String) throws -> [UInt8] {
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    try #require(number >= 0)
    defer { close(number) }
    var bytes: [UInt8] = []
    var page = [UInt8](repeating: 0, count: 1024)
    while true {
      let count = unsafe read(number, &page, page.count)
      if count <= 0 { return bytes }
      bytes += page[..<count]
    }
  }

  /// The kernel's list of locks is several pages long with so many.
  @Test("The holder of a lock is found in a long list of locks")
  func longListOfLocks() throws {
    let folder = try TemporaryFolder()
    let root = try Folder(FilePath(folder.work.path))
    var held: [OpenFile] = []
    for index in 0..<300 {
      let file = try root.open(FileName("lock-\(index)")!, .create)
      try file.lock(exclusive: true)
      held.append(file)
    }
    for index in [0, 150, 299] {
      let other = try root.open(FileName("lock-\(index)")!, .read)
      do {
        try other.lock(exclusive: true, waiting: 0)
        Issue.record("the lock is free")
      } catch {
        #expect(error.errno == .wouldBlock)
        #expect(error.lockHolder == ProcessInfo.processInfo.processIdentifier, "lock \(index)")
      }
    }
  }
}
