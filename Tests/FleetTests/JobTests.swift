// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import Foundation
import Testing
import ToolRunner

/// Engines that run parts anywhere, more than once, and again when one was killed: the parts give what one run gives.
struct JobTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
    .standardizedFileURL.path
  private static let fleet = "\(root)/scripts/fleet"

  private static func isInstalled(_ paths: String...) -> Bool {
    paths.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Makes `dumps`, one of which can't be read, and `whole.json`, which is what one run gives. `crashpadctl` is then one that is
  /// killed while it writes part 2 for the first time.
  private static func prepare(_ folder: TemporaryFolder) throws -> String {
    try WorkerTests.writeDumps(9, to: folder)
    try folder.write(Array("MDMP, and nothing else".utf8), to: "dumps/cut.dmp")
    let work = folder.work.resolvingSymlinksInPath().path
    let script = """
      #!/bin/sh
      case " $* " in
      *" --shard 2/"*) mkdir '\(work)/killed' 2>/dev/null && exec env LD_PRELOAD='\(PreloadedLibrary.faultInjection)' \
        FAULT_ROOT='\(work)/parts' FAULT_CALLS=write,pwrite,writev FAULT_KILL_WITHIN=1 '\(Tool.path)' "$@" ;;
      esac
      exec '\(Tool.path)' "$@"
      """
    try folder.write(Array(script.utf8), to: "bin/crashpadctl")
    let made = try Tool.shell(
      """
      mkdir parts symbols; chmod 755 bin/crashpadctl
      crashpadctl group --no-system --format json dumps > whole.json 2> errors; [ $? -eq 1 ]
      """, in: folder)
    try #require(made.status == 0, "\(made.errorText)")
    return """
      export PATH="$PWD/bin:$PATH" HOME="$PWD"
      compare() {
        crashpadctl group --merge --format json "$@" > merged.json; [ $? -eq 1 ] && cmp merged.json whole.json || exit 9
      }
      """ + "\n"
  }

  /// Parts come in another order, and twice.
  private static let check = """

    [ -d killed ] && compare parts/part-*.json && compare parts/part-3.json parts/part-*.json
    """

  @Test(
    .enabled(if: isInstalled("/usr/bin/parallel"), "GNU parallel is not installed"), arguments: [3, 11])
  func `GNU parallel`(parts: Int) throws {
    let folder = try TemporaryFolder()
    let job = "crashpadctl group --no-system --shard {}/\(parts) --partial parts/part-{}.json dumps || [ $? -eq 1 ]"
    let run = "seq \(parts) | parallel --jobs 2 --retries 3 '\(job)'"
    let result = try Tool.shell(
      try Self.prepare(folder) + "\(run) || exit 8" + Self.check + " && \(run)" + Self.check, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test func `A pod of Kubernetes for each index`() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell(
      try Self.prepare(folder) + """
        sed -n '/- |$/,/resources:/{/- |$/d;/resources:/d;p}' \(Self.fleet)/k8s-job.yaml |
          sed "s#/results#$PWD/parts#; s# /dumps# dumps#; s#/symbols#$PWD/symbols#" > command
        [ "$(sed -n 's/^ *completions: //p' \(Self.fleet)/k8s-job.yaml)" = \
          "$(sed -n '/name: PARTS/{n;s/[^0-9]//gp}' \(Self.fleet)/k8s-job.yaml)" ] || exit 7
        export PARTS=4
        for index in 3 0 1 2 0; do
          export JOB_COMPLETION_INDEX=$index
          /bin/sh -c "$(cat command)" || { [ $index = 1 ] && /bin/sh -c "$(cat command)"; } || exit 8
        done
        sed -n '/- |$/,/resources:/{/- |$/d;/resources:/d;p}' \(Self.fleet)/k8s-merge-job.yaml |
          sed "s#/results#$PWD/parts#g" > merge
        /bin/sh -c "$(cat merge)" || exit 6
        grep -q '"schema": "crashpadctl-group/1"' parts/groups.json || exit 5
        grep -q '<section id="groups"' parts/groups.html || exit 5
        mv parts/groups.json groups-by-job.json
        """ + Self.check, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test(arguments: ["k8s-job.yaml", "k8s-merge-job.yaml"])
  func `The jobs of Kubernetes have what the restricted Pod Security Standard asks for`(name: String) throws {
    let text = try String(contentsOfFile: "\(Self.fleet)/\(name)", encoding: .utf8)
    for line in [
      "runAsNonRoot: true", "seccompProfile: {type: RuntimeDefault}", "allowPrivilegeEscalation: false",
      "capabilities: {drop: [\"ALL\"]}", "action: FailJob",
    ] { #expect(text.contains(line), "\(name): \(line)") }
    // 64: a usage error is not retried.
    #expect(text.contains("values: [64,"))
  }

  @Test(
    .enabled(
      if: isInstalled("\(root)/.build/fleet/bin/kubernetes-validate"),
      "the schemas of Kubernetes are not installed; scripts/dependencies fleet installs them"))
  func `The job of Kubernetes has the members that its schema knows`() throws {
    let folder = try TemporaryFolder()
    let validate = "\(Self.root)/.build/fleet/bin/kubernetes-validate --strict"
    let result = try Tool.shell(
      """
      \(validate) \(Self.fleet)/k8s-job.yaml || exit 9
      \(validate) \(Self.fleet)/k8s-merge-job.yaml || exit 8
      sed s/backoffLimitPerIndex/backoffLimitPerPart/ \(Self.fleet)/k8s-job.yaml > other.yaml
      ! \(validate) other.yaml
      """, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test func `A job array, with the variables that Slurm sets`() throws {
    let folder = try TemporaryFolder()
    let result = try Tool.shell(
      try Self.prepare(folder) + """
        run() { SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_COUNT=$2 sh \(Self.fleet)/slurm.sh dumps parts --symbols symbols; }
        for id in 1 3 4; do run $id 4 || exit 8; done
        run 2 4; [ $? -eq 137 ] || exit 7
        crashpadctl group --merge parts/part-*.json 2>&1 | grep -q 'part 2/4 is missing' || exit 6
        PARTS=4 run 2 1 || exit 5
        run 3 4 || exit 8
        """ + Self.check, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }

  @Test(
    .enabled(
      if: Machine.isRoot && isInstalled("/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged"),
      "Slurm and munge are not installed, or this is not root, who has to start them"))
  func `A job array of Slurm on loopback`() throws {
    let folder = try TemporaryFolder()
    let job = """
      run() { sbatch -Q --wait --array=$1 -o 'out-%a' \(Self.fleet)/slurm.sh dumps parts --symbols symbols; }
      run 1-4 && exit 7
      crashpadctl group --merge parts/part-*.json 2>&1 | grep -q 'part 2/4 is missing' || exit 6
      PARTS=4 run 2 || exit 5
      PARTS=4 run 1-4 || exit 4
      """
    let result = try Tool.shell(
      try Self.prepare(folder) + """
        cat > job <<'END'
        set -u
        \(job)
        END
        \(Self.root)/Tests/FleetTests/Cluster/slurm slurm sh job || exit $?
        """ + Self.check, in: folder)
    #expect(result.status == 0, "\(result.text)\(result.errorText)")
  }
}
