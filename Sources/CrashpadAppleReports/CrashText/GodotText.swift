// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads what the handler of Godot writes at a signal.
///
/// Source: Godot, platform/linuxbsd/crash_handler_linuxbsd.cpp.
enum GodotText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { signal($0) != nil }) else { return false }
    return lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    guard let head = lines.firstIndex(where: { signal($0) != nil }), let name = signal(lines[head]) else { return }
    stacks.beginThread(isCrashed: true)
    var last: UInt64 = 0
    var isOfMacOS = false
    for line in lines[(head + 1)...] {
      if line.first(of: "-- END OF ") != nil || signal(line) != nil { break }
      guard let found = frame(line) else { continue }
      guard let number = found.number, number > last else { break }
      stacks.addGap(before: number, after: last)
      last = number
      if found.isOfMacOS { isOfMacOS = true }
      stacks.add(found.frame, module: found.module)
    }
    stacks.builder.snapshot.system.operatingSystem = isOfMacOS ? .macos : .linux
    stacks.setSignal(name)
    stacks.leaveOutHandler(signal: name, hasRestorer: true)
  }

  /// "handle_crash: Program crashed with signal 11".
  private static func signal(_ line: TextBytes) -> String? {
    guard var rest = line.after("handle_crash: Program crashed with signal "), let number = rest.takeNumber() else {
      return nil
    }
    return SignalWords.name(ofNumber: number)
  }

  /// "[1] /lib/libc.so.6(+0x42520) [0x7f9d1b01d050] (??:0)", "[2] Node::_notification(int) (/src/node.cpp:123)", "[2] 2   libsystem_platform.dylib
  /// 0x00000001836a9a24 _sigtramp + 56".
  private static func frame(_ line: TextBytes) -> GlibcText.Frame? {
    let line = line.trimmed
    guard line.first == UInt8(ascii: "["), let close = line.first(of: "] "),
      let number = line[1 + line.startIndex..<close].decimal
    else { return nil }
    var rest = line[(close + 2)...].trimmed
    if let found = GlibcText.macFrame(rest, number) { return found }
    var source: (file: TextBytes, line: UInt32)?
    if rest.last == UInt8(ascii: ")"), let open = rest.last(of: " ("),
      let place = rest[(open + 2)...].dropLast().sourcePlace
    {
      if place.line > 0, !place.file.equals("??") { source = place }
      rest = rest[..<open]
    }
    var found = GlibcText.Frame(number: number, frame: RecordedFrame(address: 0))
    if rest.last == UInt8(ascii: "]"), let symbol = GlibcText.frame(rest) {
      (found.frame, found.module) = (symbol.frame, symbol.module)
    } else if !rest.isEmpty {
      found.frame.function = rest.string
    } else {
      return nil
    }
    if let source { (found.frame.file, found.frame.line) = (source.file.string, source.line) }
    return found
  }
}
