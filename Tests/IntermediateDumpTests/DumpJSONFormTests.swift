// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import IntermediateDump
import CrashpadJSON
import Testing

@Suite("DumpJSON: form")
struct DumpJSONFormTests {
  static let head = #"{"format":"crashpad-intermediate-dump","version":1,"root":["#

  /// The records of a dump with one root, in compact JSON.
  private func records(_ body: (inout DumpBuilder) -> Void) throws -> String {
    var builder = DumpBuilder()
    builder.root(body)
    let text = String(decoding: try json(of: builder.bytes), as: UTF8.self)
    #expect(text.hasPrefix(Self.head))
    #expect(text.hasSuffix("]}\n"))
    return String(text.dropFirst(Self.head.count).dropLast(3))
  }

  @Test("Each shape has its form")
  func shapes() throws {
    let text = try records {
      $0.property(.version, [1])
      $0.property(.pid, int32: -7)
      $0.property(.active, uint32: 0xffff_ffff)
      $0.property(.addressMask, uint64: 0xffff_ff80_0000_0000)
      $0.property(.stackRegionAddress, uint64: 0)
      $0.property(.size, uint64: .max)
      $0.property(.isDaylightSavingTime, [1])
      $0.property(.hasDaylightSavingTime, [0])
      $0.property(.startTime, Bytes.of(UInt64(bitPattern: -1)) + Bytes.of(Int32(5)) + [0, 0, 0, 0])
      $0.property(.snapshotTime, Bytes.of(UInt64(2)) + Bytes.of(Int32(-3)) + [1, 0, 0, 0])
      $0.property(.userTime, Bytes.of(Int32(-1)) + Bytes.of(Int32(999_999)))
      $0.property(
        .uuid, [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff])
      $0.property(.threadName, "naïve \"x\"")
      $0.property(.codes, Bytes.of([1, 0x10]))
      $0.property(.annotationType, [0x04, 0x80])
    }
    let expected = [
      #"{"key":"kVersion","value":1}"#, #"{"key":"kPID","value":-7}"#, #"{"key":"kActive","value":4294967295}"#,
      #"{"key":"kAddressMask","value":"0xffffff8000000000"}"#, #"{"key":"kStackRegionAddress","value":"0x0"}"#,
      #"{"key":"kSize","value":18446744073709551615}"#, #"{"key":"kIsDaylightSavingTime","value":true}"#,
      #"{"key":"kHasDaylightSavingTime","value":false}"#,
      #"{"key":"kStartTime","value":{"seconds":-1,"microseconds":5}}"#,
      #"{"key":"kSnapshotTime","value":{"seconds":2,"microseconds":-3,"padding":1}}"#,
      #"{"key":"kUserTime","value":{"seconds":-1,"microseconds":999999}}"#,
      #"{"key":"kUUID","value":"00112233445566778899aabbccddeeff"}"#, #"{"key":"kThreadName","value":"naïve \"x\""}"#,
      #"{"key":"kCodes","value":["0x1","0x10"]}"#, #"{"key":"kAnnotationType","value":32772}"#,
    ]
    #expect(text == expected.joined(separator: ","))
  }

  @Test("A value that does not fit its shape is in hexadecimal digits")
  func hexadecimal() throws {
    let text = try records {
      $0.property(.pid, [1, 2, 0xfe])
      $0.property(.isDaylightSavingTime, [2])
      $0.property(.threadName, [0xff])
      $0.property(.codes, [1])
      $0.property(.threads, [0xab])
      $0.property(number: 9999, [0, 255])
      $0.property(number: 9999, [])
    }
    let expected = [
      #"{"key":"kPID","hex":"0102fe"}"#, #"{"key":"kIsDaylightSavingTime","hex":"02"}"#,
      #"{"key":"kThreadName","hex":"ff"}"#, #"{"key":"kCodes","hex":"01"}"#, #"{"key":"kThreads","hex":"ab"}"#,
      #"{"key":9999,"hex":"00ff"}"#, #"{"key":9999,"hex":""}"#,
    ]
    #expect(text == expected.joined(separator: ","))
  }

  @Test("Maps are arrays of records, arrays are arrays of those")
  func containers() throws {
    let text = try records {
      $0.map(.processInfo) { $0.property(.pid, int32: 1) }
      $0.array(.threads) { threads in
        threads.mapInArray { _ in }
        threads.mapInArray { $0.property(.suspendCount, int32: 2) }
      }
    }
    #expect(
      text == #"{"key":"kProcessInfo","map":[{"key":"kPID","value":1}]},"#
        + #"{"key":"kThreads","array":[[],[{"key":"kSuspendCount","value":2}]]}"#)
  }

  // MARK: Reading

  /// The root's content that a record in JSON gives.
  private func content(_ record: String) throws -> [UInt8] {
    let bytes = try dump(fromJSON: Array((Self.head + record + "]}").utf8))
    #expect(bytes.first == 6)
    #expect(bytes.last == 7)
    return Array(bytes.dropFirst().dropLast())
  }

  private func property(_ number: UInt16, _ value: [UInt8]) -> [UInt8] {
    var builder = DumpBuilder()
    builder.property(number: number, value)
    return builder.bytes
  }

  @Test("Numbers may be decimal or hexadecimal strings, a key its number, and times in either order")
  func lenient() throws {
    #expect(try content(#"{"key":"kPID","value":"0x10"}"#) == property(4002, [16, 0, 0, 0]))
    #expect(try content(#"{"key":4002,"value":4294967295}"#) == property(4002, [255, 255, 255, 255]))
    #expect(try content(#"{"key":"kPID","value":-2147483648}"#) == property(4002, [0, 0, 0, 128]))
    #expect(try content(#"{"key":"kAddressMask","value":255}"#) == property(5020, [255, 0, 0, 0, 0, 0, 0, 0]))
    #expect(try content(#"{"key":"kCodes","value":[1,"0xff",-1]}"#) == property(1001, Bytes.of([1, 255, .max])))
    #expect(
      try content(#"{"key":"kUserTime","value":{"microseconds":2,"seconds":1}}"#)
        == property(4008, [1, 0, 0, 0, 2, 0, 0, 0]))
    #expect(try content(#"{"key":"kPID","hex":"0A0b"}"#) == property(4002, [10, 11]))
    #expect(try content(#"{"key":"kStackRegionData","value":"text"}"#) == property(6006, Bytes.of("text")))
    #expect(try content(#"{"key":"kUUID","value":"00112233445566778899AABBCCDDEEFF"}"#).suffix(2) == [0xee, 0xff])
    #expect(try content(" \n\t\r").isEmpty)
  }

  @Test("The mark of an incomplete dump is read over")
  func incomplete() throws {
    let text = #"{"format":"crashpad-intermediate-dump","version":1,"incomplete":{"code":"x","offset":9},"root":[]}"#
    #expect(try dump(fromJSON: Array(text.utf8)) == [6, 7])
  }
}
