// SPDX-License-Identifier: Apache-2.0
import CrashpadDatabase
import Foundation
import Testing
import ToolRunner

/// Disks that are full or read-only, and rights that are missing.
@Suite("Disks of uploads")
struct DiskTests {
  /// Runs a command in a new file system of that size, with a copy of `db` in it; `db` is then what became of that.
  private func onDisk(_ size: String, _ folder: TemporaryFolder, _ command: String) throws -> Tool.Outcome {
    try FileManager.default.createDirectory(at: folder.url("disk"), withIntermediateDirectories: true)
    let script = "mount -t tmpfs -o mode=755,size=\(size) none disk && cp -a db disk/ && cd disk && { \(command); }"
    return try Tool.shell(
      "unshare --mount \(Machine.mapping) sh -c '\(script); status=$?; rm -rf ../db; cp -a db ..; exit $status'",
      in: folder)
  }

  private func upload(_ collector: Collector) -> String {
    "crashpadctl upload --database db --jobs 1 --url \(collector.url()) --now \(UploadDatabase.now)"
  }

  @Test("On a full disk no report is lost or comes twice", .enabled(if: Machine.canMount, "no rights to mount"))
  func full() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...3)
    let result = try onDisk(
      "64k", folder,
      "cat /dev/zero > filler 2>/dev/null; \(upload(collector)); rm filler; \(upload(collector)); echo $?")
    #expect(result.text == "0\n", "\(result.errorText)")
    let requests = try collector.requests
    #expect(Set(requests.map(\.report)).count == 3 && requests.count == 3, "\(result.errorText)")
    for event in requests {
      let number = try #require((1...3).first { UploadDatabase.id($0) == event.report })
      try database.expectUploaded(number, as: event.id)
    }
  }

  @Test("From a disk that is read-only nothing is sent", .enabled(if: Machine.canMount, "no rights to mount"))
  func readOnly() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...2)
    let result = try onDisk("1m", folder, "mount -o remount,bind,ro \"$PWD\"; \(upload(collector)); echo $?")
    #expect(result.text == "73\n", "\(result.errorText)")
    #expect(result.errorText.contains("Read-only file system"), "\(result.errorText)")
    #expect(try collector.events.isEmpty)
    try database.expectPending(1, attempts: 0)
  }

  @Test(
    "A user who may only read the database sends nothing",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "no setpriv"))
  func onlyReading() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...2)
    let result = try Tool.shell(
      "chmod -R a=rX db; as-nobody \(upload(collector)); echo $?; as-nobody \(upload(collector)) --dry-run; echo $?; chmod -R u=rwX db",
      in: folder)
    #expect(result.text == "77\n0\n", "\(result.errorText)")
    #expect(result.errorText.contains("Permission denied"), "\(result.errorText)")
    #expect(try collector.events.isEmpty)
    try database.expectPending(1, attempts: 0)
  }

  @Test(
    "A report that may not be read stays, and the others are sent",
    .enabled(if: !Machine.isRoot || Machine.hasSetpriv, "no setpriv"))
  func unreadable() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...3)
    let result = try Tool.shell(
      """
      chmod 0 db/pending/\(UploadDatabase.id(2)).dmp
      if [ "$(id -u)" = 0 ]; then chown -R 65534:65534 db; fi
      as-nobody \(upload(collector)); echo $?
      chmod 600 db/pending/\(UploadDatabase.id(2)).dmp
      """, in: folder)
    #expect(result.text == "1\n", "\(result.errorText)")
    #expect(result.errorText.contains("\(UploadDatabase.id(2)).dmp: Permission denied"), "\(result.errorText)")
    #expect(try collector.requests.map(\.report) == [UploadDatabase.id(1), UploadDatabase.id(3)])
    try database.expectPending(2, attempts: 0)
  }

  @Test("Links, FIFOs and damaged metadata in place of reports are told, and nothing of them is sent")
  func hostile() throws {
    let folder = try TemporaryFolder()
    let collector = try Collector(in: folder)
    let database = try UploadDatabase(folder)
    try database.add(1...6)
    let id = UploadDatabase.id
    let prepared = try Tool.shell(
      """
      cd db/pending && rm \(id(2)).dmp \(id(3)).dmp && ln -s /etc/passwd \(id(2)).dmp && mkfifo \(id(3)).dmp &&
      echo damaged > \(id(4)).meta && mkdir -p ../attachments/\(id(5)) && ln -s /etc/passwd ../attachments/\(id(5))/link &&
      mkfifo ../attachments/\(id(5))/fifo
      """, in: folder)
    #expect(prepared.status == 0, "\(prepared.errorText)")
    let result = try Tool.shell("exec \(upload(collector))", in: folder)
    #expect([0, 1].contains(result.status), "\(result.errorText)")
    #expect(result.errorText.contains("\(id(4)): error:"), "\(result.errorText)")
    let requests = try collector.requests
    #expect(!requests.contains { [id(2), id(3), id(4)].contains($0.report) })
    #expect(requests.contains { $0.report == id(1) } && requests.contains { $0.report == id(6) })
    for event in requests { #expect(!event.parts.contains { $0.name == "link" || $0.name == "fifo" }) }
  }

  @Test("A report or an attachment with another name is not sent, the others are, and check tells which it is")
  func hardLinks() throws {
    let (folder, collector, database) = try UploadDatabase.withCollector(1...3)
    let secret = Array("a file of another user".utf8)
    try folder.write(secret, to: "secret")
    let id = UploadDatabase.id
    let prepared = try Tool.shell(
      "ln -f secret db/pending/\(id(1)).dmp && mkdir db/attachments/\(id(2)) && ln secret db/attachments/\(id(2))/log",
      in: folder)
    #expect(prepared.status == 0, "\(prepared.errorText)")
    let planned = try Tool.shell("exec \(upload(collector)) --dry-run", in: folder)
    #expect(planned.status == 1, "\(planned.errorText)")
    #expect(planned.errorText.contains("attachments/\(id(2))/log: has another name too"), "\(planned.errorText)")
    let result = try Tool.shell("exec \(upload(collector))", in: folder)
    #expect(result.status == 1, "\(result.errorText)")
    #expect(try collector.requests.map(\.report) == [id(3)])
    #expect(result.errorText.contains("attachments/\(id(2))/log: has another name too"), "\(result.errorText)")
    try database.expectPending(1, attempts: 0)
    try database.expectPending(2, attempts: 0)
    let check = try Tool.shell("crashpadctl database check -d db --now \(UploadDatabase.now)", in: folder)
    for path in ["pending/\(id(1)).dmp", "attachments/\(id(2))/log"] {
      let line = check.text.split(separator: "\n").first { $0.contains(path) && $0.hasSuffix("[hard-link]") }
      #expect(line != nil, "\(path): \(check.text)")
    }
  }
}
