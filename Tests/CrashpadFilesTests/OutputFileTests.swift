// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadFiles

@Suite("OutputFile")
struct OutputFileTests {
  private let folder: TemporaryFolder
  private let path: FilePath

  init() throws {
    folder = try TemporaryFolder()
    path = FilePath(folder.work.appending(path: "out.dmp").path)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.work.path).sorted() }
  }

  private func make(_ text: String, nameless: Bool, at path: FilePath? = nil) throws -> OutputFile {
    let file = try OutputFile(
      path ?? self.path, permissions: FilePermissions(rawValue: 0o640), nameless: nameless)
    let bytes = Array(text.utf8)
    try unsafe file.write(bytes.span.bytes)
    return file
  }

  @Test("A file appears with its bytes when it is committed, and not before", arguments: [true, false])
  func commit(nameless: Bool) throws {
    let file = try make("whole", nameless: nameless)
    #expect(!FileManager.default.fileExists(atPath: path.string))
    try file.commit(durable: true)
    #expect(try names == ["out.dmp"])
    #expect(try String(contentsOfFile: path.string, encoding: .utf8) == "whole")
  }

  @Test("A file takes the place of one that was there", arguments: [true, false])
  func replace(nameless: Bool) throws {
    try "old".write(toFile: path.string, atomically: false, encoding: .utf8)
    try make("new", nameless: nameless).commit(durable: false)
    #expect(try names == ["out.dmp"])
    #expect(try String(contentsOfFile: path.string, encoding: .utf8) == "new")
  }

  @Test("A file whose room was reserved has the bytes that were written", arguments: [true, false])
  func reserve(nameless: Bool) throws {
    let bytes = [UInt8](repeating: 7, count: 3 << 20)
    let file = try OutputFile(path, permissions: FilePermissions(rawValue: 0o640), nameless: nameless)
    try file.reserve(bytes.count)
    try unsafe file.write(bytes.span.bytes)
    try file.commit(durable: false)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path.string)) == Data(bytes))
  }

  @Test(
    "A file for which no disk has room is refused before the first byte, and leaves nothing", arguments: [true, false])
  func noRoom(nameless: Bool) throws {
    do {
      let file = try OutputFile(path, permissions: FilePermissions(rawValue: 0o640), nameless: nameless)
      // Larger than any disk; where no room can be reserved, nothing is refused.
      do { try file.reserve(1 << 60) } catch let error as Errno {
        #expect([.noSpace, .fileTooLarge, .diskQuotaExceeded].contains(error))
      }
    }
    #expect(try names == [])
  }

  @Test("A file that is given up leaves nothing behind", arguments: [true, false])
  func giveUp(nameless: Bool) throws {
    do { _ = try make("half", nameless: nameless) }
    #expect(try names == [])
  }

  @Test("A file that cannot get its name leaves nothing behind", arguments: [true, false])
  func nameTaken(nameless: Bool) throws {
    do {
      let file = try make("bytes", nameless: nameless)
      try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: false)
      #expect(throws: (any Error).self) { try file.commit(durable: false) }
    }
    #expect(try names == ["out.dmp"])
  }

  @Test("A name may have all the 255 bytes that a file system allows", arguments: [true, false])
  func longName(nameless: Bool) throws {
    let name = String(repeating: "ä", count: 127) + "x"
    let path = FilePath(folder.work.path).appending(name)
    try "old".write(toFile: path.string, atomically: false, encoding: .utf8)
    try make("new", nameless: nameless, at: path).commit(durable: false)
    #expect(try names == [name])
  }

  @Test("A file has the permissions that were asked for, less the umask", arguments: [true, false])
  func permissions(nameless: Bool) throws {
    try make("bytes", nameless: nameless).commit(durable: false)
    let attributes = try FileManager.default.attributesOfItem(atPath: path.string)
    #expect((attributes[.posixPermissions] as? Int ?? 0) & ~0o640 == 0)
    #expect((attributes[.posixPermissions] as? Int ?? 0) & 0o600 == 0o600)
  }

  @Test("A directory that is not there is an error before anything is written", arguments: [true, false])
  func missingDirectory(nameless: Bool) throws {
    #expect(throws: Errno.noSuchFileOrDirectory) {
      _ = try make("bytes", nameless: nameless, at: FilePath(folder.work.path).appending("missing/out.dmp"))
    }
  }
}
