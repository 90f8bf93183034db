// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CrashpadSignatures

/// Differences between runs, or between ways of symbolication, do not change a signature.
@Suite("Stability of signatures")
struct StabilityTests {
  private func expectSame(
    _ what: String, _ known: [Signature] = QualityTests.signatures, _ change: (Capture) -> Signature
  ) {
    var changed = 0
    for (capture, signature) in zip(Capture.all, known) {
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

  @Test func `Version 1 does not depend on inlined calls`() {
    let first = Capture.all.map { $0.signature(.first) }
    expectSame("folded", first) { $0.folded.signature(.first) }
  }

  @Test func `Without inlined calls the raw signature is the same`() {
    for (capture, signature) in zip(Capture.all, QualityTests.signatures) {
      #expect(capture.folded.signature().raw == signature.raw, "\(capture)")
    }
  }

  @Test func `Version 1 of the rules stays as trackers have its ids`() {
    let lines = Capture.all.map { capture in
      let signature = capture.signature(.first)
      return "\(capture.fault)\t\(capture.build)\t\(signature.id)\t\(signature.raw)\n"
    }
    #expect(SignatureDigest.text(lines.joined()) == "46a271eba6284f30")
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
