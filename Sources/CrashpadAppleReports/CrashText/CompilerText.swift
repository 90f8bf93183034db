// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads the stacks that LLVM's handler of signals writes: those of clang, swiftc, lld and other compilers that are made of LLVM.
///
/// Source: LLVM, llvm/lib/Support/Signals.cpp and Unix/Signals.inc.
enum CompilerText {
  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: isHead) else { return false }
    return lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    guard let head = lines.firstIndex(where: isHead) else { return }
    var signal: String?
    var isWindows = false
    var last: UInt64?
    var hasEnded = false
    for line in lines[head...] {
      signal = signal ?? Self.signal(line)
      if let code = line.after("Exception Code: ")?.number {
        isWindows = true
        stacks.builder.report.exceptionType = "0x" + String(code, radix: 16)
        stacks.builder.setWindowsException("0x" + String(code, radix: 16), nil, address: nil)
      } else if let program = line.after("Program arguments: "), stacks.builder.report.processName == nil {
        let path = program.drop { $0 == UInt8(ascii: "\"") }.prefix { $0 != UInt8(ascii: "\"") && $0 != 0x20 }
        stacks.builder.report.processName = path.fileName.string
      } else if !hasEnded, let found = frame(line) {
        if let last, found.number <= last {
          hasEnded = true
          continue
        }
        if stacks.threads.isEmpty { stacks.beginThread(isCrashed: true) }
        stacks.addGap(before: found.number, after: last)
        last = found.number
        stacks.add(found.frame, module: found.module)
      }
    }
    stacks.builder.snapshot.system.operatingSystem = isWindows ? .windows : .linux
    if !isWindows {
      if let signal { stacks.setSignal(signal) }
      stacks.leaveOutHandler(signal: signal, hasRestorer: true)
    }
  }

  private static func isHead(_ line: TextBytes) -> Bool {
    line.equals("Stack dump:") || line.has(prefix: "PLEASE submit a bug report to ")
      || line.has(prefix: "Stack dump without symbol names ")
  }

  /// "clang: error: unable to execute command: Segmentation fault (core dumped)", "clang: error: clang frontend command failed with exit
  /// code 139", "fish: Job 1, 'clang -v' terminated by signal SIGSEGV", "failed due to signal 11".
  private static func signal(_ line: TextBytes) -> String? {
    if let words = line.after("unable to execute command: ") { return SignalWords.name(words) }
    for (words, offset) in [("failed with exit code ", 128), ("due to signal ", 0)] as [(String, UInt64)] {
      guard var rest = line.after(words), let number = rest.takeNumber(), number >= offset else { continue }
      return SignalWords.name(ofNumber: number - offset)
    }
    guard let name = line.after("terminated by signal ")?.prefix(while: { $0.isLetter }).string else { return nil }
    return SignalWords.names.contains(name) ? name : nil
  }

  /// "#0 0x00007c8e llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/usr/lib/libLLVM.so.18.1+0x7c4d90)", "#1 0x00007c8e
  /// (/usr/lib/libLLVM.so.18.1+0x7c1d4d)", "#3 0x0000562f turn(int) /src/wheel.cpp:12:3".
  private static func frame(_ line: TextBytes) -> (number: UInt64, frame: RecordedFrame, module: TextBytes?)? {
    guard line.first == UInt8(ascii: "#") else { return nil }
    var rest = line.dropFirst()
    guard let number = rest.takeNumber(), rest.first == 0x20, let address = rest.takeWord().address else { return nil }
    rest = rest.trimmed
    var frame = RecordedFrame(address: address)
    var module: TextBytes?
    if rest.last == UInt8(ascii: ")"), let plus = rest.last(of: "+0x"), let open = rest[..<plus].last(of: "("),
      let offset = rest[(plus + 1)...].dropLast().number
    {
      frame.moduleOffset = offset
      module = rest[(open + 1)..<plus]
      rest = rest[..<open].trimmed
    } else if let blank = rest.lastIndex(of: 0x20), let place = rest[(blank + 1)...].sourcePlace {
      if place.line > 0 { (frame.file, frame.line) = (place.file.string, place.line) }
      rest = rest[..<blank].trimmed
    } else if rest.isEmpty {
      return nil
    }
    // The text may end within the path of the module.
    if !rest.isEmpty, rest.first != UInt8(ascii: "(") { frame.function = rest.string }
    return (number, frame, module)
  }
}
