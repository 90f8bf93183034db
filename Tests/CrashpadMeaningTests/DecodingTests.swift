// SPDX-License-Identifier: Apache-2.0
import CrashpadMeaning
import CrashpadSnapshot
import Testing

/// Code words that were put together by hand after XNU's macros that encode them.
struct DecodingTests {
  private func texts(_ facts: [DecodedFact]) -> [String] { facts.map { "\($0.label) \($0.text)" } }

  /// EXC_RESOURCE_ENCODE_TYPE and _FLAVOR.
  private func resource(_ type: UInt64, _ flavor: UInt64, _ data: UInt64) -> UInt64 { type << 61 | flavor << 58 | data }

  @Test func `CPU: interval from bit 7, limit in bits 0 to 6`() {
    let code = ResourceCode(code: resource(1, 2, 180 << 7 | 50), subcode: 60)
    #expect(code.name == "CPU MONITOR_FATAL")
    #expect(texts(code.facts) == ["limit 50 % of a CPU over 180 s", "observed 60 %"])
  }

  @Test func `WAKEUPS: interval in 12 bits from bit 20, permitted in 20 bits`() {
    // The masks that XNU's macros decode with cut 45000 to 4040, and lengthen the interval.
    let code = ResourceCode(code: resource(2, 1, 300 << 20 | 45000), subcode: 45100)
    #expect(code.name == "WAKEUPS MONITOR")
    #expect(texts(code.facts) == ["limit 45000 wakeups/s over 300 s", "observed 45100 wakeups/s"])
  }

  @Test func `MEMORY, IO, THREADS and PORTS`() {
    #expect(texts(ResourceCode(code: resource(3, 1, 1450), subcode: 0).facts) == ["limit 1450 MB"])
    let io = ResourceCode(code: resource(4, 2, 86400 << 15 | 1024), subcode: 1073)
    #expect(io.name == "IO LOGICAL_WRITES")
    #expect(texts(io.facts) == ["limit 1024 MB over 86400 s", "observed 1073 MB"])
    #expect(texts(ResourceCode(code: resource(5, 1, 512), subcode: nil).facts) == ["threads 512"])
    #expect(texts(ResourceCode(code: resource(6, 1, 100_000), subcode: nil).facts) == ["ports 100000"])
    #expect(ResourceCode(code: resource(7, 3, 0), subcode: nil).name == "type 7")
  }

  @Test func `A guard's word is exact above two to the power of 53`() {
    // XNU's own example of doc/mach_ipc/guard_exceptions.md.
    let code = GuardCode(code: 2_305_845_208_236_959_491, subcode: 0)
    #expect(code.name == "MACH_PORT INVALID_NAME")
    #expect(texts(code.facts) == ["port 0x2703", "payload 0x0"])
    #expect(texts(GuardCode(code: 2_305_845_208_237_028_115, subcode: nil).facts) == ["port 0x13313"])
  }

  @Test func `The flavors of descriptors are bits, those of ports are numbers`() {
    func word(_ type: UInt64, _ flavor: UInt64, _ target: UInt64) -> UInt64 { type << 61 | flavor << 32 | target }
    #expect(GuardCode(code: word(2, 1 | 8, 5), subcode: 0xdead).name == "FD CLOSE|SOCKET_IPC")
    #expect(texts(GuardCode(code: word(2, 1, 5), subcode: 0xdead).facts) == ["file descriptor 5", "guard 0xdead"])
    #expect(GuardCode(code: word(1, 3, 0), subcode: nil).name == "MACH_PORT INVALID_OPTIONS")
    #expect(GuardCode(code: word(1, 0x300, 0), subcode: nil).name == "MACH_PORT flavor 0x300")
    #expect(texts(GuardCode(code: word(1, 6, 0x8000_0001), subcode: nil).facts) == ["target 0x80000001"])
    #expect(GuardCode(code: word(4, 4, 812), subcode: 1).name == "VN UNLINK")
    #expect(texts(GuardCode(code: word(3, 0, 6), subcode: 9).facts) == ["namespace 6 (DYLD)", "reason 0x9"])
    #expect(texts(GuardCode(code: word(6, 0, 0), subcode: 59).facts) == ["system call 0x3b"])
    #expect(GuardCode(code: word(7, 1, 0), subcode: nil).name == "type 7 flavor 0x1")
    // Without a type, the word is one of the first systems, or has the target alone.
    #expect(GuardCode(code: word(0, 1, 5), subcode: 0xdead).name == "FD CLOSE")
    #expect(GuardCode.hasFlavor(word(0, 1, 5)) && GuardCode.hasFlavor(word(2, 0, 5)))
    #expect(!GuardCode.hasFlavor(word(0, 0, 5)) && !GuardCode.hasFlavor(word(0, 0x40, 5)))
  }

  @Test func `The kernel's code of EXC_CRASH is signal, exception and code`() {
    let code = CrashCode(code: 11 << 24 | 1 << 20 | 2)
    #expect(code.signal == 11)
    #expect(code.exception == 1)
    #expect(code.code == 2)
  }

  @Test(arguments: [
    (0x9200_0046 as UInt64, true as Bool?, 6 as UInt64?, nil as UInt64?), (0x9200_0007, false, 7, nil),
    (0x9200_004f, true, 15, nil), (0x9200_0147, nil, 7, nil), (0x8200_0006, nil, 6, nil), (0xf200_0001, nil, nil, 1),
    (0xf200_c471, nil, nil, 0xc471), (0x5600_0080, nil, nil, nil),
  ])
  func `A syndrome says whether an access was a write, and why it failed`(
    value: UInt64, isWrite: Bool?, status: UInt64?, trap: UInt64?
  ) {
    let syndrome = FaultSyndrome(value)
    #expect(syndrome.isWrite == isWrite)
    #expect(syndrome.status == status)
    #expect(syndrome.trap == trap)
    #expect(!syndrome.rows.isEmpty)
  }

  @Test(arguments: [
    (0x10 as UInt64, "address null"), (0x5555_5555_5555_5565, "address scribble-freed"),
    (0x0055_5555_5555_5555, "address scribble-freed"), (0xaaaa_aaaa_aaaa_aaaa, "address scribble-new"),
    (0xbbad_beef, "address webkit-crash"), (0x4000_0000_0000_bad0, "address swift-bad-object"),
    (0x6f77_206f_6c6c_6548, "address text"), (0x2000_0001_00ae_9df8, "address signed"),
    (0x0900_0001_0000_4000, "address tagged"), (0xffff_ffff_ffff_fffb, "address negative"),
    (0xffff_ffff_ffff_f000, "address negative"), (0xffff_ffff_ffff_efff, "address kernel"),
    (0xffff_8044_a1a7_4710, "address kernel"),
  ])
  func `Patterns of addresses`(address: UInt64, name: String) {
    #expect(AddressPattern(address)?.row.name == name)
  }

  @Test(arguments: [0x1_0400_4000, 0x16b0_0700, 0x7fff_5fbf_f000, 0xffff_ffff_ff60_0400, 0x5555_5555_5040] as [UInt64])
  func `Ordinary addresses have no pattern`(address: UInt64) {
    #expect(AddressPattern(address) == nil)
  }

  @Test(arguments: 0...63 as ClosedRange<UInt64>)
  func `A bit above the addresses is one of a failed authentication, of a tag or of other data`(bit: UInt64) {
    let address: UInt64 = 1 << bit | 0x4000_5004
    let name = AddressPattern(address, on: .arm64)?.row.name
    let expected: String? =
      [53, 54, 61, 62].contains(bit)
      ? "address signed" : bit < 48 ? nil : (56..<60).contains(bit) ? "address tagged" : "address high bits"
    #expect(name == expected)
    // The report itself may say that it is one.
    let stated = AddressPattern(address, on: .arm64, intended: 0x4000_5004)?.row.name
    #expect(stated == (expected == "address high bits" ? "address signed" : expected))
    #expect((AddressPattern(address, on: .x86_64) != nil) == (bit >= 47))
  }

  @Test func `The patterns of signed pointers and tags are not those of x86_64`() {
    #expect(AddressPattern(0x2000_0001_00ae_9df8, on: .x86_64)?.row.name == "address non-canonical")
    #expect(AddressPattern(0x0900_0001_0000_4000, on: .x86_64)?.row.name == "address non-canonical")
  }
}
