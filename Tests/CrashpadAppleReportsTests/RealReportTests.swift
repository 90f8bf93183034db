// SPDX-License-Identifier: Apache-2.0
import CrashpadAppleReports
import CrashpadBytes
import CrashpadSnapshot
import Testing

/// The contents of the real reports, read from them by eye and with grep.
struct RealReport: Sendable, CustomTestStringConvertible {
  let file: String
  var kind = ReportSnapshot.Kind.crash
  var process: String?
  var pid: Int32?
  var type: String?
  var signal: String?
  /// The kernel's codes.
  var codes: [UInt64]?
  var termination: UInt64?
  /// The crashed thread and how many there are.
  var thread: Int?
  var threads = 0
  /// Frames of the crashed thread.
  var frames = 0
  /// One of them: its index, address and image; the first of the process' own where there is one.
  var frame: (index: Int, address: UInt64, image: String)?
  var images = 0
  var register: (name: String, value: UInt64)?
  var system: [Int32] = []
  var build: String?
  /// Frames name images that it does not list.
  var isWarned = false

  var testDescription: String { file }
}

extension RealReport {
  static let macs: [RealReport] = [
    RealReport(
      file: "SiriNCService_2018-06-24-095209_panic.crash", process: "SiriNCService", pid: 1045, type: "EXC_BAD_ACCESS",
      signal: "SIGSEGV", codes: [1, 0x18], termination: 0xb, thread: 0, threads: 5, frames: 21,
      frame: (19, 0x1_0023_96e0, "SiriNCService"), images: 515, register: ("rbx", 0x6000_0086_9ac0),
      system: [10, 13, 5], build: "17F77"),
    RealReport(
      file: "fud_2018-06-12-083437_Admins-MacBook-Pro-4.crash", process: "fud", pid: 84641, type: "EXC_BAD_ACCESS",
      signal: "SIGSEGV", codes: [13, 0], termination: 0xb, thread: 1, threads: 4, frames: 10,
      frame: (1, 0x1_01d3_ce57, "fud"), images: 185, register: ("r8", 0x1_02c0_0010), system: [10, 13, 4],
      build: "17E199"),
    RealReport(
      file: "icdab_avx_osx_arm64.crash", process: "icdab_avx", pid: 26823, type: "EXC_BAD_INSTRUCTION",
      signal: "SIGILL", codes: [1, 0], termination: 4, thread: 0, threads: 8, frames: 20,
      frame: (0, 0x1_047d_56cb, "icdab_avx"), images: 387, register: ("rip", 0x1_047d_56cb), system: [10, 16, 0],
      build: "20A5343i"),
    RealReport(
      file: "icdab_rosetta_thread-osx-arm64-native-1.crash", process: "icdab_rosetta_thread", pid: 15681,
      type: "EXC_CRASH", signal: "SIGABRT", codes: [0, 0], thread: 0, threads: 1, frames: 12,
      frame: (0, 0x1_de30_15d8, "libsystem_kernel.dylib"), images: 385, register: ("x16", 0x148),
      system: [10, 16, 0], build: "20A5343i"),
    RealReport(
      file: "icdab_rosetta_thread-osx-x86-translated-1.crash", process: "icdab_rosetta_thread", pid: 15704,
      type: "EXC_CRASH", signal: "SIGABRT", codes: [0, 0], thread: 1, threads: 5, frames: 12,
      frame: (3, 0x1_00d1_c5ab, "icdab_rosetta_thread"), images: 387, register: ("rsp", 0x3c), system: [10, 16, 0],
      build: "20A5343i"),
    RealReport(
      file: "icdab_sema_osx_arm64.crash", process: "icdab_sema_mac", pid: 6159, type: "EXC_BREAKPOINT",
      signal: "SIGTRAP", codes: [1, 0x1_de16_e2f8], termination: 5, thread: 0, threads: 1, frames: 6,
      frame: (3, 0x1_009c_7ed8, "icdab_sema_mac"), images: 144, register: ("lr", 0x1_de13_bc30), system: [10, 16, 0],
      build: "20A5343i"),
    RealReport(
      file: "icdab_thread_osx_arm64.crash", process: "icdab_thread", pid: 10030, type: "EXC_CRASH",
      signal: "SIGABRT", codes: [0, 0], thread: 0, threads: 1, frames: 6,
      frame: (3, 0x1_026e_fca8, "icdab_thread"), images: 144, register: ("sp", 0x1_6d71_35d0), system: [10, 16, 0],
      build: "20A5343i"),
    RealReport(
      file: "icdab_wrap_ios_on_macos.crash", process: "icdab_wrap", pid: 2802, type: "EXC_BREAKPOINT",
      signal: "SIGTRAP", codes: [1, 0x1_c6c8_f1f0], termination: 5, thread: 0, threads: 10, frames: 25,
      frame: (3, 0x1_0493_7da4, "icdab_wrap"), images: 584, register: ("lr", 0xb754_0001_c6c8_f1f0),
      system: [10, 16, 0], build: "20A5343i"),
    RealReport(
      file: "kdp_graphics.crash", process: "Kindle Create", pid: 3010, type: "EXC_CRASH", signal: "SIGABRT",
      codes: [0, 0], thread: 16, threads: 22, frames: 24, frame: (4, 0x180c_bb00, "AMDRadeonX4000GLDriver"),
      images: 332, register: ("eip", 0xa73e_7ed6), system: [10, 13, 6], build: "17G65"),
  ]

  static let phones: [RealReport] = [
    RealReport(
      file: "adventure_crash_ios.crash", process: "get", pid: 1737, type: "EXC_BAD_ACCESS", signal: "SIGSEGV",
      codes: [1, 0x41fc_821e_0000_01b0], thread: 27, threads: 39, frames: 15,
      frame: (0, 0x1_d024_6644, "libEmbeddedSystemAUs.dylib"), images: 538, register: ("lr", 0xe970_e981_d024_6578),
      system: [13, 3, 0], build: "17C54"),
    RealReport(
      file: "brain_cpu_ios.crash", kind: .resource, process: "com.apple.MobileSoftwareUpdate.UpdateBrainService",
      pid: 147, type: "EXC_RESOURCE", codes: [], thread: 2, threads: 4, frames: 15,
      frame: (1, 0x1_0008_ac70, "com.apple.MobileSoftwareUpdate.UpdateBrainService"), images: 79,
      register: ("x17", 0x1_000c_d2b1), system: [8, 1, 2], build: "12B440"),
    RealReport(
      file: "icdab_nsdata_ios.crash", process: "icdab_nsdata", pid: 324, type: "EXC_CRASH", signal: "SIGABRT",
      codes: [0, 0], thread: 0, threads: 6, frames: 15, frame: (13, 0xf8834, "icdab_nsdata"), images: 135,
      register: ("r11", 0x14d5_f4a4), system: [9, 3, 5], build: "13G36"),
    RealReport(
      file: "icdab_planets-symbols-available.crash", process: "icdab_planets", pid: 31797, type: "EXC_CRASH",
      signal: "SIGABRT", codes: [0, 0], thread: 0, threads: 8, frames: 49,
      frame: (4, 0x1_0482_90f0, "icdab_planets"), images: 274, register: ("x26", 0x1_0490_8750), system: [13, 5, 0],
      build: "17F75"),
    RealReport(
      file: "icdab_planets.crash", process: "icdab_planets", pid: 33416, type: "EXC_CRASH", signal: "SIGABRT",
      codes: [0, 0], thread: 0, threads: 8, frames: 49, frame: (4, 0x1_0454_90f0, "icdab_planets"), images: 274,
      register: ("x9", 0x1f45_971d_a717_4a41), system: [13, 5, 0], build: "17F75"),
    RealReport(
      file: "icdab_planets.iPhone.crash", process: "icdab_planets", pid: 5259, type: "EXC_CRASH", signal: "SIGABRT",
      codes: [0, 0], thread: 0, threads: 7, frames: 39, frame: (4, 0x1_0097_85c8, "icdab_planets"), images: 188,
      register: ("x23", 0x1_b60d_5c20), system: [11, 4, 0], build: "15F79"),
    RealReport(
      file: "icdab_ptr_ios_single_session.crash", process: "icdab_ptr", pid: 2477, type: "EXC_BAD_ACCESS",
      signal: "SIGSEGV", codes: [1, 0x2000_0001_0201_ddf8], termination: 0xb, thread: 0, threads: 7, frames: 34,
      frame: (0, 0x1_0201_ddf8, "icdab_ptr"), images: 596, register: ("x8", 0x036f_9301_0201_ddf8),
      system: [14, 2, 0], build: "18B5061e"),
    RealReport(
      file: "icdab_sema_ios_14_2.crash", process: "icdab_sema_ios", pid: 738, type: "EXC_BREAKPOINT",
      signal: "SIGTRAP", codes: [1, 0x1_aa3f_4788], termination: 5, thread: 0, threads: 1, frames: 6,
      frame: (3, 0x1_0010_e810, "icdab_sema_ios"), images: 247, register: ("x12", 0xf86e00), system: [14, 2, 0],
      build: "18B5061e"),
    RealReport(
      file: "icdab_wrap_ios_13_5.crash", process: "icdab_wrap", pid: 13819, type: "EXC_BREAKPOINT",
      signal: "SIGTRAP", codes: [1, 0x1_b0e5_3d70], termination: 5, thread: 0, threads: 6, frames: 17,
      frame: (3, 0x1_005a_3b38, "icdab_wrap"), images: 296, register: ("x27", 0x20ff), system: [13, 5, 0],
      build: "17F75"),
    RealReport(
      file: "jablotron_sigbus_align.crash", process: "MyJablotron_dev", pid: 177, type: "SIGBUS",
      codes: [10, 1, 0xcd0b1c], thread: 0, threads: 8, frames: 36, frame: (1, 0x4e7c18, "MyJablotron_dev"), images: 38,
      register: ("r8", 0x0411_32b0), system: [7, 1, 2], build: "11D257", isWarned: true),
    RealReport(
      file: "leakagent.crash", process: "LeakAgent", pid: 3434, type: "EXC_BAD_ACCESS", signal: "SIGSEGV",
      codes: [1, 0], termination: 0xb, thread: 4, threads: 7, frames: 28, frame: (15, 0x1_0495_b270, "LeakAgent"),
      images: 71, register: ("x10", 0xffff_ffff_ffff_d544), system: [11, 3, 0], build: "15E216"),
    RealReport(
      file: "macsymbolicator-legacy.crash", process: "iOSCrashingTest", pid: 455, type: "EXC_BREAKPOINT",
      signal: "SIGTRAP", codes: [1, 0x1_8a98_520c], termination: 5, thread: 0, threads: 8, frames: 48,
      frame: (2, 0x1_0223_64bc, "iOSCrashingTest"), images: 17, register: ("x24", 0xd000_0000_0000_0010),
      system: [16, 0, 0], build: "20A362"),
    RealReport(
      file: "snapshot_many_wakes_ios.crash", kind: .resource, process: "Snapchat", pid: 3151, type: "EXC_RESOURCE",
      codes: [], thread: 21, threads: 23, frames: 17, frame: (2, 0x1_82ef_dec0, "IOKit"), images: 333,
      register: ("x27", 0x1_0f67_fbac), system: [8, 3, 0], build: "12F70"),
    RealReport(
      file: "train_thermal.crash", type: "00000020", termination: 0xc000_10ff, thread: 0, threads: 7, frames: 21,
      frame: (19, 0xffffc, "iTrainAlarm"), images: 137),
    RealReport(
      file: "xmbc_sigbus.crash", process: "XBMC", pid: 5693, type: "EXC_BAD_ACCESS", signal: "SIGBUS",
      codes: [0x32, 0x0470_01b0], thread: 4, threads: 5, frames: 27, frame: (14, 0x2276d4, "XBMC"), images: 81,
      register: ("r1", 0x2fe2_0ef0), system: [4, 3, 1], build: "8G4"),
  ]

  static let others: [RealReport] = [
    RealReport(
      file: "assetsd.diskwrites_resource-2020-10-18-025557.ips.synced", kind: .resource, process: "assetsd", pid: 124,
      thread: 0, threads: 1, frames: 17, frame: (0, 0x1_becf_8154, "libsystem_kernel.dylib"), images: 7,
      system: [14, 2, 0], build: "18B5072f"),
    RealReport(
      file: "myrun_crash_ios.crash", kind: .resource, process: "MapMyRun", pid: 2489, thread: 0, threads: 1,
      frames: 28, frame: (26, 0x1_044a_e2b0, "MapMyRun"), images: 12, system: [11, 4, 1], build: "15G77"),
    RealReport(
      file: "ips2crashlog-source.ips", process: "Transit", pid: 27589, type: "EXC_BREAKPOINT", signal: "SIGTRAP",
      codes: [1, 0x1_1ecc_5adc], termination: 5, thread: 13, threads: 27, frames: 32,
      frame: (0, 0x1_1ecc_5adc, "Transit.debug.dylib"), images: 36, register: ("lr", 0x1_1ecc_5ab0),
      system: [15, 2, 0], build: "24C101"),
    RealReport(
      file: "ips2crashlog-target.txt", process: "Transit", pid: 27589, type: "EXC_BREAKPOINT", signal: "SIGTRAP",
      codes: [1, 0x1_1ecc_5adc], termination: 5, thread: 13, threads: 27, frames: 32,
      frame: (0, 0x1_1ecc_5adc, "Transit.debug.dylib"), images: 36, register: ("sp", 0x1_7024_87c0),
      system: [15, 2, 0], build: "24C101"),
    RealReport(
      file: "macsymbolicator-ios16-brk.ips", process: "iOSCrashingTest", pid: 455, type: "EXC_BREAKPOINT",
      signal: "SIGTRAP", codes: [1, 0x1_8a98_520c], termination: 5, thread: 0, threads: 8, frames: 48,
      frame: (2, 0x1_0223_64bc, "iOSCrashingTest"), images: 17, register: ("lr", 0x1_8a98_520c),
      system: [16, 0, 0], build: "20A362"),
  ]
}

@Suite("Apple's reports: real ones", .enabled(if: RealReports.areThere, "no real reports beside the project"))
struct RealReportTests {
  @Test("The members of a real report are read", arguments: RealReport.macs + RealReport.phones + RealReport.others)
  func facts(_ expected: RealReport) throws {
    let reading = try RealReports.read(expected.file)
    let (snapshot, report) = (try #require(reading.snapshot), try #require(reading.report))
    #expect(report.kind == expected.kind)
    #expect(report.processName == expected.process)
    #expect(snapshot.processID == expected.pid)
    #expect(report.exceptionType == expected.type)
    #expect(report.exceptionSignal == expected.signal)
    #expect(snapshot.exception.map { Array($0.codes.dropFirst()) } == expected.codes)
    #expect(report.termination?.code == expected.termination)
    #expect(report.faultingThread == expected.thread)
    #expect(snapshot.threads.count == expected.threads)
    let frames = reading.frames(report.faultingThread)
    #expect(frames.count == expected.frames)
    if let frame = expected.frame {
      try #require(frames.indices.contains(frame.index))
      #expect(frames[frame.index].address == frame.address)
      #expect(reading.image(frames[frame.index]) == frame.image)
    }
    // Frames name images that some reports do not list.
    #expect(snapshot.modules.count - reading.codes.count == expected.images)
    if let register = expected.register { #expect(reading.register(register.name) == register.value) }
    let system = [snapshot.system.osMajor, snapshot.system.osMinor, snapshot.system.osBugfix].compactMap { $0 }
    #expect(system == expected.system)
    #expect(reading.text(snapshot.system.osBuild) == expected.build)
    #expect(reading.isSound)
    #expect(Set(reading.codes) == (expected.isWarned ? ["report-missing-image"] : []))
  }

  @Test(
    "A panic of the system has its first line and its task",
    arguments: ["mbp_bridge_os.crash", "power_state_kernel_panic.crash", "rt_buddy.crash"])
  func panics(_ file: String) throws {
    let reading = try RealReports.read(file)
    #expect(reading.report?.kind == .panic)
    #expect(reading.report?.panic?.headline?.isEmpty == false)
    #expect(reading.snapshot?.outcome == .noProcess)
  }

  @Test("A report of no crash is refused, with what it is")
  func refused() throws {
    let (file, name) = ("jetsam_per-process-limit.crash", "CoreAnalytics, bug type 211")
    let reading = try RealReports.read(file)
    #expect(reading.snapshot == nil)
    let finding = try #require(reading.reading.findings.first)
    #expect(finding.rule.code == "report-not-a-crash")
    #expect(finding.found == .text(name))
  }

  @Test("A translation has the facts of its report")
  func pair() throws {
    let source = try RealReports.read("ips2crashlog-source.ips")
    let text = try RealReports.read("ips2crashlog-target.txt").bytes
    let translated = Reading(Array(text[..<(try #require(text.firstIndex(of: UInt8(ascii: "{"))))]))
    #expect(translated.form == .ips)
    let (one, other) = (try #require(source.snapshot), try #require(translated.snapshot))
    for (thread, mine) in zip(one.threads, other.threads) {
      #expect(thread.frames?.map(\.address) == mine.frames?.map(\.address))
      #expect(thread.frames?.map(\.moduleOffset) == mine.frames?.map(\.moduleOffset))
      #expect(thread.frames?.map(\.line) == mine.frames?.map(\.line))
      #expect(thread.frames?.map(\.isInlined) == mine.frames?.map(\.isInlined))
    }
    #expect(one.modules.map(\.address) == other.modules.map(\.address))
    #expect(one.modules.map(\.size) == other.modules.map(\.size))
    #expect(one.modules.map(\.identity) == other.modules.map(\.identity))
    #expect(one.modules.map(\.bundleID) == other.modules.map(\.bundleID))
    #expect(one.report?.version == other.report?.version)
    #expect(one.report?.build == other.report?.build)
    #expect(one.report?.syndromeText == other.report?.syndromeText)
    #expect(one.snapshotTime == other.snapshotTime)
    #expect(one.startTime == other.startTime)
    #expect(one.exception?.codes == other.exception?.codes)
    #expect(one.report?.termination?.indicator == other.report?.termination?.indicator)
    #expect(one.report?.termination?.byProcess == other.report?.termination?.byProcess)
    #expect(one.report?.parentName == other.report?.parentName)
    #expect(one.report?.responsibleName == other.report?.responsibleName)
    #expect(one.report?.coalition == other.report?.coalition)
  }
}
