// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import CrashpadSnapshot
import Testing

/// Reports that are not about a crash, and those of limits.
struct KindTests {
  private func explanation(_ kind: ReportSnapshot.Kind, _ change: (inout ReportSnapshot) -> Void) -> Explanation {
    var report = ReportSnapshot(kind: kind)
    change(&report)
    let system = SystemSnapshot(architecture: .arm64, operatingSystem: .ios)
    return Explanation(
      CrashEvidence(
        exception: nil, system: system, report: report, processName: "Demo", threads: [], crashed: nil, messages: []))
  }

  private func field(_ name: String, _ value: String) -> ReportSnapshot.Field { .init(name: name, value: value) }

  @Test(arguments: [
    ("2,7 sec", "2.7 s"), ("2.7 sec", "2.7 s"), ("160 sec", "160 s"), ("1.074.000 kB", "1,074,000 kB"),
    ("1,074,000 kB", "1,074,000 kB"), ("1.074,5 kB", "1,074.5 kB"), ("1,234.5 kB", "1,234.5 kB"),
    // Thousands, or three decimals: the report says no more.
    ("1,074 sec", "1,074 s"), ("1.074 sec", "1.074 s"), ("soon", "soon"), ("a b", "a b"),
  ])
  func `A measure is plain where its form is certain`(text: String, plain: String) {
    let result = explanation(.hang) { $0.fields = [field("Hang Duration", text)] }
    #expect(result.summary == "The process did not respond for \(plain).")
    #expect(!result.isCrash)
  }

  @Test(arguments: [
    ([], true), ([("Event", "hang")], true), ([("Steps", "1000")], false),
    ([("Sampling", "every 1 millisecond")], false),
    ([("Data Source", "Stackshots"), ("Event", "disk writes")], false),
    ([("Steps", "1000"), ("Note", "1 idle work queue thread omitted"), ("Note", "Unresponsive")], true),
    ([("Num samples", "10"), ("Event", "hang (8.2 s)")], true),
  ])
  func `Samples of stacks are a hang if the report says so`(fields: [(String, String)], isHang: Bool) {
    let result = explanation(.hang) { $0.fields = fields.map { field($0.0, $0.1) } }
    #expect(result.summary.contains("did not respond") == isHang)
    #expect(result.notKnown.contains { $0.contains("Whether the process hung") } == !isHang)
  }

  @Test func `Diagnostics of MetricKit have their measures`() {
    let cpu = explanation(.resource) {
      $0.fields = [field("Total CPU Time", "160 sec"), field("Total Sampled Time", "200 sec")]
    }
    #expect(cpu.summary == "The process used too much CPU time: 160 s of 200 s that were sampled.")
    let disk = explanation(.resource) { $0.fields = [field("Writes Caused", "1.074.000 kB")] }
    #expect(disk.summary == "The process wrote too much to the disk: 1,074,000 kB.")
    #expect(!cpu.isCrash && !disk.isCrash)
    let launch = explanation(.hang) { $0.fields = [field("Launch Duration", "12 sec")] }
    #expect(launch.summary == "The app took 12 s to launch.")
  }

  @Test func `A process that was ended for its memory is a crash`() {
    for kind in [ReportSnapshot.Kind.resource, .crash] {
      let result = explanation(kind) {
        $0.endedForMemory = true
        $0.memory = ReportMemory()
        $0.memory?.footprint = 2000
      }
      #expect(result.isCrash && result.endedBy == ["The kernel's memory manager (jetsam)."])
      #expect(result.evidence.contains { $0.text.contains("2,000 bytes") })
    }
  }

  @Test func `An app that the user ended, a panic and a reset are no crashes`() {
    let quit = explanation(.crash) {
      $0.isSimulated = true
      $0.termination = .init()
      $0.termination?.code = 0xdead_fa11
    }
    #expect(!quit.isCrash && quit.endedBy == ["The user."])
    let panic = explanation(.panic) {
      $0.panic = ReportPanic(text: "x")
      $0.panic?.headline = "no sky"
    }
    #expect(!panic.isCrash && panic.summary.contains("no sky"))
    #expect(!explanation(.forceReset) { _ in }.isCrash)
  }

  @Test func `A report without an end is none of a crash, and a deadlock is one`() {
    #expect(explanation(.hang) { $0.isDeadlock = true }.isCrash)
    #expect(!explanation(.hang) { _ in }.isCrash)
    #expect(!explanation(.resource) { _ in }.isCrash)
    #expect(explanation(.resource) { $0.exceptionSubtype = "CPU_FATAL" }.isCrash)
    #expect(!explanation(.resource) { $0.exceptionSubtype = "CPU" }.isCrash)
    #expect(explanation(.resource) { $0.fields = [field("Action taken", "Process killed")] }.isCrash)
    #expect(!explanation(.resource) { $0.fields = [field("Action taken", "none")] }.isCrash)
  }
}
