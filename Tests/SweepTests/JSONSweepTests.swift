// SPDX-License-Identifier: Apache-2.0
import DumpSynth
import IntermediateDump
import Testing

@Suite("Sweep: JSON")
struct JSONSweepTests {
  /// The JSON form of a dump with each shape of value.
  private static let text: [UInt8] = {
    var builder = DumpBuilder()
    builder.root { dump in
      dump.property(.version, [1])
      dump.map(.processInfo) {
        $0.property(.pid, int32: -7)
        $0.property(.startTime, Bytes.of([5, 6]))
        $0.map(.taskBasicInfo) { $0.property(.userTime, Bytes.of([7])) }
      }
      dump.property(.isDaylightSavingTime, [1])
      dump.array(.threads) { threads in
        threads.mapInArray { $0.property(.threadName, "a\"é\n") }
        threads.mapInArray {
          $0.property(.threadUncaughtNSExceptionFrames, Bytes.of([1, 0xff]))
          $0.property(.stackRegionAddress, uint64: 0x7000)
          $0.property(.stackRegionData, [0, 1, 2])
        }
      }
      dump.property(.uuid, Bytes.of([1, 2]))
      dump.property(number: 9999, [1])
    }
    return withBytes(builder.bytes) { (try? Pipeline.json(DumpTree(parsing: $0), $0)) ?? [] }
  }()

  @Test("The text is read, and no prefix of it but the last is")
  func prefixes() throws {
    // The last byte is a line feed, which nothing needs.
    for prefix in Damage.prefixes(of: Self.text) {
      do {
        let isDump = try Pipeline.check(json: prefix)
        if isDump != (prefix.count >= Self.text.count - 1) { Issue.record("prefix of \(prefix.count)") }
      } catch { Issue.record("prefix of \(prefix.count): \(error)") }
    }
  }

  @Test(
    "Every byte changed to each of some values goes through", arguments: Array("\"\\{},[:]0- x".utf8) + [0, 0x80, 0xff])
  func everyByte(_ value: UInt8) throws {
    for offset in Self.text.indices where Self.text[offset] != value {
      do { try Pipeline.check(json: Damage.replacing(Self.text, at: offset, with: value)) } catch {
        Issue.record("byte \(offset) as \(value): \(error)")
      }
    }
  }

  @Test("Changed texts go through", arguments: 0..<4)
  func mutations(_ part: Int) throws {
    var read = 0
    for round in 0..<Sweep.count / 4 {
      var random = SplitMix64(seed: Sweep.seed &+ UInt64(round), area: UInt64(100 + part))
      var text = Self.text
      for _ in 0..<max(1, random.between(-2, 3)) { text = Self.mutate(text, &random) }
      do { if try Pipeline.check(json: text) { read += 1 } } catch {
        Issue.record("CRASHPADCTL_SEED=\(Sweep.seed &+ UInt64(round)) CRASHPADCTL_SWEEP=4 (part \(part)): \(error)")
      }
    }
    print("sweep: \(Sweep.count / 4) texts, of which \(read) were read, CRASHPADCTL_SEED=\(Sweep.seed)")
  }

  /// Tokens of JSON put in, taken out or doubled, and bytes changed.
  private static func mutate(_ text: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    let tokens = [
      "{", "}", "[", "]", ",", ":", "\"", "\\", #""key":"kPID""#, #"{"key":9999,"hex":""}"#, #"{"key":8000,"map":[]}"#,
      #"{"key":"kThreads","array":[[]]}"#, "null", "true", "-1", "18446744073709551615", "1e9", "\"0x1\"", " ",
      "\\ud800", "\u{0}", "é",
    ]
    let place = random.below(text.count)
    let length = min(random.below(20), text.count - place)
    switch random.below(4) {
    case 0: return Damage.inserting(Array(tokens[random.below(tokens.count)].utf8), into: text, at: place)
    case 1: return Damage.replacing(text, place..<place + length, with: [])
    case 2: return Damage.inserting(Array(text[place..<place + length]), into: text, at: random.below(text.count))
    default: return Damage.flippingAnywhere(text, count: 1, using: &random)
    }
  }
}
