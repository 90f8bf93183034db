// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads what the virtual machine of Dart writes at a crash.
///
/// Source: the Dart SDK, runtime/vm/stack_trace.cc and runtime/platform/signal_blocker.h.
enum DartText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: isTitle) else { return false }
    return lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    guard let head = lines.firstIndex(where: isTitle) else { return }
    var system = OperatingSystem.unknown
    for line in lines[(head + 1)...] {
      if isTitle(line) || line.first(of: "-- End of DumpStackTrace") != nil { break }
      if let signal = line.after("si_signo=") {
        readSignal(signal, &stacks)
      } else if var number = line.after("thread="), let thread = number.takeNumber() {
        stacks.builder.snapshot.processID = line.after("pid=").flatMap { value in
          var value = value
          return value.takeNumber().flatMap { Int32(exactly: $0) }
        }
        if stacks.threads.isEmpty { stacks.beginThread(id: thread, isCrashed: true) }
      } else if let name = line.after("os=") {
        system = Self.system(name.prefix { $0.isLetter }.string)
      } else if let version = line.after(" on \""), line.first(of: "version=") != nil {
        system = Self.system(version.prefix { $0.isLetter }.string)
      } else if let found = frame(line) {
        if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
        stacks.add(found.frame, module: found.module)
      }
    }
    stacks.builder.snapshot.system.operatingSystem = system
  }

  private static func isTitle(_ line: TextBytes) -> Bool { line.first(of: "===== CRASH =====") != nil }

  /// "Segmentation fault(11), si_code=1, si_addr=0x8", "Segmentation fault(11), si_code=SEGV_MAPERR(1), si_addr=0x2".
  private static func readSignal(_ words: TextBytes, _ stacks: inout ToolStacks) {
    guard let name = SignalWords.name(words) else { return }
    let code = words.after("si_code=").map { $0.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "(") }.string }
    let address = words.after("si_addr=")?.leadingPointer
    stacks.setSignal(name, code: code, address: name == "SIGABRT" ? nil : address)
  }

  private static func system(_ name: String) -> OperatingSystem {
    switch name {
    case "linux": .linux
    case "macos": .macos
    case "ios": .ios
    case "android": .android
    case "windows", "win": .windows
    case "fuchsia": .fuchsia
    default: .unknown
    }
  }

  /// "pc 0x000055c6bfe04be1 fp 0x00007f39fbcf9950 /usr/bin/dart+0x14b7be1", with "Unknown symbol" or the name of a function at the end.
  private static func frame(_ line: TextBytes) -> (frame: RecordedFrame, module: TextBytes?)? {
    guard let start = line.first(of: "pc 0x") else { return nil }
    var rest = line[(start + 3)...]
    guard let address = rest.takeWord().address, rest.trimmed.has(prefix: "fp 0x") else { return nil }
    rest = rest.trimmed.dropFirst(3)
    _ = rest.takeWord()
    rest = rest.trimmed
    var frame = RecordedFrame(address: address)
    if rest.first == UInt8(ascii: "/"), let plus = rest.last(of: "+0x"), let offset = rest[(plus + 1)...].number {
      frame.moduleOffset = offset
      return (frame, rest[..<plus])
    }
    if !rest.isEmpty, !rest.equals("Unknown symbol") { frame.function = rest.string }
    return (frame, nil)
  }
}
