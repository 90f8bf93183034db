// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// Programs with symbols, and without.
extension Samples {
  private static func program(_ change: (inout SynthElf) -> Void = { _ in }) -> [UInt8] {
    var elf = SynthElf()
    change(&elf)
    return elf.bytes
  }

  static let programs: [String: [UInt8]] = [
    "app": program(),
    "no-build-id": program {
      $0.buildID = nil
      $0.hasDebugInfo = false
    },
    "object.o": program { $0.type = 1 },
    "stripped": program {
      ($0.hasDebugInfo, $0.hasSymbols, $0.hasFrames) = (false, false, false)
      $0.debugLink = ("stripped.debug", 0x1234_5678)
    },
    "bare": program { ($0.hasDebugInfo, $0.hasSymbols, $0.hasFrames, $0.buildID) = (false, false, false, nil) },
    "stripped.debug": program { ($0.hasCode, $0.hasFrames) = (false, false) },
    "other-build": program { $0.buildID = [1, 2, 3, 4] },
    "damaged.sym": Array(
      """
      MODULE Linux x86_64 A3A2A1A0A5A4A7A6A8A9AAABACADAEAF0 app
      FILE 0 /src/app.cc
      FUNC 1000 40 0 main
      1000 40 10 0
      FUNC here 10 0 broken
      PUBLIC 2000 0 end

      """.utf8),
    "builds/bin/app": program(),
    "builds/bin/copy/app": program(),
    "builds/bin/notes.txt": Array("Not a program.\n".utf8),
    "builds/.debug/app.debug": program { ($0.hasCode, $0.hasFrames) = (false, false) },
    "builds/app.sym": Array("MODULE Linux x86_64 A3A2A1A0A5A4A7A6A8A9AAABACADAEAF0 app\nPUBLIC 2000 0 end\n".utf8),
  ]
}
