// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// scripts/ci/check-dumps, which the action for GitHub and the template for GitLab run, with an archive as releases have it.
@Suite(
  "The check of dumps in CI",
  .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"))
struct CheckDumpsTests {
  private static let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
    path: "../../scripts"
  )
  .standardizedFileURL

  let folder: TemporaryFolder

  /// The archive has a link to the tool: tens of megabytes would be packed for each test, and unpacked for each check.
  init() throws {
    folder = try TemporaryFolder()
    let result = try Tool.shell(
      """
      mkdir -p release/bin artifacts none && ln -s "$(command -v crashpadctl)" release/bin/ &&
      tar -czf release.tar.gz release && sha256sum release.tar.gz | cut -d ' ' -f 1 >digest &&
      crashpadctl convert --quiet --to idump '\(Self.scripts.path)/sample.json' -o artifacts/crash.idump
      """, in: folder)
    try #require(result.status == 0, "\(result.errorText)")
  }

  private func check(_ variables: String) throws -> Tool.Outcome {
    try Tool.shell(
      """
      export GITHUB_ACTIONS=true CRASHPADCTL_URL="file://$PWD/release.tar.gz" CRASHPADCTL_SHA256="$(cat digest)"
      \(variables) bash '\(Self.scripts.path)/ci/check-dumps'
      """, in: folder)
  }

  @Test("A whole dump, and no dump, pass")
  func whole() throws {
    for place in ["artifacts", "none"] {
      let result = try check("CRASHPADCTL_DUMPS=\(place)")
      #expect(result.status == 0, "\(result.text)\(result.errorText)")
      #expect(!result.text.contains("::error"))
    }
    #expect(folder.exists("crashpadctl-results/dumps.sarif") && folder.exists("crashpadctl-results/dumps.junit.xml"))
  }

  @Test("A damaged dump fails with an annotation of its file")
  func damaged() throws {
    let cut = try Tool.shell("head -c 4000 artifacts/crash.idump >artifacts/cut.idump", in: folder)
    #expect(cut.status == 0)
    let result = try check("CRASHPADCTL_DUMPS=artifacts")
    #expect(result.status == 1)
    #expect(result.text.contains("::error file=artifacts/cut.idump::"), "\(result.text)")
  }

  @Test("A crash that the baseline has passes, and another fails")
  func baseline() throws {
    let first = try check("CRASHPADCTL_DUMPS=artifacts")
    #expect(first.status == 0)
    let samples = Self.scripts.appending(path: "../Tests/Outside/Samples").standardizedFileURL.path
    _ = try Tool.shell(
      "mv crashpadctl-results/groups.json known.json; mkdir new; cp '\(samples)/report.ips' new/", in: folder)
    let known = try check("CRASHPADCTL_BASELINE=known.json CRASHPADCTL_DUMPS=artifacts")
    #expect(known.status == 0, "\(known.text)")
    let new = try check("CRASHPADCTL_BASELINE=known.json CRASHPADCTL_DUMPS=new")
    #expect(new.status == 1)
    #expect(new.text.contains("::error::new group "), "\(new.text)")
  }

  @Test("An archive of another digest is not unpacked, and a missing input is no success")
  func unusable() throws {
    let other = try check("CRASHPADCTL_SHA256=\(String(repeating: "0", count: 64)) CRASHPADCTL_DUMPS=artifacts")
    #expect(other.status == 2 && other.text.contains("has another SHA-256"), "\(other.text)")
    #expect(try check("CRASHPADCTL_DUMPS=missing").status == 2)
    #expect(try check("CRASHPADCTL_DUMPS=").status == 2)
    #expect(try check("CRASHPADCTL_BASELINE=missing.json CRASHPADCTL_DUMPS=artifacts").status == 2)
  }
}
