// SPDX-License-Identifier: Apache-2.0
import CrashpadBytes
import DumpInterpretation
import DumpSynth
import CrashpadSnapshot
import Testing

@Suite("DumpInterpreter: process and system")
struct ProcessAndSystemTests {
  private func system(_ part: @escaping SmallDump.Part) -> SystemSnapshot? {
    var dump = SmallDump()
    dump.system = part
    return Interpreted(dump.bytes).snapshot?.system
  }

  private func process(_ part: @escaping SmallDump.Part, _ options: DumpInterpreter.Options = .init()) -> Interpreted {
    var dump = SmallDump()
    dump.process = part
    return Interpreted(dump.bytes, options)
  }

  @Test("Daylight saving follows from two booleans, of which the first decides")
  func daylightSaving() {
    func value(_ has: [UInt8]?, _ observes: [UInt8]?) -> TimeZoneSnapshot.DaylightSaving? {
      system {
        if let has { $0.property(.hasDaylightSavingTime, has) }
        if let observes { $0.property(.isDaylightSavingTime, observes) }
      }?.timeZone.daylightSaving
    }
    #expect(value(nil, nil) == nil)
    #expect(value(nil, [1]) == nil)
    #expect(value([1, 0], [1]) == nil)
    #expect(value([0], [1]) == .doesNotObserve)
    #expect(value([0], nil) == .doesNotObserve)
    #expect(value([1], [0]) == .standardTime)
    #expect(value([1], [1]) == .daylightTime)
    #expect(value([1], nil) == .standardTime)
    #expect(value([2], [255]) == .daylightTime)
  }

  @Test("A value of another size counts as missing, and hides an earlier one")
  func sizes() {
    let system = system {
      $0.property(.cpuCount, int32: 6)
      $0.property(.cpuCount, [6])
      $0.property(.pageSize, uint32: 4096)
      $0.map(.osVersionMajor) { _ in }
      $0.property(.osVersionMinor, int32: 3)
      $0.property(.osVersionMinor, int32: -4)
      $0.property(.osVersionBuild, [])
      $0.property(.addressMask, uint64: 5)
      $0.array(.addressMask) { _ in }
    }
    #expect(system?.cpuCount == nil)
    #expect(system?.pageSize == nil)
    #expect(system?.osMajor == nil)
    #expect(system?.osMinor == -4)
    #expect(system?.osBuild?.count == 0)
    #expect(system?.machine == nil)
    #expect(system?.addressMask == nil)
    #expect(system?.memory == nil)
  }

  @Test("A vmStat without members is there, with nothing in it")
  func vmStat() {
    let memory = system {
      $0.map(.vmStat) {
        $0.property(.wired, uint32: 3)
        $0.property(.free, [1])
      }
    }?.memory
    #expect(memory == SystemMemory(active: nil, inactive: nil, wired: 3, free: nil))
  }

  @Test("Times of threads that ended and threads that live are added, one second carried")
  func times() {
    func user(_ basic: [UInt8]?, _ threads: [UInt8]?) -> Timestamp? {
      process {
        if let basic { $0.map(.taskBasicInfo) { $0.property(.userTime, basic) } }
        if let threads { $0.map(.taskThreadTimes) { $0.property(.userTime, threads) } }
      }.snapshot?.userTime
    }
    func time(_ seconds: Int32, _ microseconds: Int32) -> [UInt8] { Bytes.of(seconds) + Bytes.of(microseconds) }
    #expect(user(nil, nil) == nil)
    #expect(user([1, 2, 3], nil) == nil)
    #expect(user(time(1, 2), nil) == Timestamp(seconds: 1, microseconds: 2))
    #expect(user(nil, time(3, 4)) == Timestamp(seconds: 3, microseconds: 4))
    #expect(user(time(1, 600_000), time(2, 399_999)) == Timestamp(seconds: 3, microseconds: 999_999))
    #expect(user(time(1, 600_000), time(2, 400_000)) == Timestamp(seconds: 4, microseconds: 0))
    #expect(user(time(-5, 999_999), time(2, 999_999)) == Timestamp(seconds: -2, microseconds: 999_998))
    // Only one second, as the BSD macro does it.
    #expect(user(time(0, 2_000_000), time(0, 1)) == Timestamp(seconds: 1, microseconds: 1_000_001))
    #expect(user(time(.max, .max), time(.max, .max)) != nil)
    #expect(user(time(.min, .min), time(.min, .min)) != nil)
  }

  @Test("The padding of a time does not matter")
  func padding() {
    let result = process {
      $0.property(.startTime, Bytes.of(UInt64(bitPattern: -9)) + Bytes.of(Int32(-1)) + [9, 9, 9, 9])
    }
    #expect(result.snapshot?.startTime == Timestamp(seconds: -9, microseconds: -1))
    #expect(process { $0.property(.startTime, Bytes.of([1])) }.snapshot?.startTime == nil)
  }

  // MARK: Annotations

  private func simpleMap(_ entries: [(String?, String?)]) -> SmallDump.Part {
    { dump in
      dump.array(.annotationsSimpleMap) { array in
        for (name, value) in entries {
          array.mapInArray {
            if let name { $0.property(.annotationName, name) }
            if let value { $0.property(.annotationValue, value) }
          }
        }
      }
    }
  }

  @Test("Annotations are sorted by bytes, the first of a name wins, and one needs both name and value")
  func annotations() {
    let result = process(
      simpleMap([
        ("b", "1"), ("é", "2"), ("a", "3"), ("b", "4"), ("", "empty name"), ("z", ""), (nil, "x"), ("only a name", nil),
        ("B", "5"),
        ("ab", "6"), ("a\u{0}", "7"),
      ]))
    #expect(
      result.texts(result.snapshot?.annotations)
        == ["=empty name", "B=5", "a=3", "a\u{0}=7", "ab=6", "b=1", "crashpad_uptime_ns=0", "z=", "é=2"])
  }

  @Test("The caller's annotations win, and the uptime wins over all")
  func callerAnnotations() {
    var options = DumpInterpreter.Options()
    options.annotations = [
      ("prod", "caller"), ("crashpad_uptime_ns", "caller"), ("prod", "last"),
      ("crashpad_intermediate_dump_incomplete", "no"),
    ]
    let entries: SmallDump.Part = simpleMap([("prod", "dump"), ("crashpad_uptime_ns", "dump"), ("ver", "1")])
    let whole = process(entries, options)
    #expect(
      whole.texts(whole.snapshot?.annotations)
        == ["crashpad_intermediate_dump_incomplete=no", "crashpad_uptime_ns=0", "prod=last", "ver=1"])
    let broken = Interpreted(whole.bytes.dropLast(), options)
    #expect(broken.texts(broken.snapshot?.annotations)?.first == "crashpad_intermediate_dump_incomplete=yes")
  }

  @Test("Report and client id are the caller's")
  func identifiers() {
    var options = DumpInterpreter.Options()
    options.reportID = UUIDBytes(high: 1, low: 2)
    options.clientID = UUIDBytes(high: 3, low: 4)
    let snapshot = process({ _ in }, options).snapshot
    #expect(snapshot?.reportID == UUIDBytes(high: 1, low: 2))
    #expect(snapshot?.clientID == UUIDBytes(high: 3, low: 4))
  }

  @Test("A later simple map replaces the earlier one")
  func laterMap() {
    let result = process {
      simpleMap([("a", "1")])(&$0)
      simpleMap([("b", "2")])(&$0)
    }
    #expect(result.texts(result.snapshot?.annotations) == ["b=2", "crashpad_uptime_ns=0"])
  }
}
