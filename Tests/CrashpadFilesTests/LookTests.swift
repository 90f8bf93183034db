// SPDX-License-Identifier: Apache-2.0
import CrashpadFiles
import Foundation
import SystemPackage
import Testing
import ToolRunner

@Suite("Look")
struct LookTests {
  private let temporary: TemporaryFolder
  private let root: FilePath

  init() throws {
    temporary = try TemporaryFolder()
    root = FilePath(temporary.work.path)
    try temporary.write([1, 2, 3], to: "file")
  }

  @Test("A file is found, with its kind")
  func found() {
    guard case .found(.regular(size: 3)) = FileKind.look(at: root.appending("file")) else {
      Issue.record("not found")
      return
    }
  }

  @Test("A name without an entry is absent")
  func absent() {
    guard case .absent = FileKind.look(at: root.appending("other")) else {
      Issue.record("not absent")
      return
    }
    guard case .absent = FileIdentity.look(at: root.appending("other")) else {
      Issue.record("not absent")
      return
    }
  }

  @Test("A place that can't be examined is neither found nor absent, and the reason is known")
  func failed() {
    let path = root.appending(String(repeating: "n", count: 300))
    guard case .failed(let failure) = FileKind.look(at: path) else {
      Issue.record("no failure")
      return
    }
    #expect(failure == FileFailure(path, .fileNameTooLong))
    guard case .failed(let failure) = FileIdentity.look(at: path) else {
      Issue.record("no failure")
      return
    }
    #expect(failure.errno == .fileNameTooLong)
  }

  @Test("The identity of a member of an archive is that of the archive")
  func member() throws {
    guard case .found(let member) = FileIdentity.look(at: root.appending("file").appending("member")),
      case .found(let file) = FileIdentity.look(at: root.appending("file"))
    else {
      Issue.record("not found")
      return
    }
    #expect(member == file)
  }
}
