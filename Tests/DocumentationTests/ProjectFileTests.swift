// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The files for contributors, and for the services that read a repository.
struct ProjectFileTests {
  @Test func `The package index documents the libraries of make docs`() throws {
    let makefile = try Repository.text("Makefile").replacing("\\\n", with: " ").split(separator: "\n")
    let line = try #require(makefile.first { $0.hasPrefix("LIBRARIES = ") })
    let documented = try Repository.text(".spi.yml").split(separator: "\n").filter { $0.hasPrefix("        - ") }
    #expect(documented.map { String($0.dropFirst(10)) } == line.split(separator: " ").dropFirst(2).map(String.init))
    let package = try Repository.text("Package.swift")
    for name in documented.map({ $0.dropFirst(10) }) { #expect(package.contains("\"\(name)\""), "\(name)") }
  }

  @Test func `Each owned path exists`() throws {
    let lines = try Repository.text(".github/CODEOWNERS").split(separator: "\n").filter { $0.hasPrefix("/") }
    try #require(lines.count > 20)
    for line in lines {
      let words = line.split(separator: " ")
      #expect(words.count == 2 && words[1].hasPrefix("@"), "\(line)")
      #expect(
        FileManager.default.fileExists(atPath: Repository.root.path + words[0]), "\(words[0]) is owned and not there")
    }
  }

  @Test(arguments: ["bug", "capture"])
  func `Forms ask for the output of doctor and validate`(form: String) throws {
    let text = try Repository.text(".github/ISSUE_TEMPLATE/\(form).yml")
    for command in ["doctor", "validate"] { #expect(text.contains("`crashpadctl \(command)"), "\(command)") }
  }

  @Test func `The workflow runs what CI runs, on a Swift that the package takes`() throws {
    let workflow = try Repository.text(".github/workflows/ci.yml")
    #expect(workflow.contains("run: .ci/run\n"))
    let image = try #require(workflow.firstMatch(of: /image: swift:(\d+)\.(\d+)-/))
    #expect((Int(image.1) ?? 0, Int(image.2) ?? 0) >= (6, 2))
    #expect(
      try Repository.text(".devcontainer/devcontainer.json").contains("\"image\": \"swift:\(image.1).\(image.2)-"))
  }

  @Test func `Editors indent and break lines as the formatter does`() throws {
    let data = Data(try Repository.text(".swift-format").utf8)
    let format = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let config = try Repository.text(".editorconfig")
    let spaces = try #require((format["indentation"] as? [String: Int])?["spaces"])
    #expect(config.contains("indent_size = \(spaces)\n"))
    #expect(config.contains("max_line_length = \(try #require(format["lineLength"] as? Int))\n"))
  }

  @Test func `Paths that the map of the code names exist`() throws {
    let text = try Repository.text("Sources/README.md")
    let start = try #require(text.firstRange(of: "## To change something, open")).upperBound
    let end = try #require(text[start...].firstRange(of: "\n## ")).lowerBound
    let rows = text[start..<end].split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
    try #require(rows.count > 10)
    for row in rows {
      var folder = ""
      for match in row.split(separator: "|").last?.matches(of: /`([A-Za-z\/+]+(?:\.swift|\/))`/) ?? [] {
        let path = match.1.contains("/") ? String(match.1) : folder + match.1
        folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        #expect(FileManager.default.fileExists(atPath: Repository.root.path + "/Sources/" + path), "\(path)")
      }
    }
  }
}
