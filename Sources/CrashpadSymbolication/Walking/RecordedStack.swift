// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSnapshot

/// The stack of a thread whose frames are listed in the input, with the listed names unless symbols provide more.
struct RecordedStack {
  let frames: [Symbolization.Frame]

  /// Inlined calls precede the frame into which they were inlined. `demangled` returns nil for a name that is not mangled.
  init(
    _ recorded: [RecordedFrame], demangled: (String) -> String?,
    _ name: (_ module: Int, _ offset: UInt64) -> SymbolizedAddress?
  ) {
    var frames: [Symbolization.Frame] = []
    var group: [RecordedFrame] = []
    for (index, frame) in recorded.enumerated() {
      group.append(frame)
      if frame.isInlined, index + 1 < recorded.count { continue }
      frames.append(Self.frame(group, isCaller: !frames.isEmpty, demangled, name))
      group = []
    }
    self.frames = frames
  }

  private static func frame(
    _ group: [RecordedFrame], isCaller: Bool, _ demangled: (String) -> String?,
    _ name: (_ module: Int, _ offset: UInt64) -> SymbolizedAddress?
  ) -> Symbolization.Frame {
    let last = group[group.count - 1]
    let frame = StackFrame(
      instruction: last.address, isCaller: isCaller, trust: .prewalked, stackPointer: nil, module: last.module,
      moduleOffset: last.moduleOffset)
    let listed = symbol(group, demangled)
    let found = last.module.flatMap { module in frame.lookupOffset.flatMap { name(module, $0) } }
    guard let found, found.frames.last?.function != nil else {
      return Symbolization.Frame(frame: frame, symbol: listed ?? found)
    }
    // Prefer a listed name with a line to a symbol without one.
    let listsMore = found.frames.last?.location == nil && listed?.frames.last?.location != nil
    return Symbolization.Frame(frame: frame, symbol: listsMore ? listed : found)
  }

  /// Nil if the input has no names for these frames.
  private static func symbol(_ group: [RecordedFrame], _ demangled: (String) -> String?) -> SymbolizedAddress? {
    let last = group[group.count - 1]
    guard last.function != nil || last.file != nil else { return nil }
    let functions = group.map { frame in
      var function = SymbolizedAddress.Frame(
        function: frame.function,
        location: frame.file.map { SourceLocation(file: $0, line: UInt64(frame.line ?? 0), column: 0) })
      function.name = frame.function.map { demangled($0) ?? $0 }
      return function
    }
    let offset = last.moduleOffset ?? last.address
    return SymbolizedAddress(
      frames: functions, functionAddress: offset &- min(offset, last.functionOffset ?? 0), isNearest: false)
  }
}
