// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadDatabase

@Suite("LockContent, LockState and LockExpiry")
struct LockContentTests {
  private let mark = ScratchDatabase.mark

  @Test("Eight bytes are the time; the mark behind them is ours")
  func bytes() {
    #expect(LockContent(time: 0x0102_0304_0506_0708, isMarked: false).bytes == [8, 7, 6, 5, 4, 3, 2, 1])
    #expect(LockContent(time: -2, isMarked: true).bytes == [0xfe, 255, 255, 255, 255, 255, 255, 255] + mark)
    #expect(LockContent([8, 7, 6, 5, 4, 3, 2, 1])?.time == 0x0102_0304_0506_0708)
    #expect(LockContent([8, 7, 6, 5, 4, 3, 2, 1])?.isMarked == false)
  }

  @Test("Fewer than eight bytes say nothing, a part of the mark is none, and what is behind it does not matter")
  func lengths() {
    let whole = ScratchDatabase.markedLock()
    for count in 0..<8 { #expect(LockContent(Array(whole.prefix(count))) == nil) }
    for count in 8..<20 { #expect(LockContent(Array(whole.prefix(count)))?.isMarked == false, "\(count)") }
    #expect(LockContent(whole)?.isMarked == true)
    #expect(LockContent(whole)?.time == 1_600_000_000)
    #expect(LockContent(whole + [1, 2])?.isMarked == true)
    for index in 8..<20 {
      var wrong = whole
      wrong[index] ^= 0x20
      #expect(LockContent(wrong)?.isMarked == false)
    }
  }

  @Test("The rule, in all cases")
  func states() {
    let marked = LockContent(time: 5, isMarked: true)
    let unmarked = LockContent(time: 5, isMarked: false)
    let cases: [(LockContent?, Bool?, LockState)] = [
      (marked, true, .held(since: 5)), (unmarked, true, .held(since: 5)), (nil, true, .held(since: nil)),
      (marked, false, .abandoned), (unmarked, false, .unknown(since: 5)), (nil, false, .unknown(since: 9)),
      (marked, nil, .unknown(since: 5)), (unmarked, nil, .unknown(since: 5)), (nil, nil, .unknown(since: 9)),
    ]
    for (content, isOwned, expected) in cases {
      #expect(LockState.of(content: content, modified: 9, isOwned: isOwned) == expected)
    }
  }

  @Test("A lock expires after three days, at the very second")
  func expiry() {
    let since: Int64 = 1_700_000_000
    #expect(!LockExpiry.isExpired(since: since, now: since + 259_199))
    #expect(LockExpiry.isExpired(since: since, now: since + 259_200))
    #expect(LockExpiry.isExpired(since: since, now: since + 259_201))
    #expect(!LockExpiry.isExpired(since: since, now: since))
    #expect(!LockExpiry.isExpired(since: since, now: 0))
    #expect(LockExpiry.isExpired(since: since, now: since, timeToLive: 0))
    #expect(!LockExpiry.isExpired(since: since, now: since - 1, timeToLive: 0))
    #expect(!LockExpiry.isExpired(since: since, now: since + 9, timeToLive: 10))
    #expect(LockExpiry.isExpired(since: since, now: since + 10, timeToLive: 10))
  }

  @Test("A lock of a time that is three days ahead counts no more, as one that is three days old")
  func otherClock() {
    let now: Int64 = 1_700_000_000
    for (age, isOver) in [(259_199, false), (259_200, true), (-259_199, false), (-259_200, true)] as [(Int64, Bool)] {
      #expect(LockExpiry.isOver(since: now - age, now: now) == isOver, "\(age)")
    }
    #expect(LockExpiry.isOver(since: .max, now: 0) && LockExpiry.isOver(since: .min, now: 0))
  }

  @Test("The ends of time make no trouble")
  func extremes() {
    #expect(!LockExpiry.isExpired(since: .max, now: .max))
    #expect(!LockExpiry.isExpired(since: .max - 259_199, now: .max))
    #expect(LockExpiry.isExpired(since: .max - 259_200, now: .max))
    #expect(LockExpiry.isExpired(since: .min, now: 0))
    #expect(!LockExpiry.isExpired(since: .min, now: .min))
    #expect(LockExpiry.isExpired(since: .min, now: .min, timeToLive: 0))
    #expect(!LockExpiry.isExpired(since: 0, now: .min))
    #expect(LockExpiry.isExpired(since: 0, now: .max, timeToLive: .max))
    #expect(!LockExpiry.isExpired(since: 1, now: .max, timeToLive: .max))
  }
}
