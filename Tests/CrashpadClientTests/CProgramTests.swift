// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Programs in C and C++ that are compiled here.
@Suite("Programs in C and C++", .enabled(if: Compiler.path != nil, "clang is not installed"))
struct CProgramTests {
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let package = sources.deletingLastPathComponent().deletingLastPathComponent()

  private static let flags = "-Wall -Wextra -Werror -pedantic"

  private func compile(_ program: ClientProgram, _ arguments: String) throws {
    let compiler = try #require(Compiler.path)
    let result = try Tool.shell("'\(compiler)' \(Self.flags) \(arguments)", in: program.folder)
    try #require(result.status == 0, "\(result.errorText)")
  }

  private var client: String {
    let products = ClientProgram.products.path
    return "-I '\(Self.package.path)/Sources/CrashpadClient/include' '\(products)/libcrashpad_client.so' "
      + "-Wl,-rpath,'\(products)' -Wl,--allow-shlib-undefined"
  }

  private func run(_ program: ClientProgram, _ command: String) throws -> Tool.Outcome {
    try Tool.shell("ulimit -c 0; SWIFT_BACKTRACE=enable=no exec ./\(command)", in: program.folder)
  }

  @Test("A program in C captures its crash, and makes a report of it at its next start")
  func c() throws {
    let program = try ClientProgram()
    try compile(program, "-std=c99 '\(Self.sources.path)/Examples/example.c' -o example \(client)")
    let crash = try run(program, "example db crash")
    #expect(crash.status == 139, "\(crash.errorText)")
    let common = ["push 0", "set 0", "memory 0", "refused 1 1 1 1", "thread 0"]
    #expect(crash.outputLines.map(String.init) == ["again 1", "crashed last run: 0, start crashes: 0"] + common + [""])
    let dump = try DumpFacts(#require(try program.pendingDumpFiles().first))
    #expect(dump.annotations["version"] == "1.2.3")
    #expect(dump.annotations["channel"] == "test")
    #expect(dump.annotations["user"] == "anna")
    #expect(dump.object("path") == "/index.html")
    #expect(dump.objects["log"]?.type == 0x8003)
    let next = try run(program, "example db report")
    #expect(next.status == 0)
    #expect(
      next.outputLines.map(String.init) == ["again 1", "crashed last run: 1, start crashes: 1"] + common
        + ["events 1 1 1 0 1 2 1 0 1 2 1", "process 0", "dump 0", "pending 0", "allowed 0 0 1", ""])
    #expect(try program.reports(in: "pending").count == 2)
  }

  @Test("A program in C++ does, with the uncaught exception")
  func cxx() throws {
    let program = try ClientProgram()
    try compile(
      program, "-std=c++17 -x c++ '\(Self.sources.path)/Examples/example.cpp' -x none -o example \(client) -lstdc++")
    #expect(try run(program, "example db").status == 134)
    let dump = try DumpFacts(#require(try program.pendingDumpFiles().first))
    #expect(dump.object("path") == "/from/c++")
    #expect(dump.messages.contains { $0.contains("nobody catches this") })
  }

  @Test("The handler alone needs no Swift, linked dynamically or not", arguments: Soak.some(1, of: ["", "-static"]))
  func capture(link: String) throws {
    let program = try ClientProgram()
    let folder = Self.package.appending(path: "Sources/CCrashCapture").path
    let sources = "$(ls '\(folder)'/*/*.c | grep -v /preload.c)"
    try compile(
      program,
      "-w -std=gnu17 -I '\(folder)/include' '\(Self.sources.path)/Examples/capture.c' \(sources) -o example \(link)")
    #expect(try run(program, "example db").status == 139)
    let dump = try DumpFacts(#require(try program.pendingDumpFiles().first))
    #expect(dump.isComplete)
    #expect(dump.object("last-line") == "the last line")
  }
}

private enum Compiler {
  static let path: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return folders.map { $0 + "/clang" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }()
}
