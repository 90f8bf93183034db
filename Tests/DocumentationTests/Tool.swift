// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Synchronization
import Testing
import ToolRunner

/// The built tool.
enum Tool {
  /// `CRASHPADCTL`, or what was built together with these tests.
  static let path: String = {
    if let path = ProcessInfo.processInfo.environment["CRASHPADCTL"] { return path }
    let folders = [
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
      Repository.root.appendingPathComponent(".build/debug"),
    ]
    let paths = folders.map { $0.appendingPathComponent("crashpadctl").path }
    return paths.first { FileManager.default.isExecutableFile(atPath: $0) } ?? "crashpadctl"
  }()

  struct Output {
    /// Standard output, and with `2>&1` in the script standard error too.
    let text: String
    let status: Int32
  }

  /// Whether a script runs a program with the handler in it.
  static func needsLibrary(_ script: String) -> Bool {
    !script.contains("--help") && ["crashpadctl run ", "crashpadctl doctor "].contains { script.contains($0) }
  }

  /// Runs a script with bash in `folder`. `crashpadctl` is on its path; its standard input is empty.
  static func run(_ script: String, in folder: URL) throws -> Output {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", script]
    process.currentDirectoryURL = folder
    let search = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    process.environment = [
      "PATH": URL(fileURLWithPath: path).deletingLastPathComponent().path + ":" + search, "LC_ALL": "C.UTF-8",
      "COLUMNS": "1000", "HOME": folder.path,
    ]
    if needsLibrary(script) { process.environment?[HandlerLibrary.variable] = try HandlerLibrary.path() }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    process.standardError = script.contains("2>&1") ? pipe : FileHandle.nullDevice
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Output(text: String(decoding: data, as: UTF8.self), status: process.terminationStatus)
  }

  private static let helps = Mutex<[String: Help]>([:])

  /// The `--help` of a command; it is asked once.
  static func help(_ command: String = "") throws -> Help {
    if let known = helps.withLock({ $0[command] }) { return known }
    let output = try run("crashpadctl \(command) --help", in: FileManager.default.temporaryDirectory)
    try #require(output.status == 0)
    let help = Help(output.text)
    helps.withLock { $0[command] = help }
    return help
  }
}

/// The text of `--help`.
struct Help {
  struct Entry {
    /// "-o, --output <path>"
    let label: String
    var text: String

    /// The values that the option takes, and the default.
    var values: [String] { parenthesis("values: ")?.components(separatedBy: ", ") ?? [] }
    var defaultValue: String? { parenthesis("default: ") }

    private func parenthesis(_ start: String) -> String? {
      guard let open = text.range(of: "(", options: .backwards), text.hasSuffix(")") else { return nil }
      return text[open.upperBound...].dropLast().components(separatedBy: "; ").first { $0.hasPrefix(start) }
        .map { String($0.dropFirst(start.count)) }
    }
  }

  private(set) var overview = ""
  private(set) var options: [Entry] = []
  private(set) var subcommands: [Entry] = []

  init(_ text: String) {
    var heading = "OVERVIEW"
    for line in text.components(separatedBy: "\n") {
      if let word = ["USAGE", "ARGUMENTS", "OPTIONS", "SUBCOMMANDS"].first(where: { line.hasPrefix($0 + ":") }) {
        heading = word
      } else if line.wholeMatch(of: #/[A-Z]+:/#) != nil {
        // Options that belong together.
        heading = "OPTIONS"
      } else if heading == "OVERVIEW" {
        overview += line + "\n"
      } else if heading == "OPTIONS" {
        Self.add(line, to: &options)
      } else if heading == "SUBCOMMANDS", !line.contains("See '") {
        Self.add(line, to: &subcommands)
      }
    }
  }

  /// The column at which descriptions begin.
  private static let column = 26

  private static func add(_ line: String, to entries: inout [Entry]) {
    let text = line.trimmingCharacters(in: .whitespaces)
    if text.isEmpty { return }
    if line.hasPrefix("   ") {
      if !entries.isEmpty { entries[entries.count - 1].text += text }
      return
    }
    // A label that fills its column has one blank behind it.
    let (head, tail) = (line.prefix(Self.column), line.dropFirst(Self.column))
    if head.last == " ", let next = tail.first, !" <-".contains(next) {
      entries.append(Entry(label: head.trimmingCharacters(in: .whitespaces), text: String(tail)))
      return
    }
    let parts = text.components(separatedBy: "  ").filter { !$0.isEmpty }
    entries.append(
      Entry(label: parts[0], text: parts.dropFirst().joined(separator: " ").trimmingCharacters(in: .whitespaces)))
  }
}

/// The files that `make demo` leaves, which the commands in README.md name.
struct DemoFiles: ~Copyable {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString)")
    let script = Repository.root.appendingPathComponent("scripts/demo-files").path
    let output = try Tool.run("'\(script)' '\(Tool.path)' '\(folder.path)' 2>&1", in: Repository.root)
    try #require(output.status == 0, "\(output.text)")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}

/// A directory with the files that the documents' examples name: a copy of one that is made once.
struct Samples: ~Copyable {
  let folder: URL

  private static let original = Result { try SampleFiles().folder }

  init() throws {
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent("documentation-\(UUID().uuidString)")
    let output = try Tool.run("cp -a . '\(copy.path)'", in: Self.original.get())
    try #require(output.status == 0)
    folder = copy
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}

/// Makes the files of `Samples`. The directory is removed when the process ends.
struct SampleFiles {
  private static let place = FileManager.default.temporaryDirectory.appendingPathComponent(
    "documentation-samples-\(getpid())")
  let folder = SampleFiles.place

  init() throws {
    atexit { try? FileManager.default.removeItem(at: SampleFiles.place) }
    let artifacts = folder.appendingPathComponent("artifacts")
    let dumps = folder.appendingPathComponent("dumps/older")
    let scripts = folder.appendingPathComponent("scripts")
    let programs = ["bin", "lib", "build"].map { folder.appendingPathComponent($0) }
    for directory in [artifacts, dumps, scripts, folder.appendingPathComponent("dSYMs")] + programs {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }
    try writeCrash()
    try write(Data(contentsOf: folder.appendingPathComponent("crash.idump")).prefix(4000), "damaged.idump")
    try write(Data(SynthCore(threads: 2).bytes), "core")
    try write(Data(SynthReport().bytes), "crash.ips")
    try write(Self.dump(seed: 11), "artifacts/first.idump")
    try write(Self.dump(seed: 12), "dumps/first.idump")
    try write(Self.dump(seed: 13), "dumps/older/second.idump")
    try writePrograms()
    try write(Data("#!/bin/sh\nexit 0\n".utf8), "server")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: folder.appendingPathComponent("server").path)
    try writeDatabase()
    try write(Data("a log\n".utf8), "app.log")
    try write(Data("https://crashes.example.com/submit\n".utf8), "crashes.url")
    try writeSymbols()
    let output = try Tool.run(
      """
      set -e
      crashpadctl convert crash.idump
      crashpadctl database create -d DB
      crashpadctl database import -d DB crash.dmp --id 4f2a91d0-3c55-4e8a-9d2b-7f1e60a4c0b1
      crashpadctl convert --to json crash.idump -o edited.json
      crashpadctl convert artifacts/first.idump -o artifacts/first.dmp
      """, in: folder)
    try #require(output.status == 0)
  }

  /// The sample of `make demo`; without it, a made one.
  private func writeCrash() throws {
    let sample = Repository.root.appendingPathComponent("scripts/sample.json")
    guard FileManager.default.fileExists(atPath: sample.path) else {
      try write(Self.dump(seed: 3), "crash.idump")
      return
    }
    try FileManager.default.copyItem(at: sample, to: folder.appendingPathComponent("scripts/sample.json"))
    let output = try Tool.run("crashpadctl convert --to idump scripts/sample.json -o crash.idump", in: folder)
    try #require(output.status == 0)
  }

  /// `symbols`, a store with those of the sample's program.
  private func writeSymbols() throws {
    let id = "F37A6DA06A6EEA728E5C5CD566B637040"
    let store = "symbols/Example/\(id)"
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent(store), withIntermediateDirectories: true)
    let lines = [
      "MODULE iOS arm64 \(id) Example", "FILE 0 /src/Cart.swift", "FILE 1 /src/CheckoutView.swift",
      "INLINE_ORIGIN 0 Cart.total()", "FUNC 42e00 100 0 CheckoutView.buy(Cart)", "INLINE 0 42 1 0 42e60 40",
      "42e00 60 40 1", "42e60 40 12 0", "42ea0 60 43 1", "FUNC 378a00 100 0 CheckoutView.confirm()", "378a00 100 58 1",
    ]
    try write(Data((lines.joined(separator: "\n") + "\n").utf8), "\(store)/Example.sym")
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("src"), withIntermediateDirectories: true)
    try write(Data("struct Cart {}\n".utf8), "src/Cart.swift")
  }

  /// A program, its debug information and a library.
  private func writePrograms() throws {
    var program = SynthElf()
    for name in ["app", "bin/app", "build/app"] { try write(Data(program.bytes), name) }
    (program.hasCode, program.hasFrames) = (false, false)
    try write(Data(program.bytes), "app.debug")
    var library = SynthElf()
    library.buildID = [1, 2, 3, 4, 5, 6, 7, 8]
    try write(Data(library.bytes), "lib/libapp.so")
    for (suffix, bytes) in SynthSharedCache(.named).files {
      try write(Data(bytes), "dyld_shared_cache_arm64e" + suffix)
    }
    try write(Data("MODULE Linux x86_64 000000000000000000000000000000000 app\nPUBLIC 1000 0 main\n".utf8), "app.sym")
  }

  /// `DB`, with pending dumps of an app.
  private func writeDatabase() throws {
    let pending = "DB/pending-serialized-ios-dump"
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent(pending), withIntermediateDirectories: true)
    try write(Self.dump(seed: 21), "\(pending)/com.example.app@1b4e28ba-2fa1-41d2-883f-0016d3cca427")
    try write(Self.dump(seed: 22), "\(pending)/com.example.app@2b4e28ba-2fa1-41d2-883f-0016d3cca427")
    try write(Data(), "\(pending)/com.example.app@3b4e28ba-2fa1-41d2-883f-0016d3cca427.locked")
    // As Xcode saves an app's container.
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("MyApp.xcappdata/AppData/Library/Crashpad/pending-serialized-ios-dump"),
      withIntermediateDirectories: true)
  }

  private static func dump(seed: UInt64) -> Data {
    var parameters = SynthParameters(seed: seed)
    parameters.threadCount = 3
    parameters.stackBytes = 1024
    parameters.moduleCount = 4
    parameters.contextRegionsPerThread = 2
    parameters.processAnnotations = 0
    parameters.annotationsPerModule = 0
    return Data(SynthDump(parameters).bytes)
  }

  private func write(_ data: Data, _ path: String) throws { try data.write(to: folder.appendingPathComponent(path)) }
}
