// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads the stacks that Envoy writes at a signal.
///
/// Source: Envoy, source/server/backtrace.h.
enum EnvoyText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { end($0) != nil }) else { return false }
    return lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var found: SignalWords.End?
    var last: UInt64?
    for line in lines {
      if let end = end(line) {
        if found != nil { break }
        found = end
      } else if found != nil, let (number, frame) = frame(line) {
        if let last, number <= last { break }
        if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
        stacks.addGap(before: number, after: last ?? (number == 1 ? 0 : nil))
        last = number
        stacks.add(frame)
      }
    }
    stacks.builder.snapshot.system.operatingSystem = .linux
    if let found { stacks.setSignal(found.name, address: found.address) }
    // The first frame is where the kernel calls the handler.
    let frames = stacks.threads.last?.frames ?? []
    if frames.count > 1, stacks.threads.last?.elided.isEmpty == true,
      frames[0].function.map(HandlerFrames.isRestorer) ?? true
    {
      stacks.leaveOutHandler(1, of: 0)
    }
  }

  /// "Caught Segmentation fault, suspect faulting address 0x0".
  private static func end(_ line: TextBytes) -> SignalWords.End? {
    guard let words = line.after("Caught "), let name = SignalWords.name(words),
      let place = words.after("suspect faulting address ")
    else { return nil }
    // The address of a signal that was sent is its sender.
    return SignalWords.End(name: name, address: name == "SIGABRT" ? nil : place.leadingHexadecimal)
  }

  /// "#1: Envoy::Router::ConfigImpl::route() [0xb78bd5]", "#0: [0x7fc5b6b6d4b0]", "#0 0x4b47a5", "#1 Envoy::turn(bool) at gear.cc:262".
  private static func frame(_ line: TextBytes) -> (number: UInt64, frame: RecordedFrame)? {
    guard let sign = line.first(of: "#") else { return nil }
    var rest = line[(sign + 1)...]
    guard let number = rest.takeNumber(), number < 4096 else { return nil }
    if rest.first == UInt8(ascii: ":") { rest = rest.dropFirst() }
    rest = rest.trimmed
    var frame = RecordedFrame(address: 0)
    if rest.last == UInt8(ascii: "]"), let open = rest.last(of: "[0x") {
      guard let address = rest[(open + 1)...].dropLast().number else { return nil }
      frame.address = address
      let name = rest[..<open].trimmed
      if !name.isEmpty { frame.function = name.string }
    } else if rest.has(prefix: "0x"), let address = rest.address {
      frame.address = address
    } else if let mark = rest.last(of: " at "),
      let place = rest[(mark + 4)...].prefix(while: { $0 != 0x20 }).sourcePlace
    {
      frame.function = rest[..<mark].string
      (frame.file, frame.line) = (place.file.string, place.line)
    } else {
      return nil
    }
    return (number, frame)
  }
}
