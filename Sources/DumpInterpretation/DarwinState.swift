// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// The sizes and flavors of one architecture's thread states.
///
/// Source: XNU, `osfmk/mach/{arm,i386}/thread_status.h`.
struct DarwinStateLayout {
  let threadSize: Int
  let floatSize: Int
  let debugSize: Int

  enum Part { case thread, float, debug }

  static let arm64 = DarwinStateLayout(threadSize: 272, floatSize: 528, debugSize: 520)
  static let x86_64 = DarwinStateLayout(threadSize: 168, floatSize: 524, debugSize: 64)

  static func of(_ architecture: CPUArchitecture) -> DarwinStateLayout { architecture == .x86_64 ? .x86_64 : .arm64 }

  func size(of part: Part) -> Int {
    switch part {
    case .thread: threadSize
    case .float: floatSize
    case .debug: debugSize
    }
  }

  /// The part of the state that kState contains for a flavor, and whether a header of flavor and count precedes it.
  static func part(ofFlavor flavor: UInt32, _ architecture: CPUArchitecture) -> (part: Part, isUnified: Bool)? {
    switch (architecture, flavor) {
    case (.arm64, 1): (.thread, true)  // ARM_UNIFIED_THREAD_STATE
    case (.arm64, 6): (.thread, false)  // ARM_THREAD_STATE64
    case (.arm64, 15): (.debug, false)  // ARM_DEBUG_STATE64
    case (.arm64, 17): (.float, false)  // ARM_NEON_STATE64
    case (.x86_64, 4): (.thread, false)  // x86_THREAD_STATE64
    case (.x86_64, 5): (.float, false)  // x86_FLOAT_STATE64
    case (.x86_64, 7): (.thread, true)  // x86_THREAD_STATE
    case (.x86_64, 8): (.float, true)  // x86_FLOAT_STATE
    case (.x86_64, 11): (.debug, false)  // x86_DEBUG_STATE64
    case (.x86_64, 12): (.debug, true)  // x86_DEBUG_STATE
    default: nil
    }
  }

  /// The flavor of a part's plain 64-bit state, which the header of a unified state must contain.
  static func plainFlavor(of part: Part, _ architecture: CPUArchitecture) -> UInt32 {
    switch (architecture, part) {
    case (.x86_64, .thread): 4
    case (.x86_64, .float): 5
    case (.x86_64, .debug): 11
    case (_, .thread): 6
    case (_, .float): 17
    case (_, .debug): 15
    }
  }
}

/// The ranges of the three parts of a thread's state; the registers of missing parts are zero.
struct DarwinState {
  var thread: ByteRange?
  var float: ByteRange?
  var debug: ByteRange?
}

extension CPUContext {
  init(_ architecture: CPUArchitecture, _ state: DarwinState, _ bytes: RawSpan) {
    self = architecture == .x86_64 ? .x86_64(X86_64Context()) : .arm64(ARM64Context())
    if let range = state.thread { load(.thread, at: range.offset, bytes) }
    if let range = state.float { load(.float, at: range.offset, bytes) }
    if let range = state.debug { load(.debug, at: range.offset, bytes) }
  }

  /// Replaces the registers of one part. `image` returns the content of the floating-point registers' 512 bytes at an
  /// offset of `bytes`.
  mutating func load(
    _ part: DarwinStateLayout.Part, at offset: Int, _ bytes: RawSpan,
    image: (Int) -> SnapshotBytes = { SnapshotBytes(inputOffset: $0, count: 512) }
  ) {
    switch self {
    case .arm64(var context):
      context.load(part, at: offset, bytes, image)
      self = .arm64(context)
    case .x86_64(var context):
      context.load(part, at: offset, bytes, image)
      self = .x86_64(context)
    case .named: break
    }
  }
}

extension ARM64Context {
  fileprivate mutating func load(
    _ part: DarwinStateLayout.Part, at offset: Int, _ bytes: RawSpan, _ image: (Int) -> SnapshotBytes
  ) {
    switch part {
    case .thread:
      for register in 0..<29 { x[register] = bytes.uint64(at: offset + register * 8) }
      fp = bytes.uint64(at: offset + 232)
      lr = bytes.uint64(at: offset + 240)
      sp = bytes.uint64(at: offset + 248)
      pc = bytes.uint64(at: offset + 256)
      cpsr = bytes.uint32(at: offset + 264)
    case .float:
      vectors = image(offset)
      fpsr = bytes.uint32(at: offset + 512)
      fpcr = bytes.uint32(at: offset + 516)
    case .debug: break
    }
  }
}

extension X86_64Context {
  fileprivate mutating func load(
    _ part: DarwinStateLayout.Part, at offset: Int, _ bytes: RawSpan, _ image: (Int) -> SnapshotBytes
  ) {
    func word(_ index: Int) -> UInt64 { bytes.uint64(at: offset + index * 8) }
    switch part {
    case .thread:
      rax = word(0)
      rbx = word(1)
      rcx = word(2)
      rdx = word(3)
      rdi = word(4)
      rsi = word(5)
      rbp = word(6)
      rsp = word(7)
      for register in 0..<8 { r[register] = word(8 + register) }
      rip = word(16)
      rflags = word(17)
      cs = word(18)
      fs = word(19)
      gs = word(20)
    // Eight reserved bytes precede the FXSAVE image.
    case .float: fxsave = image(offset + 8)
    case .debug:
      for register in 0..<8 { dr[register] = word(register) }
    }
  }
}
