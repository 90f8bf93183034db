// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import ToolRunner

/// `make soak` sets `CRASHPADCTL_CLUSTER` to the number of dumps that a cluster on loopback reads.
struct ClusterTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
    .standardizedFileURL.path
  private static let python = "\(root)/.build/fleet/bin/python"
  private static let handler = "\(root)/.build/handler/libcrashpad_handler.so"
  private static let count = ProcessInfo.processInfo.environment["CRASHPADCTL_CLUSTER"].flatMap { Int($0) }

  /// The work of the cluster, and the equality of its tables, are defined in Cluster/cluster.py.
  @Test(
    .enabled(
      if: count != nil && FileManager.default.isExecutableFile(atPath: python),
      "takes minutes; CRASHPADCTL_CLUSTER=600 runs it where scripts/dependencies fleet installed Spark"))
  func `Spark's tables are those of group, whatever is killed meanwhile`() throws {
    let folder = try TemporaryFolder()
    let products = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path
    let work = folder.work.resolvingSymlinksInPath().path
    let result = try Tool.shell(
      """
      \(Self.python) \(Self.root)/Tests/FleetTests/Cluster/cluster.py --tool '\(Tool.path)' \
        --synth '\(products)/dump-synth' --poison '\(PreloadedLibrary.poison)' --work '\(work)/cluster' \
        --dumps \(Self.count ?? 600)
      """, in: folder, limit: 3600)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
    #expect(result.outputLines.contains("all tables are equal"))
  }

  /// The programs that crash, and their symbols, are in Cluster/symbols.py.
  @Test(
    .enabled(
      if: count != nil && FileManager.default.isExecutableFile(atPath: python)
        && FileManager.default.fileExists(atPath: handler),
      "takes minutes; CRASHPADCTL_CLUSTER=600 runs it where scripts/dependencies fleet installed Spark"))
  func `Spark looks symbols up once for each key, and gives the names that group gives`() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell(
      """
      \(Self.python) \(Self.root)/Tests/FleetTests/Cluster/symbols.py --tool '\(Tool.path)' --handler '\(Self.handler)' \
        --work "$PWD/symbols" --repeats 2
      """, in: folder, limit: 3600)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
    #expect(result.outputLines.contains("all tables are equal"))
  }

  @Test(
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"),
      "Python, which the scripts need, is not installed")
  )
  func `The scripts for Python can be read by it`() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell(
      """
      for script in pack fleet_spark.py; do
        /usr/bin/python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' \(Self.root)/scripts/fleet/$script || exit 1
      done
      sh -n \(Self.root)/scripts/fleet/slurm.sh
      """, in: folder)
    #expect(result.status == 0, "\(result.errorText)")
  }
}
