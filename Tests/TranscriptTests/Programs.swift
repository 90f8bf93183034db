// SPDX-License-Identifier: Apache-2.0
import DumpSynth

/// Programs with symbols, and without.
extension Samples {
  private static func program(_ change: (inout SynthElf) -> Void = { _ in }) -> [UInt8] {
    var elf = SynthElf()
    change(&elf)
    return elf.bytes
  }

  private static let system = SynthSharedCache(.named, images: 3, functions: 6, seed: 3)

  private static func cache(_ place: String, except missing: [String] = []) -> [(String, [UInt8])] {
    system.files.filter { !missing.contains($0.suffix) }.map {
      (place + "/dyld_shared_cache_arm64e" + $0.suffix, $0.bytes)
    }
  }

  /// A report with a frame in each function of two libraries of the system, of which it has no names.
  private static var systemReport: [UInt8] {
    var report = SynthReport()
    let libraries = system.images.prefix(2)
    report.images += libraries.map { image in
      SynthReport.Image(
        name: String(image.path.dropFirst(9)), path: image.path, base: image.address + 0x1234_0000, size: 0x1000,
        uuid: Hex.uuid(image.uuid))
    }
    report.threads[0].frames = libraries.enumerated().flatMap { index, image in
      image.functions.map { SynthReport.Frame(4 + index, $0.address - image.address + 4) }
    }
    return report.bytes
  }

  static let sharedCaches = Dictionary(
    uniqueKeysWithValues: cache("system") + cache("incomplete", except: [".01", ".symbols"])
      + [("system.ips", systemReport)])

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
