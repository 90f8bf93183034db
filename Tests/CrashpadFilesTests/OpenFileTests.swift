// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemPackage
import Testing
import ToolRunner

@testable import CrashpadFiles

@Suite("OpenFile")
struct OpenFileTests {
  private let temporary: TemporaryFolder
  private let folder: Folder
  private let name = FileName(literal: "file")

  init() throws {
    temporary = try TemporaryFolder()
    folder = try Folder(FilePath(temporary.work.path))
  }

  // MARK: Content

  @Test("The first bytes are read, as many as there are, again and again")
  func prefix() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 37 >> 2) }
    try temporary.write(bytes, to: "file")
    let file = try folder.open(name)
    for count in [0, 1, 255, 256, 99_999, 100_000, 100_001, 1 << 20] {
      #expect(try file.prefix(count) == Array(bytes.prefix(count)), "\(count)")
    }
    try temporary.write([], to: "empty")
    #expect(try folder.open(FileName(literal: "empty")).prefix(10) == [])
  }

  @Test("Writing goes on where it ended; reading from the start does not move that place")
  func write() throws {
    let file = try folder.open(name, .create)
    try file.write([1, 2])
    #expect(try file.prefix(1) == [1])
    try file.write([3])
    try file.write([])
    try file.overwriteStart([9])
    try file.write([4])
    try file.sync()
    #expect(try temporary.bytes(of: "file") == [9, 2, 3, 4])
    #expect(try file.status().size == 4)
  }

  @Test("A write over the start keeps what follows it, and may make the file longer")
  func overwriteStart() throws {
    try temporary.write([1, 2, 3, 4], to: "file")
    let file = try folder.open(name, .readAndWrite)
    try file.overwriteStart([9, 8])
    #expect(try temporary.bytes(of: "file") == [9, 8, 3, 4])
    try file.overwriteStart([])
    try file.overwriteStart([1, 1, 1, 1, 1, 1])
    #expect(try temporary.bytes(of: "file") == [1, 1, 1, 1, 1, 1])
  }

  @Test("Writing to a file that was opened for reading is an error with its path")
  func notForWriting() throws {
    try temporary.write([1], to: "file")
    let file = try folder.open(name)
    let failure = FileFailure(folder.path.appending("file"), .badFileDescriptor)
    #expect(throws: failure) { try file.write([2]) }
    #expect(throws: failure) { try file.overwriteStart([2]) }
    #expect(try temporary.bytes(of: "file") == [1])
  }

  @Test("The status is that of the open file, whatever has its name by now")
  func status() throws {
    let file = try folder.open(name, .create)
    #expect(try file.status().linkCount == 1)
    try folder.remove(name)
    #expect(try file.status().linkCount == 0)
    try temporary.write([1, 2], to: "file")
    #expect(try file.status().size == 0)
    #expect(try !file.status().isSameFile(as: #require(try folder.status(name))))
  }

  @Test("An attribute that is not there, or has no name, is none")
  func missingAttribute() throws {
    let file = try folder.open(name, .create)
    #expect(try file.attribute("user.missing") == nil)
    #expect(try file.attribute("org.chromium") == nil)
    #expect(try file.attribute("") == nil)
  }

  // MARK: Ownership

  /// A descriptor that a starting process has inherited for a moment goes away by itself.
  private func eventually(_ ownership: OpenFile.Ownership, _ file: OpenFile) -> Bool {
    for _ in 0..<20_000 {
      if file.ownership() == ownership { return true }
      usleep(1_000)
    }
    return false
  }

  @Test("One description takes a file; others see that, and do not get it until it is closed")
  func ownership() throws {
    try temporary.write([1], to: "file")
    let other = try folder.open(name, .readAndWrite)
    let reader = try folder.open(name)
    #expect(other.ownership() == .free)
    var owner: OpenFile? = try folder.open(name, .readAndWrite)
    #expect(owner?.takeOwnership() == .taken)
    #expect(owner?.takeOwnership() == .taken, "once more is no harm")
    #expect(owner?.ownership() == .free, "one's own is not in one's way")
    #expect(other.ownership() == .owned)
    #expect(reader.ownership() == .owned, "to ask, reading is enough")
    #expect(other.takeOwnership() == .busy)
    // Locks of processes end when any descriptor of the file is closed; these do not.
    for _ in 0..<3 { _ = try folder.open(name, .readAndWrite).prefix(1) }
    #expect(other.ownership() == .owned)
    owner = nil
    #expect(eventually(.free, other))
    #expect(other.takeOwnership() == .taken)
  }

  @Test("Every name of a file has the same owner, and a removed name takes nothing away")
  func ownershipOfLinks() throws {
    let owner = try folder.open(name, .create)
    #expect(owner.takeOwnership() == .taken)
    let second = FileName(literal: "second")
    try folder.link(name, to: folder, as: second)
    try folder.remove(name)
    #expect(try folder.open(second).ownership() == .owned)
    _ = try folder.open(name, .create)
    #expect(try folder.open(name).ownership() == .free, "a new file of that name is another file")
    #expect(owner.takeOwnership() == .taken)
  }

  @Test("To take a file it has to be open for writing")
  func takingForReading() throws {
    try temporary.write([], to: "file")
    #expect(try folder.open(name).takeOwnership() == .unsupported)
    #expect(try folder.open(name, .readAndWrite).ownership() == .free)
  }

  @Test("The owner's lock covers bytes that come later")
  func wholeFile() throws {
    let owner = try folder.open(name, .create)
    #expect(owner.takeOwnership() == .taken)
    try owner.write([UInt8](repeating: 1, count: 5_000))
    var lock = Glibc.flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 4_000
    lock.l_len = 1
    let other = try folder.open(name, .readAndWrite)
    // F_OFD_GETLK
    #expect(unsafe fcntl(other.descriptor, 36, &lock) == 0)
    #expect(lock.l_type == Int16(F_WRLCK))
  }

  @Test("A process of its own that has the description owns the file until it is killed")
  func ownershipOfAChild() throws {
    let process = Process()
    do {
      let file = try folder.open(name, .create)
      #expect(file.takeOwnership() == .taken)
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", "while :; do sleep 1 <&-; done"]
      process.standardInput = FileHandle(
        fileDescriptor: fcntl(file.descriptor, F_DUPFD_CLOEXEC, 3), closeOnDealloc: true)
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      try? (process.standardInput as? FileHandle)?.close()
    }
    let other = try folder.open(name, .readAndWrite)
    #expect(other.ownership() == .owned)
    #expect(other.takeOwnership() == .busy)
    #expect(kill(process.processIdentifier, SIGKILL) == 0)
    process.waitUntilExit()
    #expect(eventually(.free, other))
    #expect(other.takeOwnership() == .taken)
  }

  @Test("Several threads that try take a file once")
  func oneTakes() throws {
    for round in 0..<300 {
      let name = try #require(FileName("file-\(round)"))
      _ = try folder.open(name, .create)
      let files = try (0..<4).map { _ in try folder.open(name, .readAndWrite) }
      let taken = Counter()
      let busy = Counter()
      DispatchQueue.concurrentPerform(iterations: 4) { index in
        switch files[index].takeOwnership() {
        case .taken: taken.add()
        case .busy: busy.add()
        case .unsupported: break
        }
      }
      #expect(taken.value == 1)
      #expect(busy.value == 3)
    }
  }

  @Test("Exclusive locks keep threads apart; shared ones let them in together; ownership is no matter of them")
  func locks() throws {
    try temporary.write([UInt8](repeating: 0, count: 4), to: "file")
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<100 {
        guard let file = try? folder.open(name, .readAndWrite), (try? file.lock(exclusive: true)) != nil,
          let bytes = try? file.prefix(4)
        else { continue }
        let next = (Int(bytes[0]) | Int(bytes[1]) << 8) + 1
        _ = try? file.overwriteStart([UInt8(truncatingIfNeeded: next), UInt8(truncatingIfNeeded: next >> 8)])
      }
    }
    #expect(try temporary.bytes(of: "file") == [0x90, 0x01, 0, 0])
    let readers = try (0..<3).map { _ in try folder.open(name) }
    for reader in readers { try reader.lock(exclusive: false) }
    let owner = try folder.open(name, .readAndWrite)
    #expect(owner.takeOwnership() == .taken)
  }
}
