// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads reports of Address Sanitizer, its form for tagged memory, and Memory Sanitizer: those that end the process.
enum SanitizerText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { error($0) != nil }) else { return false }
    return lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var lastNumber: UInt64?
    // The first stack is that of the access; those of the memory have titles.
    var hasHead = false
    for line in lines {
      if let error = error(line) {
        // A process that goes on after an error writes several reports.
        if hasHead { break }
        hasHead = true
        readHead(error, line, &stacks)
        stacks.beginThread(isCrashed: true)
      } else if !hasHead || line.isEmpty {
        continue
      } else if let frame = frame(line) {
        guard frame.number == 0 || lastNumber != nil else { continue }
        if frame.number > 0 { stacks.addGap(before: frame.number, after: lastNumber) }
        lastNumber = frame.number
        stacks.add(frame.frame, module: frame.module)
        if frame.module?.dropFirst().has(prefix: ":\\") == true {
          stacks.builder.snapshot.system.operatingSystem = .windows
        }
      } else if let title = title(line) {
        stacks.beginThread(name: title)
        lastNumber = nil
      } else if line.first(of: " is located ") != nil, let start = line.last(of: "0x", before: " is located ") {
        stacks.builder.addMessage(line[start...].string)
      } else if let access = access(line), stacks.threads.count == 1 {
        stacks.builder.addMessage(access.text.string)
        if let number = access.thread { stacks.builder.snapshot.threads[0].number = Int(exactly: number) }
        stacks.builder.snapshot.threads[0].name = stacks.builder.content(access.name?.string)
      } else if line.has(prefix: "SUMMARY: ") {
        break
      }
    }
  }

  /// "==77==ERROR: AddressSanitizer: heap-use-after-free on address …", from the tool's name on.
  private static func error(_ line: TextBytes) -> TextBytes? {
    for words in ["ERROR: AddressSanitizer: ", "ERROR: HWAddressSanitizer: ", "MemorySanitizer: use-of-"] {
      guard let start = line.first(of: words), line[..<start].first(of: "==") != nil else { continue }
      return line[start...].has(prefix: "ERROR: ") ? line[(start + "ERROR: ".utf8.count)...] : line[start...]
    }
    // The others tell of signals that end the process, too.
    guard let start = line.first(of: "ERROR: "), line[..<start].first(of: "==") != nil,
      case let error = line[(start + "ERROR: ".utf8.count)...], let words = error.after("Sanitizer: "),
      signals.contains(where: { words.has(prefix: $0.words) })
    else { return nil }
    return error
  }

  /// Signals that sanitizers report in place of the kernel.
  private static let signals: [(words: String, name: String)] = [
    ("SEGV on", "SIGSEGV"), ("BUS on", "SIGBUS"), ("FPE on", "SIGFPE"), ("ILL on", "SIGILL"), ("ABRT on", "SIGABRT"),
    ("stack-overflow on", "SIGSEGV"),
  ]

  private static func readHead(_ error: TextBytes, _ line: TextBytes, _ stacks: inout ToolStacks) {
    let ends = [" at pc", " (pc "].compactMap { error.first(of: $0) }
    var words = error[..<(ends.min() ?? error.endIndex)].trimmed
    // The line may be broken before the registers.
    if words.has(suffix: " at") { words = words.dropLast(3) }
    stacks.builder.addMessage(words.string)
    if var rest = line.after("=="), let id = rest.takeNumber(), rest.has(prefix: "==") {
      stacks.builder.snapshot.processID = Int32(exactly: id)
    }
    guard let words = error.after("Sanitizer: "), let signal = signals.first(where: { words.has(prefix: $0.words) })
    else {
      return
    }
    stacks.setSignal(signal.name, address: words.after(" address ")?.leadingHexadecimal)
  }

  /// "READ of size 4 at 0x602000000010 thread T0 (worker)"
  private static func access(_ line: TextBytes) -> (text: TextBytes, thread: UInt64?, name: TextBytes?)? {
    let start = ["READ of size ", "WRITE of size ", "ACCESS of size "].compactMap { line.first(of: $0) }.min()
    guard let start else { return nil }
    var thread = line.after(" thread T")
    let number = thread?.takeNumber()
    let name = thread.flatMap {
      $0.has(prefix: " (") && $0.last == UInt8(ascii: ")") ? $0.dropFirst(2).dropLast() : nil
    }
    return (line[start...], number, name)
  }

  /// The title of a stack of the memory's history, without its last words: "freed by thread T0 here:".
  private static func title(_ line: TextBytes) -> TextBytes? {
    if line.has(suffix: " here:") {
      let start = ["freed by ", "previously allocated by ", "allocated by ", "Thread T"].compactMap {
        line.first(of: $0)
      }
      return start.min().map { line[$0...].dropLast(" here:".utf8.count) }
    }
    let words = ["Uninitialized value was ", "Memory was marked as uninitialized"]
    return words.contains { line.has(prefix: $0) } ? line : nil
  }

  // MARK: Frames

  /// "#0 0x4f8d39 in turn(int) /src/gear.c:12:10", "#1 0x7f8d  (/lib/libgear.so+0x29d8f)", "#2 0x7ff7 in main+0x63f (C:\a.exe+0x14)".
  private static func frame(_ line: TextBytes) -> (number: UInt64, frame: RecordedFrame, module: TextBytes?)? {
    // Logs of Android have their own words before it.
    guard let start = line.first == UInt8(ascii: "#") ? line.startIndex : line.first(of: " #").map({ $0 + 1 }) else {
      return nil
    }
    var rest = line[(start + 1)...]
    guard let number = rest.takeNumber(), let address = rest.takeWord().address else { return nil }
    rest = rest.trimmed
    if let build = rest.last(of: " (BuildId: ") { rest = rest[..<build].trimmed }
    var frame = RecordedFrame(address: address)
    var module: TextBytes?
    if rest.last == UInt8(ascii: ")"), let open = rest.last(of: "("), case let place = rest[(open + 1)...].dropLast(),
      let plus = place.last(of: "+0x")
    {
      frame.moduleOffset = place[(plus + 1)...].number
      module = withoutArchitecture(place[..<plus])
      rest = rest[..<open].trimmed
    } else if rest.has(suffix: "(<unknown module>)") {
      rest = rest.dropLast("(<unknown module>)".utf8.count).trimmed
    }
    if rest.has(prefix: "in ") {
      rest = rest.dropFirst(3).trimmed
      if module == nil, let place = place(rest) {
        (frame.file, frame.line) = (place.file.string, place.line)
        rest = place.name
      } else if let plus = rest.last(of: "+0x"), let offset = rest[(plus + 1)...].number {
        frame.functionOffset = offset
        rest = rest[..<plus]
      }
      if rest.has(suffix: " _asan_rtl_") { rest = rest.dropLast(" _asan_rtl_".utf8.count) }
      if !rest.isEmpty { frame.function = rest.string }
    } else if !rest.isEmpty {
      return nil
    }
    return (number, frame, module)
  }

  /// "libgear.dylib:x86_64", of macOS.
  private static func withoutArchitecture(_ module: TextBytes) -> TextBytes {
    guard let colon = module.lastIndex(of: UInt8(ascii: ":")) else { return module }
    let name = module[(colon + 1)...]
    return name.has(prefix: "x86_64") || name.has(prefix: "arm64") || name.has(prefix: "i386")
      ? module[..<colon] : module
  }

  /// Splits "turn(int) /src/gear.c:12:10"; nil if no file with a line ends the text. A path may have blanks.
  private static func place(_ text: TextBytes) -> (name: TextBytes, file: TextBytes, line: UInt32)? {
    let drive = text.indices.dropLast(3).first {
      text[$0] == 0x20 && text[$0 + 1].isLetter && text[($0 + 2)...].has(prefix: ":\\")
    }
    guard let start = text.first(of: " /") ?? drive ?? text.last(of: " "),
      let place = text[(start + 1)...].sourcePlace
    else { return nil }
    return (text[..<start].trimmed, place.file, place.line)
  }
}

extension TextBytes {
  /// The last occurrence of `words` before the first of `end`.
  fileprivate func last(of words: String, before end: String) -> Int? {
    first(of: end).flatMap { self[..<$0].last(of: words) }
  }
}
