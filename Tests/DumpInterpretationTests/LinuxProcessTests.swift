// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import IntermediateDump
import CrashpadSnapshot
import Testing

@Suite("DumpInterpreter: a Linux process")
struct LinuxProcessTests {
  @Test("The system is Linux, named as uname(1) does", arguments: SynthArchitecture.allCases)
  func system(_ architecture: SynthArchitecture) throws {
    let dump = SynthLinuxDump(architecture)
    let result = Interpreted(dump.bytes)
    #expect(result.codes == [])
    let system = try #require(result.snapshot).system
    #expect(system.operatingSystem == .linux)
    #expect(system.architecture == (architecture == .arm64 ? .arm64 : .x86_64))
    #expect([system.osMajor, system.osMinor, system.osBugfix] == [6, 1, 55])
    #expect(result.text(system.osBuild) == dump.uname)
    #expect(system.machine == nil)
    #expect(system.cpuCount == 8 && system.pageSize == 4096)
    #expect(system.timeZone.standardOffset == 3600)
    #expect(system.memory == SystemMemory(active: 40_000, inactive: 30_000, wired: 20_000, free: 10_000))
    #expect(system.addressMask == (architecture == .arm64 ? SynthLinuxDump.arm64AddressMask : nil))
  }

  @Test("Without a kernel release the build is what the dump says of it")
  func noRelease() throws {
    var dump = SynthLinuxDump()
    dump.kernelRelease = nil
    let result = Interpreted(dump.bytes)
    #expect(result.text(result.snapshot?.system.osBuild) == "Linux  " + dump.kernelVersion)
  }

  @Test("The texts of /proc and /etc are those of the dump")
  func texts() throws {
    let dump = SynthLinuxDump()
    let result = Interpreted(dump.bytes)
    let linux = try #require(result.snapshot?.linux)
    #expect(result.text(linux.commandLine) == "/usr/bin/example\0--password=<removed>\0a b\0")
    #expect(result.text(linux.environment) == "LANG=C.UTF-8\0PATH=/usr/bin\0")
    #expect(result.bytes(of: linux.auxiliaryVector) == Bytes.of(dump.auxiliaryVector))
    #expect(result.text(linux.maps) == dump.maps)
    #expect(result.text(linux.processStatus) == dump.status)
    #expect(result.text(linux.release) == dump.release)
    #expect(result.text(linux.cpuInfo) == "model name\t: Synthetic CPU @ 2.60GHz\n")
  }

  @Test("The distribution's name stands in for os-release")
  func distribution() throws {
    var dump = SynthLinuxDump()
    dump.release = nil
    let result = Interpreted(dump.bytes)
    #expect(
      result.text(try #require(result.snapshot?.linux).release) == "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")
    dump.distribution = nil
    #expect(Interpreted(dump.bytes).snapshot?.linux?.release == nil)
  }

  // MARK: Exception

  @Test("A signal has Linux' number for a code, and the registers", arguments: SynthArchitecture.allCases)
  func signal(_ architecture: SynthArchitecture) throws {
    let dump = SynthLinuxDump(architecture)
    let exception = try #require(Interpreted(dump.bytes).snapshot?.exception)
    #expect(exception.kind == .linuxSignal)
    #expect(exception.code == 11 && exception.info == 1 && exception.address == 0x10)
    #expect(exception.codes == [])
    #expect(exception.threadID == dump.threads[0].id)
    #expect(
      Interpreted.values(exception.context)?.prefix(17) == dump.threads[0].registers.values.prefix(17))
  }

  @Test("A signal that a process sent has a code below zero; a dump without a crash the code of all ones")
  func codes() throws {
    var dump = SynthLinuxDump()
    dump.signal = (6, -6, 0)
    var exception = try #require(Interpreted(dump.bytes).snapshot?.exception)
    #expect(exception.code == 6 && Int32(bitPattern: exception.info) == -6)
    dump.signal = (-1, 0, 0x5555)
    exception = try #require(Interpreted(dump.bytes).snapshot?.exception)
    #expect(exception.code == 0xffff_ffff && exception.info == 0 && exception.address == 0x5555)
    dump.signal = nil
    #expect(Interpreted(dump.bytes).snapshot?.exception == nil)
  }

  // MARK: Threads

  @Test("Registers, names and stacks are those of the dump", arguments: SynthArchitecture.allCases)
  func threads(_ architecture: SynthArchitecture) throws {
    let dump = SynthLinuxDump(architecture, threads: 3)
    let result = Interpreted(dump.bytes)
    let threads = try #require(result.snapshot).threads
    #expect(threads.count == 3)
    for (thread, truth) in zip(threads, dump.threads) {
      #expect(thread.id == truth.id && thread.dataAddress == truth.dataAddress)
      #expect(result.text(thread.name) == truth.name)
      #expect(thread.context?.instructionPointer == truth.registers.pc)
      #expect(thread.context?.stackPointer == truth.registers.sp)
      #expect(thread.capture == ThreadSnapshot.Capture(rawValue: truth.capture ?? 0))
      let region = try #require(thread.stack).region
      #expect(region.address == truth.stackAddress && result.bytes(of: region.content) == truth.stack)
    }
  }

  @Test("A thread that /proc told of has two registers; one that was not stopped has none, and no warning")
  func captures() throws {
    var dump = SynthLinuxDump(threads: 4)
    dump.threads[1].capture = 3
    dump.threads[2].capture = 4
    dump.threads[3].capture = 5
    let result = Interpreted(dump.bytes)
    #expect(result.codes == ["partial-registers", "thread-not-stopped"])
    #expect(result.findings.map(\.path) == ["kThreads[2]", "kThreads[3]"])
    #expect(result.findings.allSatisfy { $0.severity == .note })
    let threads = try #require(result.snapshot).threads
    #expect(threads.map(\.capture) == [.own, .ptrace, .proc, .notStopped])
    let partial = try #require(threads[2].context?.x86_64)
    #expect(partial.rip == dump.threads[2].registers.pc && partial.rsp == dump.threads[2].registers.sp)
    #expect(partial.rax == 0 && partial.rbp == 0 && partial.fxsave.isEmpty)
    #expect(threads[3].context == nil && threads[3].stack == nil)
  }

  @Test("An unknown number of a capture method is ignored; a thread without states has a warning")
  func unknownCapture() throws {
    var dump = SynthLinuxDump(threads: 2)
    dump.threads[1].capture = 77
    #expect(Interpreted(dump.bytes).snapshot?.threads[1].capture == nil)
    let bytes = try #require(dump.bytes.removing(.threadState, 2))
    #expect(Interpreted(bytes).codes == ["no-registers"])
  }

  @Test("The machine decides the architecture if no thread has registers", arguments: SynthArchitecture.allCases)
  func architecture(_ architecture: SynthArchitecture) throws {
    var dump = SynthLinuxDump(architecture, threads: 3)
    for index in dump.threads.indices { dump.threads[index].capture = 5 }
    dump.crashedThread = 9
    let result = Interpreted(dump.bytes)
    #expect(result.snapshot?.system.architecture == (architecture == .arm64 ? .arm64 : .x86_64))
    #expect(Set(result.codes) == ["thread-not-stopped", "no-registers"])
  }

  // MARK: Modules

  @Test("A module that the loader was given by a name of its process alone has the path of its mapping")
  func relativeNames() throws {
    var dump = SynthLinuxDump()
    let names = [("./plugins/one.so", "/srv/app/plugins/one.so"), ("two.so", "/srv/app/two.so (deleted)")]
    for (index, (name, path)) in zip(1..., names) {
      dump.modules[index].path = name
      dump.modules[index].mappedPath = path
    }
    dump.modules[3].path = "three.so"
    dump.modules[3].mappedPath = "[anon:three]"
    let result = Interpreted(dump.bytes)
    let modules = try #require(result.snapshot).modules
    let paths = modules.map { result.text($0.name) ?? "" }
    #expect(Array(paths[1...3]) == ["/srv/app/plugins/one.so", "/srv/app/two.so", "three.so"])
    #expect(paths[0] == dump.modules[0].path && paths[4] == dump.modules[4].path)
    for (name, path) in [
      ("/proc/self/fd/3", "/srv/app/three.so"), ("/dev/fd/3", "/srv/app/three.so"),
      ("/proc/7/fd/3", "/memfd:three (deleted)"),
    ] {
      (dump.modules[3].path, dump.modules[3].mappedPath) = (name, path)
      let result = Interpreted(dump.bytes)
      #expect(result.text(try #require(result.snapshot).modules[3].name) == path.replacing(" (deleted)", with: ""))
    }
  }

  @Test("Modules have their whole build ids; the program is the first")
  func modules() throws {
    var dump = SynthLinuxDump()
    dump.modules.swapAt(0, 2)
    let result = Interpreted(dump.bytes)
    let modules = try #require(result.snapshot).modules
    #expect(modules.map { result.text($0.name) ?? "" } == [2, 0, 1, 3, 4].map { dump.modules[$0].path })
    #expect(
      modules.map(\.fileType) == [.executable, .sharedLibrary, .sharedLibrary, .sharedLibrary, .dynamicLoader])
    for (module, truth) in zip(modules, [2, 0, 1, 3, 4].map { dump.modules[$0] }) {
      if case .buildID(let id)? = module.identity {
        #expect(result.bytes(of: id) == truth.buildID)
      } else {
        #expect(module.identity == nil && truth.buildID == nil)
      }
      #expect(module.dylibVersion == truth.version)
      #expect(module.debugName == nil)
    }
    #expect(modules[0].messages.map { result.text($0) } == ["terminate: std::runtime_error: no such file"])
  }

  @Test("The kUUID is the identity of a module without a build id")
  func uuid() throws {
    let bytes = try #require(SynthLinuxDump().bytes.removing(.buildID, 0))
    let result = Interpreted(bytes)
    let module = try #require(result.snapshot?.modules.first)
    guard case .uuid? = module.identity else {
      Issue.record("\(String(describing: module.identity))")
      return
    }
    #expect(result.text(module.debugName) == "example")
  }

  @Test("A program without a name has that of the executable")
  func executable() throws {
    var dump = SynthLinuxDump()
    dump.modules[0].path = ""
    let result = Interpreted(dump.bytes)
    #expect(result.text(result.snapshot?.modules.first?.name) == "/usr/bin/example")
    dump.executable = nil
    #expect(try #require(Interpreted(dump.bytes).snapshot).modules[0].name == nil)
  }

  // MARK: Capture

  @Test("A value that could not be captured is a note for each line, and an annotation")
  func notes() throws {
    var dump = SynthLinuxDump()
    dump.captureNotes = ["thread 4243: it blocks every signal", "", "/proc/self/maps: cut after 64 KiB"]
    let result = Interpreted(dump.bytes)
    #expect(result.codes == ["capture-incomplete", "capture-incomplete"])
    #expect(
      result.findings.map(\.found)
        == [.text("thread 4243: it blocks every signal"), .text("/proc/self/maps: cut after 64 KiB")])
    #expect(result.findings.first?.offset == DumpRecords.walk(dump.bytes).records.first { $0.key == 60011 }?.start)
    #expect(
      result.texts(result.snapshot?.annotations) == [
        "build=nightly", "crashpad_capture_notes=" + dump.captureNotes.joined(separator: "\n"),
        "crashpad_capture_ns=3449000", "crashpad_uptime_ns=99500000000", "ver=2.0.1",
      ])
  }

  @Test("A dump that is cut keeps Linux' form, and says that it is incomplete")
  func cut() throws {
    let bytes = SynthLinuxDump(threads: 8).bytes
    let result = Interpreted(Array(bytes.prefix(bytes.count * 7 / 10)))
    let snapshot = try #require(result.snapshot)
    #expect(snapshot.system.operatingSystem == .linux && !snapshot.isComplete)
    #expect(snapshot.exception?.kind == .linuxSignal)
  }

  @Test("Without kLinux, which comes last, the machine's name tells", arguments: SynthArchitecture.allCases)
  func withoutLinux(_ architecture: SynthArchitecture) throws {
    let dump = SynthLinuxDump(architecture)
    let result = Interpreted(try #require(dump.bytes.removing(.linux, 0)))
    let snapshot = try #require(result.snapshot)
    #expect(snapshot.system.operatingSystem == .linux && snapshot.linux == nil)
    #expect(snapshot.exception?.kind == .linuxSignal && snapshot.exception?.code == 11)
    #expect(result.text(snapshot.system.osBuild) == "Linux \(dump.kernelRelease ?? "") \(dump.kernelVersion)")
    #expect(snapshot.modules[0].fileType == .executable)
  }

  @Test("A build id of zeros is none")
  func zeros() throws {
    let bytes = try #require(SynthLinuxDump().bytes.removing(.buildID, 0))
    let place = try #require(DumpRecords.walk(bytes).records.first { $0.key == 3008 }?.value)
    let zeroed = Array(bytes[..<place.lowerBound]) + [UInt8](repeating: 0, count: 16) + bytes[place.upperBound...]
    #expect(try #require(Interpreted(zeroed).snapshot).modules[0].identity == nil)
  }

  @Test("kLinux that is no map means nothing")
  func noMap() throws {
    var dump = SmallDump()
    dump.root = { $0.property(.linux, [1]) }
    #expect(Interpreted(dump.bytes).snapshot?.system.operatingSystem == .ios)
  }
}

extension [UInt8] {
  /// Without the `index`th record of that key; nil if there are not so many.
  fileprivate func removing(_ key: DumpSynth.DumpKey, _ index: Int) -> [UInt8]? {
    let records = DumpRecords.walk(self).records.filter { $0.key == key.rawValue }
    guard index < records.count, let range = records[index].subtree else { return nil }
    return Damage.replacing(self, range, with: [])
  }
}
