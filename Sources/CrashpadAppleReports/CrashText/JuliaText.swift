// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads what Julia writes at a signal: the functions of the program, of Julia and of libraries, innermost first.
///
/// Source: Julia, src/signal-handling.c and src/stackwalk.c.
enum JuliaText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { signal($0) != nil }) else { return false }
    return lines[head...].prefix(8).contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    guard let head = lines.firstIndex(where: { signal($0) != nil }), let signal = signal(lines[head]) else { return }
    stacks.beginThread(isCrashed: true)
    stacks.builder.snapshot.processID = signal.process
    // Darwin's C library writes the number behind the words of a signal.
    var isDarwin = signal.isDarwin
    var others = 0
    for line in lines[(head + 1)...] {
      if line.has(prefix: "Allocations: ") { break }
      if let place = line.after("in expression starting "), line.has(prefix: "in ") || line.has(prefix: "while ") {
        stacks.builder.addField("Expression", place.string)
      } else if let frame = frame(line) {
        stacks.add(frame.frame, module: frame.module)
        if frame.module?.has(suffix: ".dylib") == true { isDarwin = true }
        others = 0
      } else {
        // Pages have blank lines between.
        others += 1
        if others > 2, stacks.threads[0].frames?.isEmpty == false { break }
      }
    }
    stacks.builder.snapshot.system.operatingSystem = isDarwin ? .macos : .linux
    stacks.setSignal(signal.name, code: isDarwin ? nil : signal.code)
  }

  private struct Signal {
    let name: String
    var code: String?
    var process: Int32?
    var isDarwin = false
  }

  /// "[2387877] signal (11.1): Segmentation fault", "signal (11): Segmentation fault", "[10906] signal 11 (2): Segmentation
  /// fault: 11". A paste may lack the first bracket.
  private static func signal(_ line: TextBytes) -> Signal? {
    guard let mark = line.first(of: "signal "), let colon = line[mark...].first(of: "): ") else { return nil }
    let before = line[..<mark].trimmed
    guard before.isEmpty || before.last == UInt8(ascii: "]") else { return nil }
    let process = before.dropLast().drop { $0 == UInt8(ascii: "[") }
    guard before.isEmpty || process.decimal != nil else { return nil }
    // A code that the program gave itself is negative.
    let numbers = line[(mark + "signal ".utf8.count)..<colon].split { !$0.isDigit && $0 != UInt8(ascii: "-") }
    let words = line[(colon + 3)...].trimmed
    guard (1...2).contains(numbers.count), let name = SignalWords.name(words) else { return nil }
    return Signal(
      name: name, code: numbers.count > 1 && numbers[1].decimal != nil ? numbers[1].string : nil,
      process: process.decimal.flatMap { Int32(exactly: $0) },
      isDarwin: words.has(suffix: ": \(numbers[0].string)"))
  }

  /// "jl_apply at /src/julia.h:1880 [inlined]", "SET_TAG at /usr/lib/R/lib/libR.so (unknown line)", "unknown function (ip:
  /// 0x7f20c343d51d) at /usr/lib/libm.so.6".
  private static func frame(_ line: TextBytes) -> (frame: RecordedFrame, module: TextBytes?)? {
    var rest = line
    var frame = RecordedFrame(address: 0)
    if rest.has(suffix: " [inlined]") {
      frame.isInlined = true
      rest = rest.dropLast(" [inlined]".utf8.count)
    }
    var module: TextBytes?
    if let at = rest.last(of: " at ") {
      var place = rest[(at + 4)...]
      let hasLine = !place.has(suffix: " (unknown line)")
      if !hasLine { place = place.dropLast(" (unknown line)".utf8.count) }
      if hasLine, let source = place.sourcePlace {
        (frame.file, frame.line) = (source.file.string, source.line)
      } else if !hasLine || isLibrary(place) {
        // Without debug information the place is the file of the program or library.
        module = place
      } else {
        return nil
      }
      rest = rest[..<at]
    } else if !rest.has(prefix: "unknown function (ip: 0x") {
      return nil
    }
    if let address = rest.between("(ip: ", ")")?.address, rest.has(prefix: "unknown function ") {
      frame.address = address
    } else if !rest.isEmpty {
      frame.function = rest.string
    }
    return (frame, module)
  }

  private static func isLibrary(_ path: TextBytes) -> Bool {
    let name = path.fileName
    return name.has(suffix: ".so") || name.has(suffix: ".dylib") || name.has(suffix: ".dll")
      || name.first(of: ".so.") != nil
  }
}

/// Reads what R writes at a signal: the calls of the program in R, innermost first.
///
/// Source: R, src/main/main.c, `sigactionSegv`.
enum RText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: { signal($0) != nil }) else { return false }
    return lines[head...].contains { $0.has(prefix: "Traceback:") }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    guard let head = lines.firstIndex(where: { signal($0) != nil }), let name = signal(lines[head]) else { return }
    var cause: (address: UInt64?, code: String?)?
    var last: UInt64 = 0
    for line in lines[(head + 1)...] {
      if stacks.threads.isEmpty, cause == nil, let found = self.cause(line) {
        cause = found
      } else if stacks.threads.isEmpty, line.has(prefix: "Traceback:") {
        stacks.beginThread(isCrashed: true)
      } else if !stacks.threads.isEmpty, line.isEmpty || line.has(prefix: "An irrecoverable exception occurred") {
        if last > 0 { break }
      } else if !stacks.threads.isEmpty, let call = call(line), call.number == last + 1 {
        last = call.number
        var frame = RecordedFrame(address: 0)
        frame.function = call.function
        stacks.add(frame)
      }
      // Other lines go on with a call that has several.
    }
    stacks.setSignal(name, code: cause?.code, address: cause?.address)
  }

  /// "*** caught segfault ***"
  private static func signal(_ line: TextBytes) -> String? {
    let signals = ["segfault": "SIGSEGV", "bus error": "SIGBUS", "illegal operation": "SIGILL"]
    return line.between("*** caught ", " ***").flatMap { signals[$0.string] }
  }

  /// "address 0x30, cause 'memory not mapped'", "address (nil), cause 'unknown'".
  private static func cause(_ line: TextBytes) -> (address: UInt64?, code: String?)? {
    guard line.has(prefix: "address "), let words = line.between(", cause '", "'") else { return nil }
    let codes = [
      "memory not mapped": "SEGV_MAPERR", "invalid permissions": "SEGV_ACCERR", "invalid alignment": "BUS_ADRALN",
      "non-existent physical address": "BUS_ADRERR", "object specific hardware error": "BUS_OBJERR",
      "illegal opcode": "ILL_ILLOPC", "illegal operand": "ILL_ILLOPN", "illegal addressing mode": "ILL_ILLADR",
      "illegal trap": "ILL_ILLTRP", "coprocessor error": "ILL_COPROC",
    ]
    let address = line.dropFirst("address ".utf8.count).prefix { $0 != UInt8(ascii: ",") }
    return (address.equals("(nil)") ? 0 : address.address, codes[words.string])
  }

  /// "3: colSums(aperm(output$xi, c(3, 2, 1)))", without the arguments. A call of native code is named with its function.
  private static func call(_ line: TextBytes) -> (number: UInt64, function: String)? {
    var rest = line
    guard let number = rest.takeNumber(), rest.has(prefix: ": ") else { return nil }
    let words = rest.dropFirst(2).trimmed
    guard let open = words.firstIndex(of: UInt8(ascii: "(")), open > words.startIndex else {
      return (number, words.string)
    }
    let name = words[..<open]
    guard [".Call", ".External", ".External2", ".C", ".Fortran"].contains(where: { name.equals($0) }) else {
      return (number, name.string)
    }
    let native = words[(open + 1)...].prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ")") }
    return (number, "\(name.string)(\(native.string))")
  }
}
