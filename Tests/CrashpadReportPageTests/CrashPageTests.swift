// SPDX-License-Identifier: Apache-2.0
import Foundation
import ToolRunner
import Testing

/// Pages of a report whose stacks are known line by line.
struct CrashPageTests {
  /// A crash of "server": frame 4 of thread 0 is the program's, the others are the system's.
  static func report(annotation: String = "") -> String {
    let frames = (0..<8).map { number in
      let image = number == 4 ? "server" : "libsystem_c.dylib"
      let base = number == 4 ? 0x1_0000_0000 : 0x1_8000_0000
      return "\(number)   \(image)  \t0x\(String(base + number * 16, radix: 16)) function\(number) + 8"
    }
    return """
      Incident Identifier: 11111111-2222-3333-4444-555555555555
      Process:             server [42]
      Path:                /private/var/containers/Bundle/Application/A/server.app/server
      Identifier:          com.example.server
      Version:             1.0 (1)
      Code Type:           ARM-64 (Native)
      Date/Time:           2025-05-06 07:08:09.1234 +0200
      OS Version:          iPhone OS 17.5.1 (21F90)
      Report Version:      104

      Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
      Exception Codes: 0x0000000000000001, 0x0000000000000010
      Triggered by Thread:  0

      Application Specific Information:
      \(annotation.isEmpty ? "none" : annotation)

      Thread 0 name:  main
      Thread 0 Crashed:
      \(frames.joined(separator: "\n"))

      Thread 1:
      0   libsystem_c.dylib  \t0x180000100 poll + 8

      Thread 2 name:  worker
      Thread 2:
      0   libsystem_c.dylib  \t0x180000100 poll + 8

      Binary Images:
      0x100000000 - 0x10000ffff server arm64  <\(String(repeating: "a", count: 32))> /private/var/containers/Bundle/Application/A/server.app/server
      0x180000000 - 0x18000ffff libsystem_c.dylib arm64e  <\(String(repeating: "b", count: 32))> /usr/lib/system/libsystem_c.dylib

      EOF

      """
  }

  private static func text(_ report: String) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(Array(report.utf8), to: "server.crash")
    let result = try Tool.run(["report", "--no-system", "server.crash", "-o", "server.html"], in: folder)
    try #require([0, 1].contains(result.status), "\(result.errorText)")
    return String(decoding: try folder.bytes(of: "server.html"), as: UTF8.self)
  }

  @Test func `Frames have names to link to`() throws {
    let text = try Self.text(Self.report())
    #expect(text.contains("<li id=\"t0f4\" class=\"own first\"><a href=\"#t0f4\">4</a>"))
    #expect(text.contains("<li id=\"t1f0\"><a href=\"#t1f0\">0</a>"))
  }

  @Test func `Three frames of the system and more fold around those of the program`() throws {
    let text = try Self.text(Self.report())
    #expect(text.contains("Frames 0 to 3, of the system: <code>function0</code>"))
    #expect(text.contains("Frames 5 to 7, of the system"))
    // Without a script nothing is folded.
    let details = text.split(separator: "<details").dropFirst()
    #expect(details.count >= 3)
    #expect(details.allSatisfy { $0.hasPrefix(" open data-fold") })
  }

  @Test func `Threads with one stack stand together`() throws {
    let text = try Self.text(Self.report())
    #expect(text.contains("2 threads, 1 stack: "))
    #expect(text.contains("<li id=\"t2\"><b>Thread 2</b>"))
    #expect(text.contains("<q>worker</q></li>"))
    #expect(!text.contains("t2f0"))
  }

  @Test func `A long text stands whole at the end, once, with a link from each of its places`() throws {
    let long = "begin<&>" + String(repeating: "x", count: 100_000) + "end"
    let text = try Self.text(Self.report(annotation: long))
    #expect(text.components(separatedBy: "xend</pre>").count == 2)
    #expect(text.contains("(whole: 100,011 characters)</a>"))
  }

  @Test func `A page says what is missing in a dump`() throws {
    let folder = try TemporaryFolder()
    let page = try Samples.page(of: Array(Samples.crash().dropLast(40)), in: folder)
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(text.contains("<p class=\"note\">The dump is not whole: crash.idump: intermediate dump"))
    #expect(!(try Self.text(Self.report()).contains("not whole")))
  }

  @Test func `The policy names the hashes of the style and of the script`() throws {
    let text = try Self.text(Self.report())
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
      let start = try #require(text.range(of: "<\(tag)>"))
      let end = try #require(text.range(of: "</\(tag)>", range: start.upperBound..<text.endIndex))
      let hash = try Hashing.sha256(Data(text[start.upperBound..<end.lowerBound].utf8)).base64EncodedString()
      #expect(text.contains("\(directive) &#39;sha256-\(hash)&#39;;"))
    }
    #expect(text.contains("content=\"default-src &#39;none&#39;; "))
  }
}

/// The digests of coreutils, to compare with.
enum Hashing {
  static func sha256(_ data: Data) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try data.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    process.arguments = [file.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let digits = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).prefix(64)
    process.waitUntilExit()
    return Data(stride(from: 0, to: 64, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) })
  }
}
