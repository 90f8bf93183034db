// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadFiles

extension BreakpadFile {
  package func frameRules(at address: UInt64, _ architecture: FrameRegisters.Architecture) -> FrameRules? {
    guard let entry = frameRules.entry(containing: address) else { return nil }
    return file.withBytes { bytes in
      var rules = FrameRules()
      var line = TextLineReader(at: entry.offset, in: bytes)
      _ = line.skip("STACK CFI INIT ", in: bytes)
      rules.start = line.hexadecimal(in: bytes)
      _ = line.hexadecimal(in: bytes)
      guard rules.add(line.rest, architecture, bytes) else { return nil }
      // The changes that follow, up to the address.
      var offset = bytes.lineEnd(from: entry.offset) + 1
      while offset < bytes.byteCount {
        var line = TextLineReader(at: offset, in: bytes)
        offset = bytes.lineEnd(from: offset) + 1
        guard line.skip("STACK CFI ", in: bytes), let start = line.hexadecimal(in: bytes), start <= address,
          rules.add(line.rest, architecture, bytes)
        else { break }
      }
      rules.isSignalFrame = rules.restoreEverything(architecture)
      return rules
    }
  }
}
