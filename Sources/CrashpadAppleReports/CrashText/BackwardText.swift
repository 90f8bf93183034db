// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads the stacks that the library backward-cpp writes at a signal: the outermost frame first.
///
/// Source: backward-cpp, backward.hpp, `Printer`.
enum BackwardText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: isTitle) else { return false }
    return lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    guard let head = lines.firstIndex(where: isTitle) else { return }
    let thread = lines[head].after("in thread ").flatMap { rest -> UInt64? in
      var rest = rest
      return rest.takeNumber()
    }
    var frames: [(number: UInt64, frame: RecordedFrame, module: TextBytes?)] = []
    var end: SignalWords.End?
    for line in lines[(head + 1)...] {
      if isTitle(line) { break }
      if var found = frame(line), let number = found.number ?? frames.last?.number {
        guard frames.last.map({ number <= $0.number }) ?? true else { break }
        // A call that was inlined stands below its caller, and has the number of that.
        found.frame.isInlined = frames.last?.number == number
        frames.append((number, found.frame, found.module))
      } else if !frames.isEmpty, let found = SignalWords.end(withoutProgram(line)) {
        end = found
        break
      }
    }
    stacks.beginThread(id: thread, isCrashed: end != nil)
    var last: UInt64?
    for (number, frame, module) in frames.reversed() {
      stacks.addGap(before: number, after: number == last ? number &- 1 : last)
      last = number
      // No code is there: the walk went on too far.
      if frame.address != UInt64.max { stacks.add(frame, module: module) }
    }
    stacks.builder.snapshot.system.operatingSystem = .linux
    if let end { stacks.setSignal(end.name, code: end.code, address: end.address) }
    // The library's own frames, if it could not begin at the fault.
    let isOwn = { (frame: RecordedFrame) in frame.file?.hasSuffix("/backward.hpp") == true }
    let own = (stacks.threads[0].frames ?? []).prefix(while: isOwn).count
    if own > 0 { stacks.leaveOutHandler(own, of: 0) }
  }

  /// The line without the name of a program in brackets before it.
  private static func withoutProgram(_ line: TextBytes) -> TextBytes {
    guard line.first == UInt8(ascii: "["), let close = line.first(of: "] ") else { return line }
    return line[(close + 2)...]
  }

  private static func isTitle(_ line: TextBytes) -> Bool {
    line.first(of: "Stack trace (most recent call last)") != nil
  }

  /// `#7    Object "/usr/lib/libevent-2.1.so.7", at 0x7f4e70fe687e, in event_base_loop`, `#2    Source "/src/gear.cc", line 12, in
  /// turn() [0x55bfb82043b9]`, `#2  | Source "/src/gear.cc", line 12, in turn()` with the call that was inlined on the next line.
  /// Consoles of several programs write a name before them.
  private static func frame(_ line: TextBytes) -> (number: UInt64?, frame: RecordedFrame, module: TextBytes?)? {
    var rest = line
    var number: UInt64?
    if let mark = line.prefix(64).firstIndex(of: UInt8(ascii: "#")) {
      rest = line[(mark + 1)...]
      number = rest.takeNumber()
      if number == nil { return nil }
    }
    rest = rest.drop { TextBytes.isBlank($0) || $0 == UInt8(ascii: "|") }
    if rest.has(prefix: "Object \""), let path = rest.between("\"", "\", at 0x") {
      rest = rest[(path.endIndex + "\", at ".utf8.count)...]
      var frame = RecordedFrame(address: rest.leadingHexadecimal ?? 0)
      if let name = rest.after(", in ")?.trimmed, !name.isEmpty { frame.function = name.string }
      return (number, frame, path.first == UInt8(ascii: "[") ? nil : path)
    }
    guard rest.has(prefix: "Source \""), let file = rest.between("\"", "\", line "),
      var place = rest.after("\", line "),
      let line = place.takeNumber()
    else { return nil }
    var frame = RecordedFrame(address: 0)
    (frame.file, frame.line) = (file.string, UInt32(exactly: line))
    guard var name = place.after(", in ")?.trimmed else { return nil }
    if name.last == UInt8(ascii: "]"), let open = name.last(of: "[0x") {
      frame.address = name[(open + 1)...].dropLast().number ?? 0
      name = name[..<open].trimmed
    }
    if !name.isEmpty { frame.function = name.string }
    return (number, frame, nil)
  }
}
