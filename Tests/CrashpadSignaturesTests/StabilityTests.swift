// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CrashpadSignatures

/// Differences between runs, or between ways of symbolication, do not change a signature.
@Suite("Stability of signatures")
struct StabilityTests {
  private func expectSame(_ what: String, _ change: (Capture) -> Signature) {
    var changed = 0
    for (capture, signature) in zip(Capture.all, QualityTests.signatures) {
      let other = change(capture)
      if other.id != signature.id || other.raw != signature.raw || other.text != signature.text {
        changed += 1
        if changed <= 3 { Issue.record("\(what): \(capture): \(signature.text), then \(other.text)") }
      }
    }
    #expect(changed == 0, "\(what): \(changed) of \(Capture.all.count) signatures are others")
  }

  @Test func `Modules and stacks at other addresses`() {
    expectSame("moved") { $0.signature(slide: 0x1234_5000) }
  }

  @Test func `Without inlined calls`() {
    expectSame("folded") { capture in
      var capture = capture
      for thread in capture.threads.indices {
        for frame in capture.threads[thread].indices { capture.threads[thread][frame].inlined = [] }
      }
      for frame in capture.lastException.indices { capture.lastException[frame].inlined = [] }
      return capture.signature()
    }
  }

  @Test func `Other threads before and behind`() {
    expectSame("threads") { capture in
      // The first thread of a hang is the main thread, and has to stay the first.
      if capture.isApple { return capture.signature() }
      var capture = capture
      capture.threads.reverse()
      capture.crashed = capture.threads.count - 1 - capture.crashed
      capture.threads.insert([Capture.Frame(module: nil, offset: 0x1234, function: "other")], at: 0)
      capture.crashed += 1
      for index in capture.threads.indices where index != capture.crashed { capture.threads[index].reverse() }
      return capture.signature()
    }
  }

  @Test func `Names with what optimizers put behind them`() {
    expectSame("cold") { capture in
      var capture = capture
      for frame in capture.threads[capture.crashed].indices {
        // The suffixes of clones stand behind names that are mangled, or C's.
        if let name = capture.threads[capture.crashed][frame].function, name.hasPrefix("_Z") || name.hasPrefix("$s") {
          capture.threads[capture.crashed][frame].function = name + ".cold"
        }
      }
      return capture.signature()
    }
  }

  @Test func `No signature has an address, a number of a process or a user in it`() {
    for (capture, signature) in zip(Capture.all, QualityTests.signatures) {
      for text in [signature.text, signature.raw] {
        #expect(text.utf8.count <= 200)
        for path in ["/srv", "/usr", "/lib", "/private", "/System"] { #expect(!text.contains(path), "\(text)") }
        let numbers = text.split(separator: "0x").dropFirst().map { $0.prefix(while: \.isHexDigit) }
        #expect(numbers.allSatisfy { $0.count <= 8 }, "\(capture): \(text)")
      }
      #expect(signature.id.count == 16 && signature.id.allSatisfy(\.isHexDigit))
    }
  }
}
