// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite("Inputs")
struct InputSafetyTests {
  private struct State: Equatable {
    let bytes: [UInt8]
    let modified: Date?
    let permissions: Int?
  }

  private static let names = Samples.files.keys.filter { !$0.contains("/") && !$0.contains("too-many") }.sorted()

  private func states(_ folder: TemporaryFolder) throws -> [String: State] {
    var states: [String: State] = [:]
    for name in Self.names {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.url("in/" + name).path)
      states[name] = State(
        bytes: try folder.bytes(of: "in/" + name), modified: attributes[.modificationDate] as? Date,
        permissions: attributes[.posixPermissions] as? Int)
    }
    return states
  }

  @Test(
    "No command changes an input: its bytes, its time and its rights stay",
    arguments: Soak.some(
      4,
      of: [
        "inspect in/*", "inspect --threads --modules --registers --memory-list --tree --hex in/*",
        "inspect --format json in/*", "validate in", "validate --format json in", "validate --format junit in",
        "validate --format sarif in", "convert -k in -o out", "convert -k --to json in -o out",
        "convert -k --to idump in -o out", "convert -k --format json --arch guess --fsync in -o out",
      ]))
  func unchanged(_ command: String) throws {
    let folder = try TemporaryFolder()
    for name in Self.names {
      try folder.write(Samples.files[name] ?? [], to: "in/" + name)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1_500_000_000), .posixPermissions: 0o640],
        ofItemAtPath: folder.url("in/" + name).path)
    }
    let before = try states(folder)
    let result = try Tool.shell("crashpadctl \(command)", in: folder)
    #expect([0, 1].contains(result.status))
    #expect(try states(folder) == before)
    #expect(try folder.names(in: "in").count == Self.names.count, "there is a new file beside the inputs")
  }

  @Test("A directory of inputs that may not be written to can be read")
  func readOnlyInputs() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "in/crash.idump")
    let result = try Tool.shell(
      "chmod 444 in/*; chmod 555 in; as-nobody crashpadctl inspect in/crash.idump > /dev/null && as-nobody crashpadctl validate in",
      in: folder)
    #expect(result.status == 0)
  }

  @Test("A file that grows or shrinks while it is read does no harm")
  func changingInput() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "growing.idump")
    let result = try Tool.shell(
      """
      { while [ ! -e stop ]; do cat growing.idump growing.idump | head -c 60000 > new; cp new growing.idump; done; } &
      for i in 1 2 3 4 5 6 7 8 9 10; do crashpadctl validate growing.idump > /dev/null 2>&1 || [ $? = 1 ] || echo status $?; done
      touch stop; wait
      """, in: folder)
    #expect(result.text == "")
  }
}
