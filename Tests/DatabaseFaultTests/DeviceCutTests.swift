// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// Cuts the power of a device with a real file system before each call by which a run changes the disk: the image as the
/// device has it then is mounted again, and one further run has to make of it what an undisturbed run makes.
@Suite("Power failures of devices")
struct DeviceCutTests {
  enum System: String, CaseIterable, Sendable {
    case ext4, xfs, btrfs

    var size: String { self == .xfs ? "320M" : self == .btrfs ? "128M" : "24M" }
    var make: String { self == .xfs || self == .btrfs ? "mkfs.\(rawValue) -q -f" : "mkfs.\(rawValue) -q -F" }
    var isInstalled: Bool { ["/sbin", "/usr/sbin"].contains { exists("\($0)/mkfs.\(rawValue)") } }

    private func exists(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// The file system that has the images, and copies one as it is at one moment.
    static var host: System? { [.btrfs, .xfs].first { $0.isInstalled } }
    static var installed: [System] {
      let wanted = ProcessInfo.processInfo.environment["CRASHPADCTL_DEVICE"]
      return allCases.filter { $0.isInstalled && (wanted == nil || wanted == $0.rawValue) }
    }
  }

  private static let dumps = "db/pending-serialized-ios-dump"
  static let scenarios =
    [
      Scenario("process", .plain(3), Scenario.process),
      Scenario("process of a mixed database", plan(.mixedWithConflicts), Scenario.process, status: 1),
      Scenario("events", .plain(3), "events --no-system --jobs 1 --cursor db/cursor -o db/out \(dumps)"),
      Scenario("group", .plain(3), "group --no-system --jobs 1 --index db/index \(dumps)"),
    ] + KillSweepTests.scenarios.filter { !$0.command.hasPrefix("process") && !$0.plan.isMissing }

  private static func plan(_ plan: DatabasePlan) -> DatabasePlan {
    var plan = plan
    plan.hasOthers = false
    return plan
  }

  /// Whether loop devices can be attached and mounted.
  private static let isPossible: Bool = {
    guard Machine.isRoot, Machine.canMount, let host = System.host, let folder = try? TemporaryFolder() else {
      return false
    }
    let mount = "truncate -s \(host.size) image && \(host.make) image && mount -o loop image /mnt"
    return (try? Tool.shell("unshare --mount sh -c '\(mount)'", in: folder).status) == 0
  }()

  struct Case: Sendable, CustomTestStringConvertible {
    let system: System
    let scenario: Scenario

    var testDescription: String { "\(system), \(scenario.name)" }
  }

  /// In `make test`, five cuts of each of nine.
  private static let cases: [Case] = {
    let all = System.installed.flatMap { system in scenarios.map { Case(system: system, scenario: $0) } }
    return Sweep.sample(Array(all.indices), Soak.times(all.count, or: 9), area: 710).map { all[$0] }
  }()

  @Test(
    "After a power failure at any call, one further run ends what was begun",
    .enabled(if: isPossible, "no root, no loop devices, or neither btrfs nor xfs"), arguments: cases)
  func cut(_ chosen: Case) throws {
    let (system, scenario) = (chosen.system, chosen.scenario)
    let stage = try Stage(scenario)
    let folder = stage.folder
    try stage.make("base")
    let host = try #require(System.host)
    let prepared = try Tool.shell(
      """
      mkdir host m n && truncate -s 2G host.img && \(host.make) host.img && unshare --mount sh -ec '
      mount -o loop host.img host; truncate -s 1M host/held.img
      truncate -s \(system.size) host/base.img; \(system.make) host/base.img
      mount -o loop host/base.img m; cp -a base/db m/; sync; umount m; umount host'
      """, in: folder)
    try #require(prepared.status == 0, "\(prepared.errorText)")
    let calls = stage.calls.map(\.number)
    let count = Sweep.number("CRASHPADCTL_DEVICE_CUTS", or: Soak.times(calls.count, or: 5))
    for call in Sweep.sample(calls, count, area: 700) { try check(stage, call) }
    print("\(chosen.testDescription): the power failed before \(min(count, calls.count)) of \(calls.count) calls")
  }

  private func check(_ stage: Stage, _ call: Int) throws {
    let name = "before call \(call), \(stage.calls[call - 1].name) \(stage.calls[call - 1].path)"
    let folder = stage.folder
    let prefix = Fault.killed(before: call).prefix(folder, root: "m/db") + " FAULT_SKIP_SYNC=0"
    let run = "crashpadctl \(stage.scenario.command)"
    try folder.write(
      Array(
        """
        set -e
        # The kernel may give a loop device back a moment after its file system is gone.
        leave() { for each in 1 2 3 4 5 6 7 8 9; do umount host 2> /dev/null && return; sleep 0.2; done; umount host; }
        mount -o loop host.img host
        cp --reflink=always host/base.img host/run.img
        mount -o loop host/run.img m
        (cd m && exec \(prefix) \(run)) > /dev/null 2> errors1 && echo 0 || echo $?
        cp --reflink=always host/run.img host/cut.img
        umount m
        held=$(losetup --find --show host/held.img); mount -t tmpfs none m
        mount -o loop host/cut.img n
        (cd n && exec \(run)) > output 2> errors2 && echo 0 || echo $?
        (cd n && exec crashpadctl process --database db --now \(DatabasePlan.now) --limit 0) > /dev/null 2> errors3 || echo third $?
        rm -rf cut; mkdir cut; cp -a n/db cut/
        umount n; umount m; losetup --detach $held; leave

        """.utf8), to: "point")
    let result = try Tool.shell("exec unshare --mount sh point", in: folder)
    let statuses = result.text.split(separator: "\n").compactMap { Int32($0) }
    try #require(result.status == 0 && statuses.count == 2, "\(name): \(result.text) \(result.errorText)")
    let errors = String(decoding: try folder.bytes(of: "errors2"), as: UTF8.self)
    #expect(statuses[0] == 137, "\(name)")
    #expect(statuses[1] < 77 && (stage.scenario.status == 75 || !errors.contains("busy")), "\(name): \(errors)")
    #expect(!result.text.contains("third"), "\(name)")
    // An index has other bytes after a failure; that it counts each dump once is seen in its output.
    func compared(_ tree: Tree) -> Tree {
      var tree = tree
      tree.entries = tree.entries.filter { !$0.key.hasPrefix("index") && $0.key != "cursor" }
      return tree
    }
    let differences = try compared(stage.tree("cut")).differences(from: compared(stage.expected))
    #expect(differences.isEmpty, "power failure \(name)")
    if stage.scenario.name == "group" {
      let output = String(decoding: try folder.bytes(of: "output"), as: UTF8.self)
      #expect(output.contains("3 crashes"), "\(name): \(output)")
    }
  }
}
