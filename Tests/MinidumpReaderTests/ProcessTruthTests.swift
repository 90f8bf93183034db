// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import CrashpadMinidump
import CrashpadSnapshot
import Testing

@Suite("MinidumpReader: system, process and memory")
struct ProcessTruthTests {
  @Test("The system is that of SystemInfo", arguments: Layout.allCases)
  func system(_ layout: Layout) throws {
    for example in layout.examples {
      let system = try #require(example.reading.snapshot).system
      let parameters = example.dump.parameters
      let architecture: CPUArchitecture =
        switch parameters.processor {
        case .arm64, .arm64Old: .arm64
        case .x86_64: .x86_64
        case .x86: .x86
        case .arm: .arm
        case .riscv64: .riscv64
        case .ppc64: .ppc64
        case .mips: .mips
        case .mips64: .mips64
        }
      #expect(system.architecture == architecture, "\(example)")
      let (name, version, build): (OperatingSystem, [Int32], String) =
        switch parameters.system {
        case .windows: (.windows, [10, 0, 19045], "Service Pack 0")
        case .macos: (.macos, [14, 4, 1], "23E224")
        case .ios: (.ios, [17, 4, 1], "21E236")
        case .linux: (.linux, [6, 1, 0], "Linux 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 x86_64")
        case .android: (.android, [14, 0, 0], "Linux 5.10.157-android13 #1 SMP aarch64")
        }
      #expect(system.operatingSystem == name, "\(example)")
      #expect([system.osMajor, system.osMinor, system.osBugfix] == version)
      #expect(example.reading.text(system.osBuild) == build)
      #expect(system.cpuCount == 8)
      #expect(example.reading.text(system.cpuVendor) == (parameters.processor == .x86 ? "GenuineIntel" : nil))
      let isARM32 = parameters.processor == .arm
      #expect(system.processor?.level == 6 && system.processor?.revision == 0x9e0a)
      #expect(system.processor?.id == (isARM32 ? 0x410f_d0b0 : 0) && system.processor?.features == (isARM32 ? 0xff : 0))
      #expect(system.addressMask == (parameters.processor == .arm64 ? 0xffff_ff80_0000_0000 : 0))
      #expect(system.machine == nil)
    }
  }

  @Test("The process is that of MiscInfo, as far as the record goes", arguments: Layout.allCases)
  func process(_ layout: Layout) throws {
    for example in layout.examples {
      let snapshot = try #require(example.reading.snapshot)
      #expect(snapshot.processID == 4200, "\(example)")
      #expect(snapshot.startTime == Timestamp(seconds: 0x6500_0000))
      #expect(snapshot.userTime == Timestamp(seconds: 12))
      #expect(snapshot.systemTime == Timestamp(seconds: 3))
      #expect(snapshot.snapshotTime == Timestamp(seconds: 0x6500_0000 + Int64(example.dump.parameters.seed)))
      #expect(snapshot.isComplete)
      let zone = snapshot.system.timeZone
      let hasZone = layout != .misc24 && layout != .misc44
      #expect(zone.daylightSaving == (hasZone ? .daylightTime : nil), "\(example)")
      #expect(zone.standardOffset == (hasZone ? 3600 : nil))
      #expect(zone.daylightOffset == (hasZone ? 7200 : nil))
      #expect(example.reading.text(zone.standardName) == (hasZone ? "CET" : nil))
      #expect(example.reading.text(zone.daylightName) == (hasZone ? "CEST" : nil))
    }
  }

  @Test("Only the members that the flags name are read")
  func miscFlags() throws {
    let dump = Example.small(.x86_64, .windows)
    let flags = dump.value("miscInfo.rva") + 4
    let reading = Reading(dump.writing(0, width: 4, at: flags))
    let snapshot = try #require(reading.snapshot)
    #expect(reading.codes == [])
    #expect(snapshot.processID == nil)
    #expect(snapshot.startTime == nil)
    #expect(snapshot.userTime == nil)
    #expect(snapshot.system.timeZone.daylightSaving == nil)
  }

  @Test("The machine stands behind the build string's semicolon")
  func machine() throws {
    var dump = Example.small(.x86_64, .linux).bytes
    let misc = Example.small(.x86_64, .linux).value("miscInfo.rva")
    for (index, unit) in Array("1.2 AB; Gerät 9\0".utf16).enumerated() {
      dump.overwrite(UInt64(unit), width: 2, at: misc + 232 + 2 * index)
    }
    let reading = Reading(dump)
    #expect(reading.text(reading.snapshot?.system.machine) == "Gerät 9")
  }

  @Test("Memory is that of the list, without the stacks that threads have", arguments: Layout.allCases)
  func memory(_ layout: Layout) throws {
    for example in layout.examples {
      let snapshot = try #require(example.reading.snapshot)
      var expected = example.dump.regions.map { region($0.address, $0.count, example) }
      if layout == .memory64 {
        expected = example.dump.threads.map { region($0.stackAddress, $0.stackBytes, example) } + expected
      }
      #expect(snapshot.extraMemory.map { example.reading.region($0) } == expected, "\(example)")
    }
  }

  @Test("Ranges of the address space are those of MemoryInfoList", arguments: Layout.allCases)
  func memoryMap(_ layout: Layout) throws {
    for example in layout.examples {
      let dump = example.dump
      var expected: [MemoryMapRegion] = []
      if [.windows, .linux].contains(dump.parameters.system) {
        expected =
          dump.modules.map {
            MemoryMapRegion(address: $0.base, size: UInt64($0.size), state: 0x1000, protection: 0x20)
          }
          + dump.threads.map {
            MemoryMapRegion(address: $0.stackAddress, size: UInt64($0.stackBytes), state: 0x1000, protection: 4)
          }
      }
      #expect(example.reading.snapshot?.memoryMap == expected, "\(example)")
    }
  }

  @Test("Linux' files are kept as they are", arguments: Layout.allCases)
  func linux(_ layout: Layout) throws {
    for example in layout.examples {
      let linux = try #require(example.reading.snapshot).linux
      guard [.linux, .android].contains(example.dump.parameters.system) else {
        #expect(linux == nil, "\(example)")
        continue
      }
      let parts: [(MinidumpStream, SnapshotBytes?)] = [
        (.linuxCPUInfo, linux?.cpuInfo), (.linuxProcStatus, linux?.processStatus), (.linuxLSBRelease, linux?.release),
        (.linuxCommandLine, linux?.commandLine), (.linuxEnvironment, linux?.environment),
        (.linuxAuxiliaryVector, linux?.auxiliaryVector), (.linuxMaps, linux?.maps),
      ]
      for (stream, content) in parts {
        let range = try #require(example.dump.streams.first { $0.stream == stream }).range
        #expect(example.reading.data(content) == Array(example.dump.bytes[range]), "\(example), \(stream)")
        #expect(!range.isEmpty)
      }
    }
  }

  private func region(_ address: UInt64, _ count: Int, _ example: Example) -> Region {
    Region(address: address, bytes: example.dump.memory.bytes(at: address, count: count))
  }
}
