// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CrashpadClient

@Suite("Hangs")
struct HangStateTests {
  private func look(_ state: inout HangState, _ answered: Bool, _ counted: UInt64) -> HangState.Step? {
    state.look(answered: answered, counted: counted, first: 20, second: 100)
  }

  @Test("A thread that answers is left alone")
  func answers() {
    var state = HangState()
    for _ in 0..<100 { #expect(look(&state, true, 50) == nil) }
  }

  @Test("A hang is dumped at the first threshold, and its dump goes when it ends")
  func short() {
    var state = HangState()
    #expect(look(&state, false, 19) == nil)
    #expect(look(&state, false, 1) == .dump)
    #expect(look(&state, false, 79) == nil)
    #expect(look(&state, true, 10) == .end(after: 99, wasKept: false))
    #expect(look(&state, true, 10) == nil)
  }

  @Test("A hang that passes the second threshold keeps its dump, once")
  func long() {
    var state = HangState()
    #expect(look(&state, false, 30) == .dump)
    #expect(look(&state, false, 70) == .keep)
    #expect(look(&state, false, 1000) == nil)
    #expect(look(&state, true, 1) == .end(after: 1100, wasKept: true))
    #expect(look(&state, false, 30) == .dump)
  }

  @Test("Answers in between begin the count anew")
  func between() {
    var state = HangState()
    for _ in 0..<10 {
      #expect(look(&state, false, 19) == nil)
      #expect(look(&state, true, 1) == nil)
    }
  }

  @Test("Time in which the monitor did not run does not count")
  func suspension() {
    var clock = HangClock(interval: 10)
    #expect(clock.tick(1000) == (0, 0))
    #expect(clock.tick(1011) == (11, 0))
    #expect(clock.tick(1031) == (20, 0))
    #expect(clock.tick(2031) == (20, 980))
    #expect(clock.tick(2041) == (10, 0))
    // A clock that does not go on.
    #expect(clock.tick(2041) == (0, 0))
    #expect(clock.tick(2000) == (0, 0))
  }

  @Test("A ping is not repeated before it is answered")
  func pings() {
    final class Pings: Sendable {
      nonisolated(unsafe) var answers: [@Sendable () -> Void] = []
    }
    let pings = Pings()
    let watch = HangWatch(name: "test", countsFromStart: false) { unsafe pings.answers.append($0) }
    #expect(watch.look())
    #expect(!watch.hasAnswered)
    #expect(!watch.look())
    #expect(!watch.look())
    #expect(unsafe pings.answers.count == 1)
    unsafe pings.answers[0]()
    #expect(watch.hasAnswered)
    #expect(watch.look())
    #expect(unsafe pings.answers.count == 2)
    // A late second answer to the first ping is none to the second.
    unsafe pings.answers[0]()
    #expect(!watch.look())
  }

  @Test("A loop hangs while it works on one thing, not while it waits")
  func loops() {
    let loop = WatchedLoop(watch: HangWatch(name: "loop", countsFromStart: true, ping: nil))
    #expect(loop.watch.look())
    #expect(loop.watch.look())
    loop.begin()
    #expect(loop.watch.look())
    #expect(!loop.watch.look())
    loop.begin()
    #expect(loop.watch.look())
    #expect(!loop.watch.look())
    loop.end()
    #expect(loop.watch.look())
    #expect(loop.watch.look())
    loop.end()
    #expect(loop.watch.look())
  }
}
