// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadFiles

@Suite("Files that return less than is asked for")
struct ShortReadTests {
  /// These do not change, have no size, and return a page at most for each read.
  @Test("A file of /proc is read to its end", arguments: ["/proc/kallsyms", "/proc/filesystems", "/proc/self/environ"])
  func longFile(path: String) throws {
    let expected = try Self.byPages(path)
    let input = try InputFile(FilePath(path))
    let whole = input.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    let longer = try InputFile.prefix(of: FilePath(path), count: expected.count + 1)
    let shorter = try InputFile.prefix(of: FilePath(path), count: expected.count / 2)
    var blocks: [UInt8] = []
    try SequentialInput(FilePath(path)).forEachBlock { block in unsafe block.withUnsafeBytes { unsafe blocks += $0 } }
    // Without the bytes, which are megabytes.
    let areEqual =
      [whole, longer, blocks].map { $0 == expected } + [shorter == Array(expected.prefix(expected.count / 2))]
    #expect(areEqual == [true, true, true, true])
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
