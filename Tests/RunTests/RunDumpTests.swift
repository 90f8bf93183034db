import Foundation
import Testing
import ToolRunner

/// The dumps of a run, and what is said of them.
@Suite("crashpadctl run tells what crashed", .enabled(if: HandlerLibrary.canBeBuilt, "clang is not installed"))
struct RunDumpTests {
  /// Runs a program with the handler, and returns the document of the run.
  private static func document(_ program: String, options: String = "", in folder: TemporaryFolder, status: Int)
    throws
    -> JSONDocument
  {
    let result = try RunTests.shell(
      "crashpadctl run --database db --no-system --format json -o run.json \(options) -- \(program); echo $?",
      in: folder)
    #expect(result.text.hasSuffix("\(status)\n"), "\(result.text)\(result.errorText)")
    return try JSONDocument(Data(contentsOf: folder.url("run.json")))
  }

  @Test("A shell that kills itself by SIGSEGV leaves a dump, and dies by it")
  func shell() throws {
    let folder = try TemporaryFolder()
    let run = try Self.document("sh -c 'kill -SEGV $$'", in: folder, status: 139)
    #expect(run["schema"].string == "crashpadctl-run/1")
    #expect(run["signal"].string == "SIGSEGV")
    #expect(run["exit_status"].isNull)
    #expect(run["dumps"].array.count == 1)
    let dump = run["dumps"][0]
    #expect(dump["pid"].int == run["pid"].int)
    #expect(dump["stack"]["pid"].int == run["pid"].int)
    #expect(dump["stack"]["complete"].bool == true)
    #expect(dump["stack"]["crash_info"]["type"].string == "SIGSEGV / SI_USER")
    #expect(
      dump["stack"]["crashing_thread"]["frames"].array.count > 3
        || dump["stack"]["threads"][0]["frames"].array.count > 3)
    #expect(try RunTests.dumps(in: folder).count == 1)
  }

  @Test("Python crashes", .enabled(if: RunTests.hasPython))
  func python() throws {
    let folder = try TemporaryFolder()
    let run = try Self.document("python3 -c 'import ctypes; ctypes.string_at(0)'", in: folder, status: 139)
    #expect(run["dumps"].array.count == 1)
    #expect(run["dumps"][0]["stack"]["crash_info"]["type"].string == "SIGSEGV / SEGV_MAPERR")
  }

  @Test("A program that another one becomes has the handler, under its own name")
  func chain() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("#!/bin/sh\nexec bash -c 'exec sh -c \"kill -ABRT \\$\\$\"'\n".utf8), to: "script")
    let run = try Self.document("sh -c 'chmod +x script; exec ./script'", in: folder, status: 134)
    #expect(run["dumps"].array.count == 1)
    #expect(run["dumps"][0]["pid"].int == run["pid"].int)
  }

  @Test("Children that crash are told, and the program's status is its own")
  func children() throws {
    let folder = try TemporaryFolder()
    let program = "sh -c 'sh -c \"kill -SEGV \\$\\$\"; sh -c \"kill -FPE \\$\\$\"; exit 4'"
    let run = try Self.document(program, in: folder, status: 4)
    #expect(run["exit_status"].int == 4)
    #expect(run["signal"].isNull)
    let types = run["dumps"].array.compactMap { $0["stack"]["crash_info"]["type"].string }
    #expect(types.sorted() == ["SIGFPE / SI_USER", "SIGSEGV / SI_USER"])
    let none = try Self.document(program, options: "--no-children", in: folder, status: 4)
    #expect(none["dumps"].array.isEmpty)
  }

  @Test("Dumps of other runs are not told, nor made reports of")
  func otherRuns() throws {
    let folder = try TemporaryFolder()
    _ = try Self.document("sh -c 'kill -SEGV $$'", in: folder, status: 139)
    let clean = try Self.document("true", options: "--process", in: folder, status: 0)
    #expect(clean["dumps"].array.isEmpty)
    let run = try Self.document("sh -c 'kill -ILL $$'", options: "--process", in: folder, status: 132)
    #expect(run["dumps"].array.count == 1)
    #expect(run["dumps"][0]["error"].isNull)
    let report = try #require(run["dumps"][0]["report"].string)
    #expect(FileManager.default.fileExists(atPath: report))
    #expect(try RunTests.dumps(in: folder).count == 1)
    let inspected = try Tool.shell("crashpadctl inspect '\(report)'", in: folder)
    #expect(inspected.text.contains("SIGILL"), "\(inspected.text)\(inspected.errorText)")
  }

  @Test("The options reach the handler")
  func options() throws {
    let folder = try TemporaryFolder()
    let options = """
      --program-id com.example.shell --annotation version=1.2.3 --annotation 'a=b=c' --environment KEPT \
      --stack 8KiB --crashed-stack 64KiB --timeout 400
      """
    let result = try RunTests.shell(
      "KEPT=yes LOST=no crashpadctl run -d db --quiet \(options) -- sh -c 'kill -SEGV $$'; cp db/pending-*/* dump; ls db/pending-*",
      in: folder)
    #expect(result.text.hasPrefix("com.example.shell@"), "\(result.text)\(result.errorText)")
    let inspected = try Tool.shell("crashpadctl inspect dump; crashpadctl convert --to json dump -o -", in: folder).text
    #expect(inspected.contains("version = 1.2.3"))
    #expect(inspected.contains("a = b=c"))
    let hex = { (text: String) in text.utf8.map { String(format: "%02x", $0) }.joined() }
    #expect(inspected.contains(hex("KEPT=yes")) || inspected.contains("KEPT=yes"))
    #expect(!inspected.contains(hex("LOST=no")) && !inspected.contains("LOST=no"))
  }

  @Test("An LD_PRELOAD that is there stays, behind the handler's")
  func preload() throws {
    let folder = try TemporaryFolder()
    let library = try HandlerLibrary.path()
    let result = try RunTests.shell("LD_PRELOAD='\(library):libm.so.6' handled sh -c 'echo $LD_PRELOAD'", in: folder)
    #expect(result.text == "\(library):libm.so.6\n")
  }

  @Test("Programs that take no library run, with a warning")
  func warnings() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("int main(void) { return 3; }\n".utf8), to: "main.c")
    guard try Tool.shell("cc -static main.c -o static", in: folder).status == 0 else { return }
    let run = try Self.document("./static", in: folder, status: 3)
    #expect(run["warnings"].array.count == 1)
    #expect(run["warnings"][0].string?.contains("linked statically") == true)
  }

  @Test("A library that is not there is said with the places where it was looked for")
  func noLibrary() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell("crashpadctl run -d db --handler-library no/such.so -- true; echo $?", in: folder)
    #expect(result.text == "66\n")
    #expect(result.errorText.contains("\(folder.work.path)/no/such.so"), "\(result.errorText)")
    #expect(!folder.exists("db"))
  }
}
