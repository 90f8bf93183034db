// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing
import ToolRunner

/// A million reports: memory and processor time of the commands that need not hold all of them.
@Suite("Large directories")
struct LargeDirectoryTests {
  private static let count = Sweep.number("CRASHPADCTL_REPORTS", or: 1_000_000)

  private func make(_ folder: TemporaryFolder) throws {
    var plan = DatabasePlan()
    plan.addSettings()
    try plan.make(at: folder.url("db"))
    let dump = Array(DatabasePlan.dump(1).prefix(900))
    var metadata = [UInt8](repeating: 0, count: 32)
    metadata[0] = 1
    for number in 0..<Self.count {
      // The order of creation is not that of names.
      let name = (number &* 2_654_435_761) & 0xffff_ffff
      let digits = String(name, radix: 16)
      let stem = "\(String(repeating: "0", count: 8 - digits.count))\(digits)-0000-4000-8000-000000000000"
      let place = folder.url("db/\(number % 2 == 0 ? "pending" : "completed")").path
      let time = UInt32(1_700_000_000 + number % 10_000_000)
      for byte in 0..<4 { metadata[16 + byte] = UInt8(truncatingIfNeeded: time >> (8 * byte)) }
      try write(dump, "\(place)/\(stem).dmp")
      try write(metadata, "\(place)/\(stem).meta")
    }
  }

  private func write(_ bytes: [UInt8], _ path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard descriptor >= 0, unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    close(descriptor)
  }

  @Test(
    "list --limit, show, prune and check take 64 MiB, and twice the work of find beside what they read",
    .enabled(if: Soak.isOn, "takes minutes"))
  func million() throws {
    let folder = try TemporaryFolder()
    try make(folder)
    // Processor time, in which other programs of a busy machine have no part.
    func seconds(_ command: String) throws -> Double {
      let result = try Tool.shell(
        "\(command) > /dev/null; status=$?; times >&2; exit $status", in: folder, limit: 3600)
      #expect(result.status < 2, "\(command): \(result.errorText)")
      // The last line is that of the shell's children.
      return try #require(result.errorText.split(separator: "\n").last).matches(of: /(\d+)m([\d.]+)s/).reduce(0) {
        $0 + (Double($1.1) ?? 0) * 60 + (Double($1.2) ?? 0)
      }
    }
    // The first one finds the cache of names cold.
    _ = try seconds("find db -printf '%p %s %T@\\n'")
    let found = try seconds("find db -printf '%p %s %T@\\n'")
    let read = try seconds("find db -type f -exec cat {} +")
    let memory = "LD_PRELOAD=\(PreloadedLibrary.faultInjection) FAULT_MEMORY=\(folder.work.path)/memory"
    for command in [
      "list --limit 10", "show 00000000", "check", "prune --max-reports 1000 --dry-run", "list --limit 10",
    ] {
      let words = command.hasPrefix("prune") ? command : "database \(command)"
      let time = try seconds("\(memory) crashpadctl \(words) --database db")
      let used = Int(String(decoding: try folder.bytes(of: "memory"), as: UTF8.self).filter(\.isNumber)) ?? .max
      print("\(Self.count) reports, \(command): \(used >> 10) MiB, \(time) s; find \(found) s, reading all \(read) s")
      #expect(used <= 64 << 10, "\(command): \(used) KiB")
      #expect(time <= 2 * found + read, "\(command): \(time) s")
    }
  }
}
