// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// The commands under the filters of system calls that `scripts/` ships for systemd: a call that a filter lacks kills.
@Suite("Services' filters of system calls")
struct ServiceUnitTests {
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
    .standardizedFileURL

  /// The names of all calls that a unit allows.
  private static func allowed(_ unit: String) throws -> Set<String> {
    let text = try String(contentsOf: sources.appending(path: "scripts/\(unit)"), encoding: .utf8)
    var allowed: Set<String> = []
    for line in text.split(separator: "\n") where line.hasPrefix("SystemCallFilter=") {
      var words = line.dropFirst("SystemCallFilter=".count)
      let isDenied = words.first == "~"
      if isDenied { words = words.dropFirst() }
      let calls = words.split(separator: " ").reduce(into: Set<String>()) {
        $0.formUnion(SystemCallGroups.calls(String($1)))
      }
      if isDenied { allowed.subtract(calls) } else { allowed.formUnion(calls) }
    }
    // systemd always allows what starting a program takes.
    return allowed.union(SystemCallGroups.calls("@default"))
  }

  /// The numbers that this machine's headers give to calls.
  private static func numbers(_ names: Set<String>, in folder: TemporaryFolder) throws -> [Int] {
    let result = try Tool.shell("echo '#include <sys/syscall.h>' | cc -E -dM -", in: folder)
    var values: [Substring: Substring] = [:]
    for line in result.text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 3, words[0] == "#define" { values[words[1]] = words[2] }
    }
    return names.compactMap { name in
      var value = values["__NR_\(name)"]
      while let next = value, let inner = values[next] { value = inner }
      return value.flatMap { Int($0) }
    }.sorted()
  }

  private struct Service {
    let folder: TemporaryFolder
    let dumps = "db/pending-serialized-ios-dump"

    init() throws {
      folder = try TemporaryFolder()
      let result = try Tool.shell("crashpadctl database create -d db", in: folder)
      #expect(result.status == 0)
      for number in 1...10 {
        try folder.write(
          SynthDump(SynthParameters.tiny(seed: UInt64(number))).bytes,
          to: "\(dumps)/com.example@\(UploadDatabase.id(number))")
      }
    }

    /// The start of a command line under the filter of `unit`.
    func prefix(_ unit: String) throws -> String {
      let numbers = try ServiceUnitTests.numbers(ServiceUnitTests.allowed(unit), in: folder)
      #expect(numbers.count > 100)
      try folder.write(Array(numbers.map(String.init).joined(separator: "\n").utf8), to: "calls-\(unit)")
      let filter = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().appending(path: "service-filter")
      return "'\(filter.path)' 'calls-\(unit)'"
    }
  }

  @Test("process, upload and prune do their work under the shipped filters, with several jobs")
  func shipped() throws {
    let service = try Service()
    let folder = service.folder
    let collector = try Collector(in: folder)
    let processing = try service.prefix("crashpadctl-process.service")
    let uploading = try service.prefix("crashpadctl-upload.service")
    // One that the units forbid, to show that the filter is there.
    let forbidden = try Tool.shell("\(processing) /usr/bin/nice -n 1 true", in: folder)
    #expect(forbidden.status == 128 + 31, "\(forbidden.errorText)")

    let processed = try Tool.shell("\(processing) '\(Tool.path)' process -d db --jobs 4", in: folder)
    #expect(processed.status == 0, "\(processed.errorText)")
    #expect(try folder.names(in: service.dumps).isEmpty)
    #expect(try folder.names(in: "db/pending").count == 20)

    let uploaded = try Tool.shell(
      "\(uploading) '\(Tool.path)' upload -d db --jobs 4 --all --url '\(collector.url())'", in: folder)
    #expect(uploaded.status == 0, "\(uploaded.errorText)")
    #expect(try collector.requests.count == 10)

    let pruned = try Tool.shell("\(processing) '\(Tool.path)' prune -d db --max-reports 0 --clean", in: folder)
    #expect(pruned.status == 0, "\(pruned.errorText)")
    #expect(try folder.names(in: "db/completed").isEmpty)
  }

  @Test(
    "A run that can't start threads does the work all the same",
    .enabled(if: Machine.isRoot && Machine.hasSetpriv, "needs the rights of root"))
  func withoutThreads() throws {
    let service = try Service()
    let command =
      "chmod -R go+rwX . && chmod go+rx .. && as-nobody prlimit --nproc=1 '\(Tool.path)' process -d db --jobs 4"
    let result = try Tool.shell(command, in: service.folder)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try service.folder.names(in: service.dumps).isEmpty)
  }
}
