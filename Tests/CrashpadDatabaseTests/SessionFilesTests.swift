// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing

@testable import CrashpadDatabase
@testable import CrashpadFiles

@Suite("DatabaseSession: files")
struct SessionFilesTests {
  private let scratch: ScratchDatabase
  private let session: DatabaseSession
  private let name = FileName(literal: "file")

  init() throws {
    scratch = try ScratchDatabase()
    session = try scratch.session()
  }

  /// All files but the run's own.
  private func left() throws -> [String] {
    let own = try scratch.runFiles().map { "new/" + $0 }
    return try scratch.everything().filter { !own.contains($0) }
  }

  @Test("A file is replaced by a new one, whole; who has the old one open keeps it", arguments: [true, false])
  func replace(durable: Bool) throws {
    let pending = try scratch.folder("pending")
    try session.replace(name, in: pending, with: [1, 2, 3], durable: durable)
    let old = try pending.open(name)
    try session.replace(name, in: pending, with: [4], durable: durable)
    #expect(try old.prefix(9) == [1, 2, 3])
    #expect(try pending.open(name).prefix(9) == [4])
    #expect(try pending.status(name)?.permissions == 0o600)
    #expect(try left() == ["pending/file"])
  }

  @Test("A file that can't be replaced leaves nothing in new/")
  func replacingFails() throws {
    try scratch.makeDirectory("pending/file/x")
    let pending = try scratch.folder("pending")
    #expect(failureCode { try session.replace(name, in: pending, with: [1]) } == .isDirectory)
    #expect(try left() == ["pending/file/", "pending/file/x/"])
  }

  @Test("A link is replaced, not followed")
  func replacingLink() throws {
    try scratch.write([1], to: "target")
    try scratch.makeLink("pending/file", to: "../target")
    try session.replace(name, in: scratch.folder("pending"), with: [2])
    #expect(try scratch.bytes(of: "target") == [1])
    #expect(try scratch.folder("pending").status(name)?.kind == .regular)
  }

  @Test("No two threads get one temporary name, and readers see old bytes or new ones")
  func atOnce() throws {
    let pending = try scratch.folder("pending")
    let names = Gathered<FileName>()
    let wrong = Gathered<[UInt8]>()
    try session.replace(name, in: pending, with: [UInt8](repeating: 9, count: 100), durable: false)
    DispatchQueue.concurrentPerform(iterations: 4) { index in
      for _ in 0..<50 {
        do {
          names.add(session.temporaryName())
          let bytes = [UInt8](repeating: UInt8(index), count: 100)
          try session.replace(name, in: pending, with: bytes, durable: false)
          let found = try pending.open(name).prefix(200)
          if found.count != 100 || Set(found).count != 1 { wrong.add(found) }
        } catch { Issue.record(error) }
      }
    }
    #expect(Set(names.values).count == 200)
    #expect(wrong.values.isEmpty)
    #expect(try left() == ["pending/file"])
  }
}
