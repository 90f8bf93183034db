// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import CrashpadSnapshot
import Testing

@Suite("DumpInterpreter: exceptions")
struct ExceptionTests {
  /// A dump of three threads, 1 to 3, and a Mach exception in thread 2.
  private func mach(
    _ architecture: SynthArchitecture = .arm64, type: Int32? = 1, codes: [UInt8]? = Bytes.of([1, 0x10]),
    flavor: UInt32? = nil, state: [UInt8]? = nil, thread: UInt64 = 2
  ) -> Interpreted {
    var dump = SmallDump(architecture: architecture)
    dump.threads = (1...3).map { id in { $0.property(.threadID, uint64: id) } }
    dump.root = {
      $0.map(.machException) {
        if let type { $0.property(.exception, int32: type) }
        if let codes { $0.property(.codes, codes) }
        if let flavor { $0.property(.flavor, uint32: flavor) }
        if let state { $0.property(.state, state) }
        $0.property(.threadID, uint64: thread)
      }
    }
    return Interpreted(dump.bytes, architecture: architecture == .arm64 ? .arm64 : .x86_64)
  }

  /// Thread states whose registers are 0x9000 and up, which no thread has.
  private func own(_ architecture: SynthArchitecture) -> [UInt8] { States.thread(architecture, base: 0x9000) }

  private func words(_ base: UInt64, _ architecture: SynthArchitecture) -> [UInt64] {
    (0..<(architecture == .arm64 ? 34 : 21)).map { base + UInt64($0) }
  }

  private func header(_ flavor: UInt32, _ count: UInt32) -> [UInt8] { Bytes.of(flavor) + Bytes.of(count) }

  @Test("A plain thread flavor replaces the thread's registers, and only those", arguments: SynthArchitecture.allCases)
  func plainThread(_ architecture: SynthArchitecture) throws {
    let result = mach(architecture, flavor: architecture == .arm64 ? 6 : 4, state: own(architecture))
    let context = try #require(result.snapshot?.exception?.context)
    #expect(result.codes == [])
    #expect(Interpreted.values(context) == words(0x9000, architecture))
    if let arm = context.arm64 {
      #expect(result.bytes(of: arm.vectors) == [UInt8](repeating: 0x11, count: 512))
      #expect(arm.fpsr == 0x1111_1111)
    } else {
      #expect(context.x86_64.flatMap { result.bytes(of: $0.fxsave) } == [UInt8](repeating: 0x11, count: 512))
      #expect(context.x86_64?.dr[7] == 0xd007)
    }
  }

  @Test(
    "A unified flavor is taken if its header names the plain state and counts all of it",
    arguments: SynthArchitecture.allCases)
  func unified(_ architecture: SynthArchitecture) {
    let isARM = architecture == .arm64
    let flavor: UInt32 = isARM ? 1 : 7
    let plain: UInt32 = isARM ? 6 : 4
    let count: UInt32 = isARM ? 68 : 42
    func values(_ header: [UInt8]) -> [UInt64]? {
      Interpreted.values(
        mach(architecture, flavor: flavor, state: header + own(architecture)).snapshot?.exception?.context)
    }
    #expect(values(header(plain, count)) == words(0x9000, architecture))
    #expect(values(header(plain, count + 9)) == words(0x9000, architecture))
    #expect(values(header(plain, count - 1)) == words(0x1000, architecture))
    #expect(values(header(plain + 1, count)) == words(0x1000, architecture))
  }

  @Test("A float flavor replaces the float state", arguments: SynthArchitecture.allCases)
  func float(_ architecture: SynthArchitecture) throws {
    let result = mach(
      architecture, flavor: architecture == .arm64 ? 17 : 5, state: States.float(architecture, fill: 0x77))
    let context = try #require(result.snapshot?.exception?.context)
    #expect(Interpreted.values(context) == words(0x1000, architecture))
    let vectors = context.arm64?.vectors ?? context.x86_64?.fxsave
    #expect(result.bytes(of: vectors) == [UInt8](repeating: 0x77, count: 512))
    if let arm = context.arm64 { #expect([arm.fpsr, arm.fpcr] == [0x7777_7777, 0x7777_7777]) }
  }

  @Test("A debug flavor replaces the debug registers")
  func debug() throws {
    let values: [UInt64] = Array(0xeeee0..<0xeeee8)
    let result = mach(.x86_64, flavor: 11, state: Bytes.of(values))
    let context = try #require(result.snapshot?.exception?.context?.x86_64)
    let registers: [UInt64] = (0..<8).map { context.dr[$0] }
    #expect(registers == values)
    #expect(context.rip == 0x1010)
    let arm = mach(.arm64, flavor: 15, state: [UInt8](repeating: 9, count: 520))
    #expect(Interpreted.values(arm.snapshot?.exception?.context) == words(0x1000, .arm64))
    #expect(arm.codes == [])
  }

  @Test("A short state is filled up with zeros, a long one is cut", arguments: SynthArchitecture.allCases)
  func stateSize(_ architecture: SynthArchitecture) throws {
    let flavor: UInt32 = architecture == .arm64 ? 6 : 4
    let short = mach(architecture, flavor: flavor, state: Array(own(architecture).prefix(20)))
    #expect(short.codes == ["state-size"])
    var expected = words(0, architecture).map { _ in UInt64(0) }
    expected.replaceSubrange(0..<3, with: [0x9000, 0x9001, 0x9002])
    #expect(Interpreted.values(short.snapshot?.exception?.context) == expected)
    let context = try #require(short.snapshot?.exception?.context)
    #expect(short.bytes(of: context.arm64?.vectors ?? context.x86_64?.fxsave) == [UInt8](repeating: 0x11, count: 512))

    if let debug = context.x86_64?.dr { #expect(debug[7] == 0xd007, "the debug registers stay the thread's") }

    let long = mach(architecture, flavor: flavor, state: own(architecture) + [1, 2, 3])
    #expect(long.codes == ["state-size"])
    #expect(Interpreted.values(long.snapshot?.exception?.context) == words(0x9000, architecture))

    // A float state that is too short comes to lie in the snapshot's own bytes.
    let float = mach(architecture, flavor: architecture == .arm64 ? 17 : 5, state: [UInt8](repeating: 5, count: 40))
    let floats = try #require(float.snapshot?.exception?.context)
    let lead = architecture == .arm64 ? 40 : 32
    #expect(
      float.bytes(of: floats.arm64?.vectors ?? floats.x86_64?.fxsave)
        == [UInt8](repeating: 5, count: lead) + [UInt8](repeating: 0, count: 512 - lead))
    #expect(Interpreted.values(floats) == words(0x1000, architecture))
  }

  @Test("A unified state that is too short for its header does not count", arguments: [0, 4, 5, 8])
  func shortUnified(_ count: Int) {
    let result = mach(.arm64, flavor: 1, state: Array((header(6, 68) + own(.arm64)).prefix(count)))
    #expect(result.codes == ["state-size"])
    let values = Interpreted.values(result.snapshot?.exception?.context)
    // The header, filled up with zeros, counts 68 words from its fifth byte on: then the registers are those of a state
    // of nothing but zeros.
    #expect(values == (count >= 5 ? words(0, .arm64).map { _ in 0 } : words(0x1000, .arm64)))
  }

  @Test("An unknown flavor leaves the thread's own registers", arguments: SynthArchitecture.allCases)
  func unknownFlavor(_ architecture: SynthArchitecture) {
    let result = mach(architecture, flavor: 99, state: own(architecture))
    #expect(result.codes == ["unknown-flavor"])
    #expect(Interpreted.values(result.snapshot?.exception?.context) == words(0x1000, architecture))
  }

  @Test("Without flavor or state there are no registers, and the address is that of a bad access only")
  func noState() {
    #expect(mach(flavor: nil, state: own(.arm64)).snapshot?.exception?.context == nil)
    #expect(mach(flavor: 6, state: nil).snapshot?.exception?.context == nil)
    #expect(mach(flavor: 6).snapshot?.exception?.address == 0x10)
    #expect(mach(type: 5, flavor: 6).snapshot?.exception?.address == 0)
  }

  @Test("The address is the second code of a bad access, and the program counter otherwise")
  func address() {
    func address(_ architecture: SynthArchitecture, _ type: Int32, _ first: UInt64) -> UInt64? {
      mach(
        architecture, type: type, codes: Bytes.of([first, 0x1234]), flavor: architecture == .arm64 ? 6 : 4,
        state: own(architecture)
      ).snapshot?.exception?.address
    }
    #expect(address(.arm64, 1, 1) == 0x1234)
    #expect(address(.arm64, 1, 13) == 0x1234)
    #expect(address(.arm64, 6, 1) == 0x9020)
    #expect(address(.x86_64, 1, 1) == 0x1234)
    #expect(address(.x86_64, 1, 13) == 0x9010, "a general protection fault has no address")
    #expect(address(.x86_64, 1, 5) == 0x9010, "nor has a bound fault")
    #expect(address(.x86_64, 1, 0x1_0000_0005) == 0x9010, "only the low 32 bits count")
    #expect(address(.x86_64, 6, 1) == 0x9010)
  }

  @Test("A thread that is not there leaves code and address, without registers")
  func missingThread() {
    let result = mach(type: 6, flavor: 6, state: own(.arm64), thread: 77)
    #expect(result.codes == [])
    #expect(result.snapshot?.exception?.threadID == 77)
    #expect(result.snapshot?.exception?.address == 0x10)
    #expect(result.snapshot?.exception?.context == nil)
  }

  @Test("Codes that are no whole words are ignored", arguments: [0, 7, 9])
  func badCodes(_ count: Int) {
    let result = mach(type: -3, codes: [UInt8](repeating: 1, count: count))
    #expect(result.codes == ["bad-codes"])
    #expect(result.findings.first?.found == .byteCount(UInt64(count)))
    #expect(result.snapshot?.exception?.codes == [UInt64(bitPattern: -3)])
    #expect(result.snapshot?.exception?.code == 0xffff_fffd)
    #expect(result.snapshot?.exception?.info == 0)
  }

  @Test("Fourteen codes fit, of more the first do", arguments: [1, 14, 15, 40])
  func manyCodes(_ count: Int) {
    let codes = (0..<count).map { UInt64($0) + 0x8000_0001_0000_0000 }
    let result = mach(type: 6, codes: Bytes.of(codes))
    #expect(result.codes == (count > 14 ? ["too-many-codes"] : []))
    #expect(result.snapshot?.exception?.codes == [6] + codes.prefix(14))
    #expect(result.snapshot?.exception?.info == 0)
  }

  @Test("Without a type there is none among the parameters")
  func noType() {
    let result = mach(type: nil)
    #expect(result.snapshot?.exception?.code == 0)
    #expect(result.snapshot?.exception?.codes == [1, 0x10])
  }

  // MARK: Which one counts

  @Test("A signal counts first, then a Mach exception, then an NSException")
  func precedence() {
    typealias Part = SmallDump.Part
    let ns: Part = { $0.map(.nsException) { $0.property(.threadID, uint64: 1) } }
    let mach: Part = { $0.map(.machException) { $0.property(.threadID, uint64: 1) } }
    let signal: Part = { $0.map(.signalException) { $0.property(.threadID, uint64: 1) } }
    func kind(_ parts: [Part]) -> (ExceptionSnapshot.Kind?, Bool) {
      var dump = SmallDump()
      dump.threads = (1...4).map { id in { $0.property(.threadID, uint64: id) } }
      dump.root = { root in for part in parts { part(&root) } }
      let result = Interpreted(dump.bytes)
      return (result.snapshot?.exception?.kind, result.codes.contains("several-exceptions"))
    }
    #expect(kind([ns]) == (.nsException, false))
    #expect(kind([ns, mach]) == (.mach, true))
    #expect(kind([ns, signal]) == (.softSignal, true))
    #expect(kind([mach, signal]) == (.softSignal, true))
    #expect(kind([ns, mach, signal]) == (.softSignal, true))
    // A property in the place of a map is no exception.
    #expect(kind([mach, { $0.property(.signalException, []) }]) == (.mach, false))
  }

  // MARK: Signals

  @Test("A signal's registers need its thread and float state", arguments: SynthArchitecture.allCases, 0..<4)
  func signal(_ architecture: SynthArchitecture, _ parts: Int) throws {
    var dump = SmallDump(architecture: architecture)
    dump.threads = (1...3).map { id in { $0.property(.threadID, uint64: id) } }
    dump.root = {
      $0.map(.signalException) {
        if parts & 1 != 0 { $0.property(.threadState, States.thread(architecture, base: 0x9000)) }
        if parts & 2 != 0 { $0.property(.floatState, States.float(architecture, fill: 0x77)) }
        $0.property(.debugState, States.debug(architecture))
        $0.property(.signalNumber, int32: -1)
        $0.property(.threadID, uint64: 2)
      }
    }
    let result = Interpreted(dump.bytes)
    let exception = try #require(result.snapshot?.exception)
    #expect(exception.info == 0xffff_ffff)
    #expect(exception.codes == [0x10003, 0xffff_ffff, 0])
    #expect(exception.address == 0)
    #expect(result.codes == (parts == 3 ? [] : ["no-registers"]))
    #expect(Interpreted.values(exception.context) == (parts == 3 ? words(0x9000, architecture) : nil))
    if let context = exception.context?.x86_64 { #expect(context.dr[0] == 0, "a signal has no debug registers") }
  }
}
