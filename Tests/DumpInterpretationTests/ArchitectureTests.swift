// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import CrashpadSnapshot
import Testing

@Suite("DumpInterpreter: architecture")
struct ArchitectureTests {
  /// Threads with the states of these architectures, nil for threads without any.
  private func dump(
    _ threads: [SynthArchitecture?], system: SmallDump.Part = { _ in }, root: SmallDump.Part = { _ in }
  ) -> [UInt8] {
    var builder = DumpBuilder()
    builder.root { dump in
      dump.property(.version, [1])
      dump.map(.processInfo) { _ in }
      dump.map(.systemInfo, system)
      dump.array(.threads) { array in
        for (id, architecture) in threads.enumerated() {
          array.mapInArray {
            $0.property(.threadID, uint64: UInt64(id))
            if let architecture { States.write(architecture, to: &$0) }
          }
        }
      }
      root(&dump)
    }
    return builder.bytes
  }

  private func guessing() -> DumpInterpreter.Options {
    var options = DumpInterpreter.Options()
    options.guessesArchitecture = true
    return options
  }

  @Test("The states of most threads decide", arguments: SynthArchitecture.allCases)
  func decided(_ architecture: SynthArchitecture) {
    let result = Interpreted(dump([architecture, nil, architecture]))
    #expect(result.snapshot?.system.architecture == (architecture == .arm64 ? .arm64 : .x86_64))
    #expect(result.codes == ["no-registers"])
  }

  @Test("The larger number of mixed states counts, with a finding")
  func mixed() {
    let result = Interpreted(dump([.x86_64, .arm64, .x86_64]))
    #expect(result.snapshot?.system.architecture == .x86_64)
    #expect(result.codes == ["mixed-architecture", "no-registers"])
    #expect(result.findings.first?.found == .text("x86_64"))
    #expect(result.findings.first?.path == "kThreads")
  }

  @Test("Without a majority the dump is rejected, unless a guess is asked for")
  func undecided() {
    let undecided: [[SynthArchitecture?]] = [[], [nil, nil, .arm64], [.arm64, .x86_64]]
    for threads in undecided {
      let result = Interpreted(dump(threads))
      #expect(result.snapshot == nil)
      #expect(result.codes == ["unknown-architecture"])
      let guessed = Interpreted(dump(threads), guessing())
      #expect(guessed.snapshot?.system.architecture == .arm64)
      #expect(guessed.codes.first == "guessed-architecture")
    }
  }

  /// The facts of a system without threads.
  @Test("A guess goes by page size, vendor and address mask")
  func hints() {
    func guess(_ system: @escaping SmallDump.Part) -> (text: Finding.Value?, architecture: CPUArchitecture?) {
      let rejected = Interpreted(dump([], system: system))
      #expect(rejected.snapshot == nil)
      return (
        rejected.findings.last?.found, Interpreted(dump([], system: system), guessing()).snapshot?.system.architecture
      )
    }
    #expect(guess { _ in } == (nil, .arm64))
    #expect(guess { $0.property(.pageSize, uint64: 0x1000) } == (.text("it looks like x86_64"), .x86_64))
    #expect(guess { $0.property(.pageSize, uint64: 0x4000) } == (.text("it looks like arm64"), .arm64))
    #expect(guess { $0.property(.pageSize, uint32: 0x1000) } == (nil, .arm64))
    #expect(guess { $0.property(.cpuVendor, "GenuineIntel") } == (.text("it looks like x86_64"), .x86_64))
    #expect(guess { $0.property(.cpuVendor, "") } == (nil, .arm64))
    #expect(
      guess {
        $0.property(.addressMask, uint64: ~0)
        $0.property(.pageSize, uint64: 0x1000)
        $0.property(.cpuVendor, "GenuineIntel")
      } == (.text("it looks like x86_64"), .x86_64))
  }

  @Test("The model of a device decides where the threads do not, unless one of them is of Intel")
  func device() {
    func decided(_ model: String, _ threads: [SynthArchitecture?]) -> CPUArchitecture? {
      Interpreted(dump(threads, system: { $0.property(.machineDescription, model) })).snapshot?.system.architecture
    }
    for model in ["iPhone14,2", "iPad13,1", "iPod9,1", "AppleTV14,1", "Watch6,1", "RealityDevice14,1"] {
      #expect(decided(model, []) == .arm64, "\(model)")
      #expect(decided(model, [nil, nil, .arm64]) == .arm64)
      #expect(decided(model, [nil, nil, .x86_64]) == nil)
      #expect(decided(model, [.x86_64]) == .x86_64)
    }
    #expect(decided("iOS Simulator (iPhone14,2)", []) == nil)
    #expect(decided("Macmini", []) == nil)
  }

  @Test("An NSException's thread without registers does not keep a device's dump of two threads from being read")
  func smallNSException() throws {
    var parameters = SynthParameters.tiny()
    parameters.exception = .nsException(frames: 3)
    for threads in 1...2 {
      parameters.threadCount = threads
      #expect(Interpreted(SynthDump(parameters).bytes).snapshot?.exception?.address != nil, "\(threads) threads")
    }
  }

  @Test("A Mach exception's state decides as well")
  func exceptionState() {
    let root: SmallDump.Part = {
      $0.map(.machException) {
        $0.property(.flavor, uint32: 7)
        $0.property(.state, [UInt8](repeating: 0, count: 176))
        $0.property(.threadID, uint64: 0)
      }
    }
    #expect(Interpreted(dump([], root: root)).snapshot?.system.architecture == .x86_64)
    #expect(Interpreted(dump([nil], root: root)).snapshot == nil)
  }

  @Test("The caller's architecture overrides that of the dump", arguments: [CPUArchitecture.arm64, .x86_64])
  func override(_ architecture: CPUArchitecture) {
    let result = Interpreted(dump([.arm64, .arm64]), architecture: architecture)
    #expect(result.snapshot?.system.architecture == architecture)
    #expect(result.codes == (architecture == .arm64 ? [] : ["no-registers", "no-registers"]))
    #expect(result.snapshot?.threads.map { $0.context == nil } == [architecture != .arm64, architecture != .arm64])
    #expect(Interpreted(dump([]), architecture: architecture).snapshot?.system.architecture == architecture)
  }

  @Test("Registers count only if all three states have their size", arguments: 0..<8, SynthArchitecture.allCases)
  func states(_ present: Int, _ architecture: SynthArchitecture) {
    var builder = DumpBuilder()
    builder.root { dump in
      dump.property(.version, [1])
      dump.map(.processInfo) { _ in }
      dump.map(.systemInfo) { _ in }
      dump.array(.threads) {
        $0.mapInArray {
          let thread = States.thread(architecture)
          $0.property(.threadState, present & 1 != 0 ? thread : Array(thread.dropLast()))
          $0.property(.floatState, present & 2 != 0 ? States.float(architecture) : [])
          if present & 4 != 0 { $0.property(.debugState, States.debug(architecture)) }
        }
      }
    }
    let result = Interpreted(builder.bytes, architecture: architecture == .arm64 ? .arm64 : .x86_64)
    #expect((result.snapshot?.threads.first?.context != nil) == (present == 7))
    #expect(result.codes == (present == 7 ? [] : ["no-registers"]))
  }
}
