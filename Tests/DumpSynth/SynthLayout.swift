// SPDX-License-Identifier: Apache-2.0
/// The places in the address space of the process: the usual ones of iOS (arm64) and its simulator (x86_64).
struct SynthLayout {
  let heapBase: UInt64
  private let stackBase: UInt64
  private let stackSpacing: UInt64

  init(_ parameters: SynthParameters) {
    let pages = (UInt64(max(0, parameters.stackBytes)) + 0x3fff) / 0x4000
    stackSpacing = (pages + 3) * 0x4000
    let total = stackSpacing * UInt64(max(0, parameters.threadCount))
    switch parameters.architecture {
    case .arm64:
      heapBase = 0x2_8000_0000
      // Between the program and the shared cache, if all stacks fit there.
      stackBase = total < 0x2000_0000 ? 0x1_6b00_0000 : 0x20_0000_0000
    case .x86_64:
      heapBase = 0x6000_0000_0000
      stackBase = 0x7000_0000_0000
    }
  }

  /// The lowest address of the stack memory that the dump holds, 256 bytes below the stack pointer.
  func stackAddress(_ thread: Int) -> UInt64 {
    stackBase + 0x7000 + UInt64(thread) * stackSpacing
  }
}
