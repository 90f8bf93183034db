// SPDX-License-Identifier: Apache-2.0
/// The general registers of one thread, in the order of Darwin's 64-bit thread state.
///
/// arm64: x0–x28, fp, lr, sp, pc, cpsr (34 values, 272 bytes). x86_64: rax rbx rcx rdx rdi rsi rbp rsp r8–r15 rip
/// rflags cs fs gs (21 values, 168 bytes).
public struct SynthRegisters: Equatable, Sendable {
  public let architecture: SynthArchitecture
  public var values: [UInt64]

  public init(architecture: SynthArchitecture) {
    self.architecture = architecture
    values = [UInt64](repeating: 0, count: architecture == .arm64 ? 34 : 21)
  }

  public var pc: UInt64 {
    get { values[architecture == .arm64 ? 32 : 16] }
    set { values[architecture == .arm64 ? 32 : 16] = newValue }
  }

  public var sp: UInt64 {
    get { values[architecture == .arm64 ? 31 : 7] }
    set { values[architecture == .arm64 ? 31 : 7] = newValue }
  }

  public var fp: UInt64 {
    get { values[architecture == .arm64 ? 29 : 6] }
    set { values[architecture == .arm64 ? 29 : 6] = newValue }
  }

  /// The link register; x86_64 has none, it reads 0 there and cannot be set.
  public var lr: UInt64 {
    get { architecture == .arm64 ? values[30] : 0 }
    set { if architecture == .arm64 { values[30] = newValue } }
  }

  /// `arm_thread_state64_t` or `x86_thread_state64_t`. arm64's cpsr is 32 bits with 32 bits of padding behind.
  public var threadState: [UInt8] {
    Bytes.of(values)
  }

  /// The state with the header of its flavor in front, as a Mach exception delivers it: 280 or 176 bytes.
  public var unifiedState: [UInt8] {
    let header: (UInt32, UInt32) = architecture == .arm64 ? (6, 68) : (4, 42)
    return Bytes.of(header.0) + Bytes.of(header.1) + threadState
  }

  /// `ARM_THREAD_STATE` or `x86_THREAD_STATE`: what goes with `unifiedState`.
  public var unifiedFlavor: UInt32 {
    architecture == .arm64 ? 1 : 7
  }

  /// Indices of the registers around which the handler copies memory, in its order: arm64 pc, x0–x28; x86_64 all
  /// but rsp, rip last.
  static func captured(_ architecture: SynthArchitecture) -> [Int] {
    architecture == .arm64 ? [32] + Array(0...28) : Array(0...6) + Array(8...16)
  }
}

/// Float and debug state: sizes are what counts, contents are noise with plausible control words.
enum FloatState {
  static func bytes(_ architecture: SynthArchitecture, _ random: inout SplitMix64) -> [UInt8] {
    switch architecture {
    case .arm64:
      // v0–v31, fpsr, fpcr, and 8 bytes of padding without a defined value.
      return random.bytes(512) + Bytes.of(UInt32(0x10)) + Bytes.of(UInt32(0)) + random.bytes(8)
    case .x86_64:
      var image = random.bytes(512)
      image.overwrite(0x037f, width: 8, at: 0)
      image.overwrite(0, width: 8, at: 8)
      image.overwrite(0, width: 8, at: 16)
      image.overwrite(0xffff_0000_1f80, width: 8, at: 24)
      return [UInt8](repeating: 0, count: 8) + image + random.bytes(4)
    }
  }

  static func debugBytes(_ architecture: SynthArchitecture) -> [UInt8] {
    [UInt8](repeating: 0, count: architecture == .arm64 ? 520 : 64)
  }
}
