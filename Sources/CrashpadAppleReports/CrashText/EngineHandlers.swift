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
    let address = words.after("si_addr=").flatMap { $0.has(prefix: "(nil)") ? 0 : $0.leadingHexadecimal }
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
    var isApple = false
    for line in lines[(head + 1)...] {
      if line.first(of: "-- END OF ") != nil || signal(line) != nil { break }
      guard let found = frame(line) else { continue }
      guard found.number > last else { break }
      stacks.addGap(before: found.number, after: last)
      last = found.number
      if found.module?.has(suffix: ".dylib") == true || found.frame.function == "_sigtramp" { isApple = true }
      stacks.add(found.frame, module: found.module)
    }
    stacks.builder.snapshot.system.operatingSystem = isApple ? .macos : .linux
    stacks.setSignal(name)
    stacks.leaveOutHandler(signal: name, hasRestorer: true)
  }

  /// "handle_crash: Program crashed with signal 11".
  private static func signal(_ line: TextBytes) -> String? {
    guard var rest = line.after("handle_crash: Program crashed with signal "), let number = rest.takeNumber() else {
      return nil
    }
    return [4: "SIGILL", 6: "SIGABRT", 8: "SIGFPE", 11: "SIGSEGV"][number]
  }

  private struct Frame {
    let number: UInt64
    let frame: RecordedFrame
    var module: TextBytes?
  }

  /// "[1] /lib/libc.so.6(+0x42520) [0x7f9d1b01d050] (??:0)", "[2] Node::_notification(int) (/src/node.cpp:123)", "[2] 2   libsystem_platform.dylib
  /// 0x00000001836a9a24 _sigtramp + 56".
  private static func frame(_ line: TextBytes) -> Frame? {
    let line = line.trimmed
    guard line.first == UInt8(ascii: "["), let close = line.first(of: "] "),
      let number = line[1 + line.startIndex..<close].decimal
    else { return nil }
    var rest = line[(close + 2)...].trimmed
    if let apple = appleFrame(rest) { return Frame(number: number, frame: apple.frame, module: apple.module) }
    var source: (file: TextBytes, line: UInt32)?
    if rest.last == UInt8(ascii: ")"), let open = rest.last(of: " ("),
      let place = rest[(open + 2)...].dropLast().sourcePlace
    {
      if place.line > 0, !place.file.equals("??") { source = place }
      rest = rest[..<open]
    }
    if rest.last == UInt8(ascii: "]"), let found = GlibcText.frame(rest) {
      var frame = found.frame
      if let source { (frame.file, frame.line) = (source.file.string, source.line) }
      return Frame(number: number, frame: frame, module: found.module)
    }
    guard !rest.isEmpty else { return nil }
    var frame = RecordedFrame(address: 0)
    frame.function = rest.string
    if let source { (frame.file, frame.line) = (source.file.string, source.line) }
    return Frame(number: number, frame: frame)
  }

  /// A frame of backtrace_symbols(3) of macOS.
  private static func appleFrame(_ text: TextBytes) -> (frame: RecordedFrame, module: TextBytes?)? {
    var rest = text
    guard rest.takeNumber() != nil, TextBytes.isBlank(rest.first ?? 0) else { return nil }
    rest = rest.trimmed
    let module = rest.takeWord()
    rest = rest.trimmed
    guard let address = rest.takeWord().address else { return nil }
    var frame = RecordedFrame(address: address)
    rest = rest.trimmed
    if let plus = rest.last(of: " + "), let offset = rest[(plus + 3)...].decimal, !rest.has(prefix: "0x") {
      (frame.function, frame.functionOffset) = (rest[..<plus].string, offset)
    }
    return (frame, module.equals("???") ? nil : module)
  }
}
