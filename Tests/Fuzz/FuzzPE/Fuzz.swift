// SPDX-License-Identifier: Apache-2.0
import CrashpadSymbolication
import FuzzSupport

/// A program or library of Windows: its names, and the unwinding of frames in it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  unsafe withFile(data, size) { path in
    let offsets = stride(from: UInt64(0x1000), to: 0x1400, by: 13)
    ask(path, Array(offsets.prefix(32)))
    guard let file = try? SymbolFiles.open(path) else { return }
    for offset in offsets {
      var registers = FrameRegisters(.x86_64)
      for number in 0..<17 { registers[number] = 0x7000 &+ UInt64(number) &* 8 }
      for isInnermost in [true, false] {
        _ = file.caller(of: registers, at: offset, isInnermost: isInnermost) { $0 &* 3 }
      }
      _ = (file.code(at: offset), file.code(around: offset, before: 16, after: 16)?.before)
    }
  }
  return 0
}
