// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Disks that are full or read-only, and rights that are missing: for once the real ones.
@Suite("Disks and rights")
struct DiskTests {
  private static let process = Scenario.process

  /// Runs a command in a new file system of that size, with a copy of `db` in it; `out` gets what is there in the end.
  private func onDisk(_ size: String, _ folder: TemporaryFolder, _ command: String) throws -> Tool.Outcome {
    try FileManager.default.createDirectory(at: folder.url("disk"), withIntermediateDirectories: true)
    let script = "mount -t tmpfs -o mode=755,size=\(size) none disk && cp -a db disk/ && cd disk && { \(command); }"
    return try Tool.shell(
      "unshare --mount \(Machine.mapping) sh -c '\(script); status=$?; cp -a db ../out; exit $status'", in: folder)
  }

  @Test(
    "A disk on which not all reports have room: those that have are made, and the rest when there is room again",
    .enabled(if: Machine.canMount, "no rights to mount"))
  func littleRoom() throws {
    let stage = try Stage(Scenario("process", .plain(16), Self.process))
    try stage.scenario.plan.make(at: stage.folder.url("db"))
    // The dumps take 64 KiB of whole pages, and each report 12 KiB with its metadata.
    let result = try onDisk(
      "220k", stage.folder,
      """
      crashpadctl \(Self.process); echo $?; ls db/pending | wc -l
      for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do crashpadctl \(Self.process) 2>/dev/null && break; done; echo $?
      """)
    let lines = result.outputLines.map { Int($0) }
    try #require(lines.count == 4, "\(result.text) \(result.errorText)")
    #expect(lines[0] == 1)
    #expect(lines[1].map { (2..<32).contains($0) && $0 % 2 == 0 } == true, "\(result.text)")
    #expect(lines[2] == 0)
    #expect(result.errorText.contains("No space left on device"))
    #expect(try Tree(at: stage.folder.url("out")).differences(from: stage.expected).isEmpty)
  }

  @Test("On a disk that is full nothing is lost", .enabled(if: Machine.canMount, "no rights to mount"))
  func full() throws {
    let stage = try Stage(Scenario("process", .plain(4), Self.process))
    try stage.scenario.plan.make(at: stage.folder.url("db"))
    let result = try onDisk(
      "128k", stage.folder,
      "cat /dev/zero > filler 2>/dev/null; crashpadctl \(Self.process); echo $?; rm filler; crashpadctl \(Self.process); echo $?"
    )
    // A file without a byte may have room still, and a lock is no more than a name.
    #expect(["74\n0\n", "1\n0\n"].contains(result.text), "\(result.text) \(result.errorText)")
    #expect(result.errorText.contains("No space left on device"))
    #expect(try Tree(at: stage.folder.url("out")).differences(from: stage.expected).isEmpty)
  }

  @Test(
    "On a disk that is full, or has no file to give any more, reports can be deleted, which makes room",
    .enabled(if: Machine.canMount, "no rights to mount"), arguments: ["256k", "4m,nr_inodes=64"])
  func makingRoom(_ size: String) throws {
    let folder = try TemporaryFolder()
    try DatabasePlan.reports.make(at: folder.url("db"))
    let ids = [50, 51, 61].map(DatabasePlan.id)
    let prune = "crashpadctl prune --database db --pending --max-reports 1 --now \(DatabasePlan.now)"
    let result = try onDisk(
      size, folder,
      """
      fill() { cat /dev/zero > filler 2>/dev/null; i=0; while [ $i -lt 100 ] && true > filler$i; do i=$((i+1)); done 2>/dev/null; }
      fill; crashpadctl database settings --database db --uploads-enabled yes; echo $?
      fill; crashpadctl database delete --database db \(ids.joined(separator: " ")); echo $?
      fill; \(prune); echo $?; rm filler*; crashpadctl process --database db --limit 0; echo $?
      """)
    let statuses = result.outputLines.filter { Int($0) != nil }
    #expect(statuses == ["74", "0", "0", "0"], "\(result.text) \(result.errorText)")
    let tree = try Tree(at: folder.url("out"))
    #expect(tree.entries.keys.allSatisfy { name in !ids.contains { name.contains($0) } })
    #expect(["pending", "completed"].flatMap(tree.names).count { $0.hasSuffix(".dmp") } == 1)
    #expect(tree.names(in: "new") == ["\(DatabasePlan.id(65)).dmp"])
  }

  @Test(
    "With a quota that is used up nothing is lost, and reports can be deleted, which makes room",
    .enabled(if: Soak.isOn && Machine.isRoot && DeviceCutTests.System.btrfs.isInstalled, "no soak, no root or no btrfs")
  )
  func quota() throws {
    let stage = try Stage(Scenario("process", .plain(30), Self.process))
    try stage.scenario.plan.make(at: stage.folder.url("db"))
    let result = try Tool.shell(
      """
      truncate -s 200M image && mkfs.btrfs -q image && mkdir disk && exec unshare --mount sh -c '
      mount -o loop image disk && btrfs subvolume create disk/s > none && btrfs quota enable disk || exit 9
      cp -a db disk/s/ && cd disk/s && btrfs quota rescan -w .. > ../none && btrfs qgroup limit 1M . || exit 9
      (cat /dev/zero > filler) 2> ../none
      crashpadctl \(Self.process); echo $?
      rm filler; btrfs qgroup limit none . ; crashpadctl \(Self.process); echo $?; cp -a db ../../out
      sync; btrfs qgroup limit 64K .
      crashpadctl database settings --database db --uploads-enabled yes; echo $?
      crashpadctl database delete --database db --all; echo $?; ls db/pending db/new | grep -c 0'
      """, in: stage.folder)
    let statuses = result.outputLines.compactMap { Int($0) }
    #expect(statuses.count == 5 && [1, 74].contains(statuses[0]), "\(result.text) \(result.errorText)")
    #expect(statuses.dropFirst() == [0, 74, 0, 0], "\(result.text) \(result.errorText)")
    #expect(result.errorText.contains("Disk quota exceeded"), "\(result.errorText)")
    #expect(try Tree(at: stage.folder.url("out")).differences(from: stage.expected).isEmpty)
  }

  @Test(
    "On a file system on which each name of a file has locks of its own, runs at once make each report once",
    .enabled(if: Machine.hasBindfs, "no bindfs, or no rights to mount"))
  func locksOfNames() throws {
    let stage = try Stage(Scenario("process", .plain(30), Self.process))
    try stage.scenario.plan.make(at: stage.folder.url("lower/db"))
    let run = "crashpadctl \(Self.process) 2>> ../errors"
    let result = try Tool.shell(
      """
      mkdir fuse && bindfs lower fuse && cd fuse || exit 9
      for i in 1 2 3; do \(run) & done; wait; \(run); echo $?
      cd .. && umount fuse
      """, in: stage.folder)
    #expect(result.text == "0\n", "\(result.errorText)")
    #expect(try Tree(at: stage.folder.url("lower/db")).differences(from: stage.expected).isEmpty)
    let text = String(decoding: try stage.folder.bytes(of: "errors"), as: UTF8.self)
    let processed = text.matches(of: /(\d+) processed/).compactMap { Int($0.1) }.reduce(0, +)
    #expect(processed == 30, "\(text)")
  }

  @Test(
    "On a disk that is read-only nothing is changed, and what would be done can be told",
    .enabled(if: Machine.canMount, "no rights to mount"))
  func readOnly() throws {
    let folder = try TemporaryFolder()
    try DatabasePlan.mixedWithSettings.make(at: folder.url("db"))
    let before = try Tree(at: folder.url("db"))
    let unlock = "unlock --database db --now \(DatabasePlan.now)"
    let result = try onDisk(
      "1m", folder,
      """
      mount -o remount,bind,ro "$PWD"
      crashpadctl \(Self.process); echo $?
      crashpadctl \(unlock) > /dev/null; echo $?
      crashpadctl \(Self.process) --dry-run; echo $?
      crashpadctl \(unlock) --dry-run > /dev/null; echo $?
      """)
    #expect(result.text == "73\n73\n1\n0\n", "\(result.errorText)")
    #expect(result.errorText.contains("db/new: error: Read-only file system") || result.errorText.contains("db/new/"))
    #expect(try Tree(at: folder.url("out")).differences(from: before).isEmpty)
  }

  @Test(
    "A user who may only read a database changes nothing, and a dry run prints what would be done",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "no setpriv"))
  func onlyReading() throws {
    let folder = try TemporaryFolder()
    try DatabasePlan.plain(3).make(at: folder.url("db"))
    _ = try Tool.shell("chmod -R a=rX db", in: folder)
    let before = try Tree(at: folder.url("db"))
    for (command, status) in [(Self.process, Int32(77)), (Self.process + " --dry-run", 0)] {
      let result = try Tool.shell("as-nobody crashpadctl \(command)", in: folder)
      #expect(result.status == status, "\(result.errorText)")
      #expect(status == 0 || result.errorText.contains("Permission denied"))
      #expect(try Tree(at: folder.url("db")).differences(from: before).isEmpty)
    }
    _ = try Tool.shell("chmod -R u=rwX db", in: folder)
  }

  @Test(
    "A dump that may not be read stays, and the others become reports",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "no setpriv"))
  func unreadableDump() throws {
    let folder = try TemporaryFolder()
    try DatabasePlan.plain(3).make(at: folder.url("db"))
    let name = "com.example.app@\(DatabasePlan.id(2))"
    let result = try Tool.shell(
      """
      chmod 0 db/pending-serialized-ios-dump/\(name)
      if [ "$(id -u)" = 0 ]; then chown -R 65534:65534 db; fi
      as-nobody crashpadctl \(Self.process); echo $?
      chmod 600 db/pending-serialized-ios-dump/\(name)
      as-nobody crashpadctl \(Self.process); echo $?
      """, in: folder)
    #expect(result.text == "1\n0\n", "\(result.errorText)")
    #expect(result.errorText.contains("\(name): error: not processed: Permission denied"), "\(result.errorText)")
    #expect(try Tree(at: folder.url("db")).names(in: "pending").count == 6)
  }

  @Test(
    "Files that the tool makes are readable by their owner alone, whatever the umask",
    arguments: ["0", "022", "027", "077"])
  func modes(_ umask: String) throws {
    let folder = try TemporaryFolder()
    var plan = DatabasePlan.mixed
    plan.files.removeAll { !$0.path.hasPrefix("pending-serialized-ios-dump/") }
    try plan.make(at: folder.url("db"))
    _ = try Tool.shell("cd db && rmdir new pending completed attachments rejected", in: folder)
    let before = try Tree(at: folder.url("db"))
    let result = try Tool.shell("umask \(umask) && crashpadctl \(Self.process)", in: folder)
    #expect(result.status == 1)
    let made = try Tree(at: folder.url("db")).entries.filter { before.entries[$0.key] == nil }
    #expect(made.count > 15)
    for (name, entry) in made {
      switch entry {
      case .file(_, let mode): #expect(mode == 0o600, "\(name)")
      case .directory(let mode): #expect(mode == 0o700, "\(name)")
      default: Issue.record("\(name) is neither a file nor a directory")
      }
    }
  }
}
