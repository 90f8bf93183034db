// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadFiles

@Suite("Folder")
struct FolderTests {
  private let temporary: TemporaryFolder
  private let folder: Folder

  init() throws {
    temporary = try TemporaryFolder()
    folder = try Folder(FilePath(temporary.work.path))
  }

  private func name(_ text: String) throws -> FileName { try #require(FileName(text)) }

  /// The code that a call failed with; nil if it did not.
  private func code(_ body: () throws -> Void) -> Errno? {
    do {
      try body()
      return nil
    } catch { return (error as? FileFailure)?.errno }
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: temporary.url(name).path, withDestinationPath: target)
  }

  private func makeFIFO(_ name: String) { #expect(unsafe mkfifo(temporary.url(name).path, 0o600) == 0) }

  /// The path of a socket has to be short, so it is bound from inside of the directory.
  private func makeSocket(_ name: String) throws {
    let path = temporary.url(name).path
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    try #require(path.utf8.count < capacity, "the directory for temporary files has too long a name")
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(result == 0)
  }

  // MARK: Opening

  @Test("A path is opened through symbolic links; a file or nothing is an error with the path")
  func openPath() throws {
    try temporary.write([], to: "real/file")
    try link("link", to: "real")
    let path = FilePath(temporary.url("link").path)
    #expect(try Folder(path).names().map(\.text) == ["file"])
    #expect(try Folder(path).path == path)
    let missing = FilePath(temporary.url("missing").path)
    #expect(throws: FileFailure(missing, .noSuchFileOrDirectory)) { _ = try Folder(missing) }
    let file = FilePath(temporary.url("real/file").path)
    #expect(throws: FileFailure(file, .notDirectory)) { _ = try Folder(file) }
  }

  @Test("A directory in it is opened, made once, and never through a symbolic link")
  func directories() throws {
    let name = try name("d")
    #expect(try folder.folderIfPresent(name) == nil)
    #expect(code { _ = try folder.folder(name) } == .noSuchFileOrDirectory)
    let made = try folder.createFolder(ifMissing: name)
    #expect(made.path == folder.path.appending("d"))
    #expect(try folder.status(name)?.permissions == 0o700)
    try temporary.write([1], to: "d/x")
    #expect(try folder.createFolder(ifMissing: name).names().map(\.text) == ["x"], "one that is there stays as it is")
    try link("l", to: "d")
    try link("dangling", to: "nowhere")
    try temporary.write([], to: "f")
    makeFIFO("p")
    for other in ["l", "dangling", "f", "p"] {
      let other = try self.name(other)
      for failure in [
        code { _ = try folder.folder(other) }, code { _ = try folder.folderIfPresent(other) },
        code { _ = try folder.createFolder(ifMissing: other) },
      ] {
        #expect([.notDirectory, .tooManySymbolicLinkLevels].contains(failure), "\(other.text)")
      }
    }
    #expect(!temporary.exists("nowhere"))
  }

  @Test("Several make one directory at once, and all get it")
  func makeAtOnce() throws {
    for round in 0..<100 {
      let name = try name("d\(round)")
      let failures = Counter()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        if (try? folder.createFolder(ifMissing: name)) == nil { failures.add() }
      }
      #expect(failures.value == 0)
    }
  }

  @Test("A directory that is moved or replaced by a link leads to no other directory")
  func replacedDirectory() throws {
    let inner = try folder.createFolder(ifMissing: name("inner"))
    try FileManager.default.moveItem(at: temporary.url("inner"), to: temporary.url("moved"))
    try FileManager.default.createDirectory(at: temporary.url("decoy"), withIntermediateDirectories: false)
    try link("inner", to: "decoy")
    try inner.open(name("x"), .create).write([1])
    #expect(try temporary.names(in: "moved") == ["x"])
    #expect(try temporary.names(in: "decoy") == [])
  }

  // MARK: Files

  @Test("Nothing but a regular file is opened, and nothing is waited for or followed")
  func kinds() throws {
    try FileManager.default.createDirectory(at: temporary.url("directory"), withIntermediateDirectories: false)
    makeFIFO("fifo")
    try makeSocket("s")
    try temporary.write([1], to: "target")
    try link("link", to: "target")
    try link("dangling", to: "nowhere")
    for access in [Folder.Access.read, .readAndWrite, .readWriteOrCreate] {
      for other in ["directory", "fifo", "s"] {
        let other = try name(other)
        #expect(code { _ = try folder.open(other, access) } == .invalidArgument, "\(other.text) \(access)")
        #expect(code { _ = try folder.openIfPresent(other, access) } == .invalidArgument, "\(other.text) \(access)")
      }
      for other in ["link", "dangling"] {
        let other = try name(other)
        #expect(code { _ = try folder.open(other, access) } == .tooManySymbolicLinkLevels, "\(other.text) \(access)")
      }
    }
    for other in ["directory", "fifo", "s", "link", "dangling", "target"] {
      let other = try name(other)
      #expect(code { _ = try folder.open(other, .create) } == .fileExists, "\(other.text)")
    }
    #expect(!temporary.exists("nowhere"))
    #expect(try temporary.bytes(of: "target") == [1])
  }

  @Test("Each way to open a file takes what is there or makes it, and makes it for its owner only")
  func accesses() throws {
    let missing = try name("missing")
    for access in [Folder.Access.read, .readAndWrite] {
      #expect(code { _ = try folder.open(missing, access) } == .noSuchFileOrDirectory)
      #expect(try folder.openIfPresent(missing, access) == nil)
    }
    let made = try name("made")
    try folder.open(made, .create).write([1, 2])
    #expect(try folder.status(made)?.permissions == 0o600)
    let again = try folder.open(made, .readWriteOrCreate)
    #expect(try again.prefix(9) == [1, 2], "not emptied")
    try again.overwriteStart([7])
    #expect(try folder.open(made).prefix(9) == [7, 2])
    #expect(code { try folder.open(made, .read).overwriteStart([0]) } == .badFileDescriptor)
    #expect(try temporary.bytes(of: "made") == [7, 2])
    _ = try folder.open(name("second"), .readWriteOrCreate)
    #expect(try folder.status(name("second"))?.permissions == 0o600)
  }

  @Test("Opened files and directories are not given to programs that are started")
  func closedOnExec() throws {
    let file = try folder.open(name("f"), .create)
    let inner = try folder.createFolder(ifMissing: name("d"))
    let work = temporary.work.resolvingSymlinksInPath().path
    var found: Set<String> = []
    for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      guard let number = Int32(descriptor),
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor),
        target.hasPrefix(work)
      else { continue }
      found.insert(String(target.dropFirst(work.count)))
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0, "\(target)")
    }
    #expect(found == ["", "/f", "/d"])
    withExtendedLifetime((file, inner)) {}
  }

  @Test("The status says what is there, and of a link that it is one")
  func status() throws {
    try temporary.write([1, 2, 3], to: "file")
    try FileManager.default.createDirectory(at: temporary.url("directory"), withIntermediateDirectories: false)
    try link("link", to: "file")
    makeFIFO("fifo")
    let file = try #require(try folder.status(name("file")))
    #expect(file.kind == .regular)
    #expect(file.size == 3)
    #expect(file.linkCount == 1)
    #expect(file.owner == geteuid())
    #expect(try folder.status(name("directory"))?.kind == .directory)
    #expect(try folder.status(name("link"))?.kind == .symbolicLink)
    #expect(try folder.status(name("fifo"))?.kind == .other)
    #expect(try folder.status(name("missing")) == nil)
    try folder.link(name("file"), to: folder, as: name("other"))
    let other = try #require(try folder.status(name("other")))
    #expect(other.linkCount == 2)
    #expect(other.isSameFile(as: file))
    #expect(try !other.isSameFile(as: #require(try folder.status(name("link")))))
    #expect(unsafe chmod(temporary.url("file").path, 0o4751) == 0)
    #expect(try folder.status(name("file"))?.permissions == 0o4751)
  }

  @Test("The time of a change is in seconds and nanoseconds, before 1970 too", arguments: [1_700_000_000, 0, -5])
  func times(seconds: Int) throws {
    try temporary.write([], to: "file")
    let times = [timespec(tv_sec: 1, tv_nsec: 2), timespec(tv_sec: seconds, tv_nsec: 123_456_789)]
    #expect(unsafe utimensat(AT_FDCWD, temporary.url("file").path, times, 0) == 0)
    let status = try #require(try folder.status(name("file")))
    #expect(status.modified == Int64(seconds))
    #expect(status.modifiedNanoseconds == 123_456_789)
  }

  // MARK: Names

  @Test("All names are listed: hidden, not UTF-8, with newlines, of 255 bytes; several threads may list at once")
  func names() throws {
    let names: [[UInt8]] = [
      [0x2e, 0x61], [0x2e, 0x2e, 0x2e], [0xff, 0xfe], [0x61, 0x0a, 0x62], [UInt8](repeating: 0x78, count: 255),
      [UInt8](repeating: 0xff, count: 255), [0x20],
    ]
    for bytes in names { _ = try folder.open(#require(FileName(bytes: bytes)), .create) }
    let expected = names.compactMap { FileName(bytes: $0) }.sorted()
    #expect(try folder.names().sorted() == expected)
    let wrong = Counter()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<50 where (try? folder.names().sorted()) != expected { wrong.add() }
    }
    #expect(wrong.value == 0)
    for name in expected { #expect(try folder.remove(name)) }
    #expect(try folder.names() == [])
  }

  @Test("Many names are listed once each")
  func manyNames() throws {
    for number in 0..<3_000 { _ = try folder.open(name("a-name-that-fills-the-buffer-\(number)"), .create) }
    let names = try folder.names()
    #expect(names.count == 3_000)
    #expect(Set(names).count == 3_000)
  }

  @Test("A name of more than 255 bytes is an error of each call")
  func tooLong() throws {
    let long = try name(String(repeating: "x", count: 255)).appending("y")
    let short = try name("short")
    _ = try folder.open(short, .create)
    for failure in [
      code { _ = try folder.open(long, .create) }, code { _ = try folder.openIfPresent(long) },
      code { _ = try folder.status(long) }, code { try folder.remove(long) },
      code { _ = try folder.createFolder(ifMissing: long) },
      code { try folder.move(short, to: folder, as: long) }, code { try folder.link(short, to: folder, as: long) },
      code { try folder.moveWithoutReplacing(short, to: folder, as: long) },
    ] {
      #expect(failure == .fileNameTooLong)
    }
    #expect(try folder.names() == [short])
  }

  // MARK: Changing names

  @Test("A removed file is gone once; a directory is not removed as a file, nor a file as a directory")
  func remove() throws {
    try temporary.write([1], to: "file")
    try temporary.write([1], to: "directory/file")
    try link("link", to: "file")
    #expect(try folder.remove(name("link")))
    #expect(temporary.exists("file"))
    #expect(try folder.remove(name("file")))
    #expect(try !folder.remove(name("file")))
    #expect([.isDirectory, .notPermitted].contains(code { try folder.remove(try name("directory")) }))
    #expect(code { try folder.removeFolder(try name("directory")) } == .directoryNotEmpty)
    #expect(code { try folder.folder(try name("directory")).removeFolder(try name("file")) } == .notDirectory)
    #expect(try folder.folder(name("directory")).remove(name("file")))
    #expect(try folder.removeFolder(name("directory")))
    #expect(try !folder.removeFolder(name("directory")))
  }

  @Test("A move replaces, one without replacing does not, and a link does not either")
  func moves() throws {
    let other = try folder.createFolder(ifMissing: name("other"))
    try temporary.write([1], to: "a")
    try temporary.write([2], to: "other/b")
    #expect(code { try folder.moveWithoutReplacing(try name("a"), to: other, as: try name("b")) } == .fileExists)
    #expect(code { try folder.link(try name("a"), to: other, as: try name("b")) } == .fileExists)
    #expect(try temporary.bytes(of: "other/b") == [2])
    try folder.moveWithoutReplacing(name("a"), to: other, as: name("c"))
    #expect(try temporary.names() == ["other"])
    try other.move(name("c"), to: other, as: name("b"))
    #expect(try temporary.bytes(of: "other/b") == [1])
    #expect(try temporary.names(in: "other") == ["b"])
    for failure in [
      code { try folder.move(try name("a"), to: other, as: try name("x")) },
      code { try folder.moveWithoutReplacing(try name("a"), to: other, as: try name("x")) },
      code { try folder.link(try name("a"), to: other, as: try name("x")) },
    ] {
      #expect(failure == .noSuchFileOrDirectory)
    }
  }

  @Test("A failed link names the path that was wanted, a failed move the one that was there")
  func failurePaths() throws {
    try temporary.write([], to: "a")
    try temporary.write([], to: "b")
    #expect(throws: FileFailure(folder.path.appending("b"), .fileExists)) {
      try folder.link(name("a"), to: folder, as: name("b"))
    }
    #expect(throws: FileFailure(folder.path.appending("missing"), .noSuchFileOrDirectory)) {
      try folder.move(name("missing"), to: folder, as: name("b"))
    }
  }

  @Test("A link of a symbolic link is one of the link")
  func linkOfLink() throws {
    try temporary.write([1], to: "target")
    try link("link", to: "target")
    try folder.link(name("link"), to: folder, as: name("second"))
    #expect(try folder.status(name("second"))?.kind == .symbolicLink)
  }

  @Test("Several threads that want one name, by link or by move, get it once; all others get an error")
  func oneWins() throws {
    for round in 0..<300 {
      let wanted = try name("wanted-\(round)")
      let names = try (0..<4).map { try name("own-\(round)-\($0)") }
      for name in names { _ = try folder.open(name, .create) }
      let winners = Counter()
      let losers = Counter()
      DispatchQueue.concurrentPerform(iterations: 4) { index in
        let failure = code {
          if index.isMultiple(of: 2) {
            try folder.link(names[index], to: folder, as: wanted)
          } else {
            try folder.moveWithoutReplacing(names[index], to: folder, as: wanted)
          }
        }
        if failure == nil { winners.add() } else if failure == .fileExists { losers.add() }
      }
      #expect(winners.value == 1)
      #expect(losers.value == 3)
    }
  }

  @Test("A directory of one's own is writable, and is waited for")
  func writable() throws {
    #expect(folder.isWritable)
    try folder.sync()
    try folder.syncFileSystem()
  }

  @Test(
    "A place without permission to write is reported as such", .enabled(if: !Machine.isRoot, "root may do everything"))
  func notWritable() throws {
    #expect(unsafe chmod(temporary.work.path, 0o500) == 0)
    #expect(!folder.isWritable)
    let name = try name("x")
    #expect(throws: FileFailure(folder.path.appending("x"), .permissionDenied)) { _ = try folder.open(name, .create) }
    #expect(unsafe chmod(temporary.work.path, 0o700) == 0)
  }
}
