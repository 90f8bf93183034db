// SPDX-License-Identifier: Apache-2.0
import CrashpadClient
import Foundation
import SystemPackage
import Testing

// begin
enum Crash {
  static let path = StringAnnotation("request-path")
}

func startCrashReporting() throws {
  try CrashpadClient.startCrashpadInProcessHandler(
    database: "/var/lib/server/crashes", annotations: ["version": "1.2.3"])
  try CrashpadClient.processIntermediateDumps()  // of earlier runs
  try HangMonitor.start().watchMainThread()
}

func serve(_ path: String) {
  Crash.path.set(path)  // every later dump has it
}
// end

@Suite("README.md")
struct ReadmeTests {
  @Test("The program in README.md is the one that compiles here")
  func program() throws {
    let here = URL(fileURLWithPath: #filePath)
    let source = try String(contentsOf: here, encoding: .utf8)
    let readme = try String(contentsOf: here.appending(path: "../../../README.md").standardizedFileURL, encoding: .utf8)
    let code = source.components(separatedBy: "\n// begin\n")[1].components(separatedBy: "\n// end\n")[0]
    #expect(readme.contains("import CrashpadClient\nimport SystemPackage\n\n\(code)\n```"))
    serve("/index.html")
    #expect(Crash.path.value == "/index.html")
  }
}
