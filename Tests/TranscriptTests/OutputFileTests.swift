// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

@Suite("Output files")
struct OutputFileTests {
  /// A dump with two large stacks, so that a conversion takes long enough to be interrupted.
  private static func large(stackBytes: Int = 8 << 20) -> [UInt8] {
    Samples.crash.setting(.stackRegionData, to: [UInt8](repeating: 0x5a, count: stackBytes))
      .setting(.stackRegionData, 1, to: [UInt8](repeating: 0xa5, count: stackBytes))
  }

  private func waitUntilEnd(_ process: Process) -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  @Test("A tool that is killed in the middle leaves a whole output or none", arguments: ["minidump", "json"])
  func killed(_ target: String) throws {
    let folder = try TemporaryFolder()
    // JSON of a byte takes ten times as long.
    try folder.write(Self.large(stackBytes: target == "json" ? 1 << 20 : 8 << 20), to: "large.idump")
    let arguments = ["convert", "--to", target, "large.idump", "-o", "out/result"]
    try FileManager.default.createDirectory(at: folder.url("out"), withIntermediateDirectories: true)
    let start = ContinuousClock.now
    #expect(try Tool.run(arguments, in: folder).status == 0)
    let duration = ContinuousClock.now - start
    let whole = try folder.bytes(of: "out/result").count
    try FileManager.default.removeItem(at: folder.url("out/result"))

    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    var interrupted = 0
    for round in 0..<20 {
      let process = try Tool.start(arguments, in: folder)
      let moment = duration * random.between(0, 1000) / 1000
      Thread.sleep(forTimeInterval: moment / .seconds(1))
      kill(process.processIdentifier, SIGKILL)
      if waitUntilEnd(process) != 0 { interrupted += 1 }
      let names = try folder.names(in: "out")
      if names == ["result"] {
        #expect(try folder.bytes(of: "out/result").count == whole, "round \(round), seed \(seed)")
        try FileManager.default.removeItem(at: folder.url("out/result"))
      } else {
        // On file systems without nameless files, a temporary one stays.
        #expect(names == [] || !Self.hasNamelessFiles(folder), "round \(round), seed \(seed): \(names)")
      }
    }
    #expect(interrupted > 0, "every run was through before it was killed; seed \(seed)")
  }

  @Test("A tool that is killed leaves the old output, or the whole new one")
  func killedWhileReplacing() throws {
    let folder = try TemporaryFolder()
    try folder.write(Self.large(), to: "large.idump")
    let old = Array("This was here before.\n".utf8)
    let start = ContinuousClock.now
    #expect(try Tool.run(["convert", "large.idump", "-o", "whole"], in: folder).status == 0)
    let duration = ContinuousClock.now - start
    let whole = try folder.bytes(of: "whole").count
    for round in 0..<10 {
      try folder.write(old, to: "result")
      let process = try Tool.start(["convert", "large.idump", "-o", "result"], in: folder)
      Thread.sleep(forTimeInterval: duration * round / 9 / .seconds(1))
      kill(process.processIdentifier, SIGKILL)
      _ = waitUntilEnd(process)
      let bytes = try folder.bytes(of: "result")
      #expect(bytes == old || bytes.count == whole, "round \(round)")
    }
  }

  private static func hasNamelessFiles(_ folder: TemporaryFolder) -> Bool {
    // O_TMPFILE | O_RDWR of Linux; the macro is not imported.
    let flag: Int32 = ProcessInfo.processInfo.machineIsARM ? 0o20040000 : 0o20200000
    let descriptor = unsafe open(folder.url("out").path, flag | O_RDWR, 0o600)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
  }

  // MARK: Full and read-only disks

  /// Runs a command in a small folder `disk`.
  private func onSmallDisk(_ folder: TemporaryFolder, _ command: String, size: String = "64k") throws -> Tool.Outcome {
    let script = "mount -t tmpfs -o size=\(size) none disk && { \(command); }"
    return try Tool.shell("mkdir -p disk && unshare --mount \(Machine.mapping) sh -c '\(script)'", in: folder)
  }

  @Test(
    "On a full disk the status is 74, and nothing stays behind", .enabled(if: Machine.canMount, "no rights to mount"),
    arguments: ["minidump", "json", "idump"])
  func fullDisk(_ target: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(SynthDump(SynthParameters(seed: 9)).bytes, to: "crash.idump")
    let result = try onSmallDisk(
      folder, "crashpadctl convert --to \(target) crash.idump -o disk/out; echo status $?; ls -A disk")
    #expect(result.text == "status 74\n")
    #expect(result.errorText == "crash.idump: error: disk/out: No space left on device\n")
  }

  /// Large ones are written from where they are mapped, those of 64 KiB are gathered before.
  @Test(
    "A disk that is full in the middle of large regions keeps nothing",
    .enabled(if: Machine.canMount, "no rights to mount"), arguments: [1 << 16, 3 << 20])
  func fullDiskInRegions(_ size: Int) throws {
    var parameters = SynthParameters.tiny(seed: 9)
    parameters.contextRegionsPerThread = (9 << 20) / size
    parameters.contextRegionBytes = size
    let folder = try TemporaryFolder()
    try folder.write(SynthDump(parameters).bytes, to: "crash.idump")
    let command =
      "crashpadctl convert crash.idump -o disk/out; echo status $?; ls -A disk; crashpadctl convert crash.idump -o out"
    let result = try onSmallDisk(folder, command, size: "5m")
    #expect(result.text == "status 74\n")
    #expect(result.errorText.hasPrefix("crash.idump: error: disk/out: No space left on device\n"))
    #expect(try folder.bytes(of: "out").count > 6 << 20)
  }

  @Test("On a full disk the old output stays as it was", .enabled(if: Machine.canMount, "no rights to mount"))
  func fullDiskReplacing() throws {
    let folder = try TemporaryFolder()
    try folder.write(SynthDump(SynthParameters(seed: 9)).bytes, to: "crash.idump")
    let result = try onSmallDisk(
      folder,
      "echo old > disk/out; crashpadctl convert crash.idump -o disk/out; echo status $?; ls -A disk; cat disk/out")
    #expect(result.text == "status 74\nout\nold\n")
  }

  @Test(
    "One output after another fills the disk: those before it are whole",
    .enabled(if: Machine.canMount, "no rights to mount"))
  func fullDiskOfMany() throws {
    let folder = try TemporaryFolder()
    for number in 0..<20 { try folder.write(Samples.crash, to: "in/\(number + 10).idump") }
    let result = try onSmallDisk(
      folder,
      "crashpadctl convert -k -j 1 in -o disk 2>/dev/null; echo status $?; cd disk; for file in *; do cmp $file 10.dmp; done; ls -A | wc -l"
    )
    let lines = result.outputLines
    #expect(lines.first == "status 2")
    #expect(lines.count == 3, "\(result.text)")
    #expect(lines.dropFirst().first.flatMap { Int($0) }.map { (2..<20).contains($0) } == true)
  }

  @Test(
    "A disk that is read-only is no place to create an output", .enabled(if: Machine.canMount, "no rights to mount"))
  func readOnlyDisk() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let result = try onSmallDisk(
      folder, "mount -o remount,bind,ro disk; crashpadctl convert crash.idump -o disk/out.dmp; echo status $?")
    #expect(result.text == "status 73\n")
    #expect(result.errorText == "crash.idump: error: disk/out.dmp: Read-only file system\n")
  }

  // MARK: At the same time

  @Test("Eight tools that write into one directory do not disturb each other")
  func sideBySide() throws {
    let folder = try TemporaryFolder()
    for seed in UInt64(0)..<8 {
      try folder.write(SynthDump(Samples.small(seed: seed + 50)).bytes, to: "in/dump-\(seed).idump")
      try FileManager.default.createDirectory(at: folder.url("alone-\(seed)"), withIntermediateDirectories: true)
      #expect(try Tool.run(["convert", "in/dump-\(seed).idump", "-o", "alone-\(seed)/"], in: folder).status == 0)
    }
    // Each converts all, into the same files.
    let processes = try (0..<8).map { _ in try Tool.start(["convert", "in", "-o", "together", "-j", "2"], in: folder) }
    for process in processes { #expect(waitUntilEnd(process) == 0) }
    #expect(try folder.names(in: "together") == (0..<8).map { "dump-\($0).dmp" })
    for seed in 0..<8 {
      #expect(try folder.bytes(of: "together/dump-\(seed).dmp") == folder.bytes(of: "alone-\(seed)/dump-\(seed).dmp"))
    }
  }

  @Test("Many jobs give the same outputs and reports as one", arguments: [2, 8, 0])
  func jobs(_ jobs: Int) throws {
    let folder = try TemporaryFolder()
    for seed in UInt64(0)..<40 {
      let dump = SynthDump(Samples.small(seed: seed)).bytes
      try folder.write(seed % 7 == 3 ? Array(dump.prefix(4000)) : dump, to: "in/\(seed + 10).idump")
    }
    func convert(_ jobs: Int, _ output: String) throws -> String {
      let arguments = ["convert", "-k", "-j", "\(jobs)", "--format", "json", "in", "-o", output]
      return try Tool.run(arguments, in: folder).text.replacingOccurrences(of: output, with: "out")
    }
    #expect(try convert(1, "one-job") == convert(jobs, "many-jobs"))
    for name in try folder.names(in: "one-job") {
      #expect(try folder.bytes(of: "one-job/\(name)") == folder.bytes(of: "many-jobs/\(name)"))
    }
  }

  @Test("A new output has the rights that the umask leaves")
  func rights() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    #expect(
      try Tool.shell("umask 027; crashpadctl convert -q crash.idump; stat -c %a crash.dmp", in: folder).text == "640\n")
  }

  @Test("The output for a dump that only its owner may read is the owner's, too; all may read a metrics file")
  func rightsOfInput() throws {
    let folder = try TemporaryFolder()
    try folder.write(Samples.crash, to: "crash.idump")
    let made = try Tool.shell(
      """
      chmod 600 crash.idump; umask 022; crashpadctl convert -q crash.idump; crashpadctl redact -q crash.idump -o red.idump
      crashpadctl database create -d DB 2>/dev/null; umask 077; crashpadctl process -d DB --metrics-file m.prom
      crashpadctl upload -d DB --url http://127.0.0.1:9/ --metrics-file u.prom
      stat -c '%n %a' crash.dmp red.idump m.prom u.prom
      """, in: folder)
    #expect(made.text == "crash.dmp 600\nred.idump 600\nm.prom 644\nu.prom 644\n", "\(made.errorText)")
  }

  @Test("A minidump that would pass 4 GiB is refused before anything is written")
  func tooLarge() throws {
    let folder = try TemporaryFolder()
    // 70 stacks of 60 MiB, as holes in a sparse file.
    let size = 60 << 20
    let thread = Samples.crash.firstElement(of: .threads)
    let stack = Samples.crash.record(.stackRegionData)
    let head =
      Array(Samples.crash[thread.lowerBound..<stack.start]) + [5] + Bytes.of(DumpKey.stackRegionData.rawValue)
      + Bytes.of(UInt64(size))
    let tail = Array(Samples.crash[stack.end..<thread.upperBound])
    try folder.write(Array(Samples.crash[..<thread.lowerBound]), to: "large.idump")
    let file = try FileHandle(forUpdating: folder.url("large.idump"))
    for _ in 0..<70 {
      let end = try file.seekToEnd()
      try file.write(contentsOf: Data(head))
      try file.truncate(atOffset: end + UInt64(head.count + size))
      try file.seekToEnd()
      try file.write(contentsOf: Data(tail))
    }
    try file.write(contentsOf: Data(Samples.crash[thread.lowerBound...]))
    try file.close()
    let result = try Tool.run(["convert", "large.idump"], in: folder)
    #expect(result.status == 65)
    #expect(result.errorText.contains("its format ends at 4294967295"))
    #expect(try folder.names() == ["large.idump"])
  }
}

extension ProcessInfo {
  fileprivate var machineIsARM: Bool {
    #if arch(arm64)
      true
    #else
      false
    #endif
  }
}

extension [UInt8] {
  /// The offset of the first element of an array.
  fileprivate func firstElement(of key: DumpKey) -> Range<Int> {
    let start = record(key).end
    return DumpRecords.walk(self).records.first { $0.start == start }?.subtree ?? start..<start
  }
}
