// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadFiles

@Suite("InputFile and directories")
struct InputFileTests {
  private let folder: TemporaryFolder
  private let root: FilePath

  init() throws {
    folder = try TemporaryFolder()
    root = FilePath(folder.work.path)
  }

  private func write(_ name: String, _ bytes: Data) throws -> FilePath {
    let path = root.appending(name)
    try createDirectories(path.removingLastComponent())
    try bytes.write(to: URL(fileURLWithPath: path.string))
    return path
  }

  private func content(_ file: InputFile) -> Data {
    file.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
  }

  @Test(
    "A file is read as it is, below and above the size from which it is mapped",
    arguments: [0, 1, 4096, InputFile.mappingThreshold - 1, InputFile.mappingThreshold, InputFile.mappingThreshold + 1])
  func sizes(size: Int) throws {
    let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    let file = try InputFile(write("file", bytes))
    #expect(file.byteCount == size)
    #expect(content(file) == bytes)
  }

  @Test("Bytes in memory are as good as a file")
  func memory() { #expect(content(InputFile(bytes: [1, 2, 3])) == Data([1, 2, 3])) }

  @Test("A directory and a missing file are errors that say so")
  func unreadable() throws {
    #expect(throws: InputFile.NotReadable.self) { _ = try InputFile(root) }
    #expect(throws: Errno.noSuchFileOrDirectory) { _ = try InputFile(root.appending("missing")) }
  }

  @Test("The first bytes of a short file are all that it has")
  func prefix() throws {
    let path = try write("short", Data([6, 5]))
    #expect(try InputFile.prefix(of: path, count: 4) == [6, 5])
    #expect(try InputFile.prefix(of: path, count: 1) == [6])
  }

  @Test("A directory gives its regular files sorted, follows no link, and passes over names with a dot in front")
  func walk() throws {
    for name in ["b", "a", ".hidden", "sub/c", "sub/deeper/d", ".git/e"] { _ = try write(name, Data()) }
    try FileManager.default.createSymbolicLink(
      atPath: root.appending("link").string, withDestinationPath: root.appending("a").string)
    try FileManager.default.createSymbolicLink(
      atPath: root.appending("loop").string, withDestinationPath: root.string)
    func names(recursive: Bool) throws -> [String] {
      try regularFiles(in: root, recursive: recursive).files.map {
        $0.string.dropFirst(root.string.count + 1).description
      }
    }
    #expect(try names(recursive: false) == ["a", "b"])
    #expect(try names(recursive: true) == ["a", "b", "sub/c", "sub/deeper/d"])
  }

  @Test("Two paths of one file are the same file, and two files with the same bytes are not")
  func sameFile() throws {
    let first = try write("first", Data([1]))
    let second = try write("second", Data([1]))
    try FileManager.default.createSymbolicLink(atPath: root.appending("link").string, withDestinationPath: first.string)
    #expect(try isSameFile(first, root.appending("link")))
    #expect(try isSameFile(first, root.appending("./first")))
    #expect(try !isSameFile(first, second))
    #expect(try !isSameFile(first, root.appending("missing")))
  }

  @Test("Directories are made with those above them, once or again, but not through a file")
  func directories() throws {
    for _ in 0..<2 { try createDirectories(root.appending("x/y/z")) }
    #expect(try FileKind(at: root.appending("x/y/z")) == .directory)
    let file = try write("file", Data())
    #expect(throws: Errno.notDirectory) { try createDirectories(file) }
    // A file system without a place for it says that something is missing, though all above is there.
    #expect(throws: Errno.noSuchFileOrDirectory) { try createDirectories("/proc/crashpadctl/x") }
  }
}
