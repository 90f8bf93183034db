// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// The file that waits for a crash: its room, its name, and what others do with it.
@Suite(
  "A dump's file fits where it is, and is found", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct FileTests {
  private static let pending = "db/pending-serialized-ios-dump"

  /// The script, in which `files` is the program of this name, and `crashpadctl run` has the handler.
  private static func shell(_ script: String, in folder: TemporaryFolder) throws -> Tool.Outcome {
    try HandlerProgram.files.link(into: folder)
    return try Tool.shell(
      """
      ulimit -c 0
      export \(HandlerLibrary.variable)='\(try HandlerLibrary.path())'
      \(script)
      """, in: folder)
  }

  // MARK: Room

  @Test(
    "Room is reserved within the limit of file sizes alone: beyond it, tmpfs ends the program",
    .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "there is no tmpfs to write to"))
  func reserve() throws {
    let result = try Self.shell(
      """
      place=$(mktemp -d /dev/shm/crashpadctl-test-XXXXXX)
      trap 'rm -rf $place' EXIT
      (ulimit -f 64; crashpadctl run --quiet -d $place/db -- sh -c 'echo hello | cat'; echo $? | cat)
      """, in: TemporaryFolder())
    #expect(result.text == "hello\n0\n", "\(result.errorText)")
  }

  @Test("A dump that is larger than files may be is an error of the call, and the program goes on")
  func limit() throws {
    let folder = try TemporaryFolder()
    let result = try Self.shell("./files db limit 4096 | cat; ls db/*", in: folder)
    #expect(result.text == "File too large\nFile too large\nFile too large\npending\n", "\(result.errorText)")
    #expect(!folder.exists("own-dump"))
  }

  @Test("Programs that the program starts take no room before they crash")
  func descendants() throws {
    let folder = try TemporaryFolder()
    let script = """
      for number in 1 2 3 4 5 6 7 8; do sh -c ':'; done
      ls \(Self.pending) | wc -l
      sh -c 'kill -SEGV $$'
      exec bash -c 'sh -c "kill -FPE \\$\\$"; ls \(Self.pending)/bash@*.locked | wc -l; exit 4'
      """
    try folder.write(Array(script.utf8), to: "script.sh")
    let result = try Self.shell(
      "crashpadctl run -d db --no-system --format json -o run.json -- sh script.sh; echo $?", in: folder)
    // One file at a time: of the program itself, whatever it becomes.
    #expect(result.text == "1\n1\n4\n", "\(result.errorText)")
    let run = try JSONDocument(Data(contentsOf: folder.url("run.json")))
    let types = run["dumps"].array.compactMap { $0["stack"]["crash_info"]["type"].string }
    #expect(types.sorted() == ["SIGFPE / SI_USER", "SIGSEGV / SI_USER"])
    #expect(try folder.names(in: Self.pending).count == 2)
  }

  // MARK: Names

  @Test("Programs whose names begin with a dot, or are as long as names can be, leave dumps that are found")
  func names() throws {
    let long = String(repeating: "n", count: 250)
    for (name, id) in [(".files-wrapped", "files-wrapped"), ("...", "program"), (long, String(long.prefix(207)))] {
      let crasher = try Crasher()
      try crasher.folder.write(Array("int main(void) { *(volatile int *)8 = 0; }\n".utf8), to: "crash.c")
      let result = try Self.shell(
        """
        mkdir bin; "\(HandlerLibrary.compiler ?? "clang")" -w crash.c -o 'bin/\(name)' || exit
        crashpadctl run -d db --no-system -- 'bin/\(name)'
        """, in: crasher.folder)
      #expect(result.status == 128 + SIGSEGV)
      #expect(result.errorText.contains("/\(id)@"), "\(result.errorText)")
      #expect(try crasher.dumps().map { $0.hasPrefix("\(id)@") } == [true])
      #expect(try crasher.dump().signal == UInt64(SIGSEGV))
    }
  }

  @Test("A program id that begins with a dot is refused")
  func dottedID() throws {
    let result = try Self.shell(
      """
      crashpadctl run -d db --program-id .files -- true; echo $?
      CRASHPAD_HANDLER_DATABASE=db CRASHPAD_HANDLER_PROGRAM_ID=.files \
        LD_PRELOAD=$\(HandlerLibrary.variable) /bin/echo runs
      """, in: TemporaryFolder())
    #expect(result.text == "64\nruns\n")
    #expect(result.errorText.contains("--program-id takes no name that begins with a dot"), "\(result.errorText)")
    #expect(result.errorText.contains("the program id \".files\" begins with a dot"), "\(result.errorText)")
  }

  // MARK: Removal

  @Test(
    "A file that was removed while the program ran is made again, the directories too",
    arguments: ["rm db/*/*", "rm -r db/*", "rm -r db"])
  func removal(_ command: String) throws {
    let crasher = try Crasher()
    let crash = try Self.shell("./files db crash '\(command)'", in: crasher.folder)
    #expect(crash.status == 128 + SIGSEGV && !crash.errorText.contains("crashpad:"), "\(crash.errorText)")
    #expect(try crasher.dump().signal == UInt64(SIGSEGV))
    let dump = try Self.shell("rm -r db; ./files db dump '\(command)'", in: crasher.folder)
    #expect(dump.status == 0, "\(dump.errorText)")
    _ = try crasher.dump()
  }

  @Test("A database that was removed is not made again by a program that ends in good order")
  func removalAtEnd() throws {
    let folder = try TemporaryFolder()
    let result = try Self.shell("./files db exit 'rm -r db'", in: folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(!folder.exists("db"))
  }
}
