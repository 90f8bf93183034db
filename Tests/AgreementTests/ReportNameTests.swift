// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite(
  "Frames of an .ips get llvm-symbolizer's answers from dSYMs",
  .enabled(
    if: AppleBuild.isPossible, "clang for Apple's systems, ld64.lld, dsymutil or llvm-symbolizer is not installed"))
struct ReportNameTests {
  /// A report whose crashed thread has a frame behind each instruction of an image, which was loaded elsewhere than it was
  /// linked for.
  private static func report(_ images: [AppleBuild.Image]) -> SynthReport {
    var report = SynthReport()
    report.images = images.enumerated().map { index, image in
      let digits = image.uuid.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      let uuid = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
        String(digits.dropFirst(range.lowerBound).prefix(range.count))
      }.joined(separator: "-")
      return SynthReport.Image(
        name: image.name, path: "/private/var/containers/Bundle/Application/A/Shop.app/\(image.name)",
        base: 0x1_0480_0000 + UInt64(index) * 0x100_0000, size: 0x10_0000, uuid: uuid)
    }
    report.threads = [SynthReport.Thread(queue: "com.apple.main-thread", [SynthReport.Frame(0, 0)])]
    for (index, image) in images.enumerated() {
      report.threads[0].frames += image.addresses.map { SynthReport.Frame(index, $0 - image.base + 4) }
    }
    return report
  }

  @Test("Functions, files, lines and inlined calls of each instruction")
  func names() throws {
    let build = try AppleBuild(dwarf: 5)
    let images = [build.app, build.library]
    try build.folder.write(Self.report(images).bytes, to: "report.ips")
    let result = try Tool.run(
      [
        "symbolize", "--no-demangle", "--no-system", "--frames", "all", "--format", "json", "--symbols", "dSYMs",
        "report.ips",
      ], in: build.folder)
    try #require(result.status == 0, "\(result.errorText)")
    var frames = try JSONDocument(result.output)["threads"][0]["frames"].array.dropFirst()
    var inlined = 0
    for image in images {
      let expected = try image.expected(in: build.folder)
      for address in image.addresses {
        let next = frames.popFirst()
        let frame = try #require(next)
        let chain = Chain(frames: (frame["inlines"].array + [frame]).map(Self.frame))
        inlined += chain.frames.count - 1
        #expect(chain == expected[address], "\(image.name) 0x\(String(address, radix: 16))")
      }
    }
    #expect(frames.isEmpty && inlined > 0)
  }

  private static func frame(_ frame: JSONDocument) -> Chain.Frame {
    Chain.Frame(
      function: frame["linkage_name"].string ?? frame["function"].string ?? "", file: frame["file"].string ?? "",
      line: frame["line"].int ?? 0, column: frame["column"].int ?? 0)
  }

  @Test("--format crash writes the names; a report of another build keeps its own")
  func text() throws {
    let build = try AppleBuild(dwarf: 5)
    var report = Self.report([build.app])
    report.threads[0].frames = [
      .init(0, build.app.addresses[1] - build.app.base),
      .init(0, build.app.addresses[2] - build.app.base, "kept", plus: 8),
    ]
    try build.folder.write(report.bytes, to: "report.ips")
    report.images[0].uuid = "00000000-0000-4000-8000-000000000001"
    try build.folder.write(report.bytes, to: "other.ips")
    func lines(_ name: String) throws -> [Substring] {
      let result = try Tool.run(["symbolize", "--format", "crash", "--symbols", "dSYMs", name], in: build.folder)
      #expect(result.status == 0, "\(result.errorText)")
      return result.text.split(separator: "\n").filter { $0.contains("app     ") && $0.first?.isNumber == true }
    }
    let named = try lines("report.ips")
    #expect(named.count >= 2 && named.allSatisfy { $0.contains("main.cc:") }, "\(named)")
    let others = try lines("other.ips")
    #expect(others.count == 2 && others[0].contains("0x104800000 + ") && others[1].contains(" kept + 8"), "\(others)")
  }
}
