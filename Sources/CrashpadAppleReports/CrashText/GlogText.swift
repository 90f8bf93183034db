// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads the stacks that the signal handlers of glog, Abseil and Folly write, and those of glog's failed checks: `@`, the address, and
/// the name of the function.
///
/// Sources: glog, src/signalhandler.cc; Abseil, absl/debugging/failure_signal_handler.cc; Folly,
/// folly/debugging/symbolizer/SignalHandler.cpp.
struct GlogText {
  private var stacks: ToolStacks
  private var signal: (name: String, code: String?, address: UInt64?)?
  /// The program counter of the fault, with the function's name.
  private var fault: RecordedFrame?
  private var frames: [(frame: RecordedFrame, module: TextBytes?)] = []
  private var check: String?
  private var isOfCheck = false
  private var hasEnded = false

  static func isIn(_ lines: [TextBytes]) -> Bool {
    guard let head = lines.firstIndex(where: isHead) else { return false }
    return lines[head...].contains { frame($0) != nil }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var text = GlogText(stacks: stacks)
    for line in lines where !text.hasEnded { text.read(line) }
    text.finish()
    stacks = text.stacks
  }

  private init(stacks: ToolStacks) { self.stacks = stacks }

  private mutating func read(_ line: TextBytes) {
    if let time = Self.time(line) {
      guard frames.isEmpty else {
        hasEnded = true
        return
      }
      stacks.builder.snapshot.snapshotTime = stacks.builder.snapshot.snapshotTime ?? time
    }
    if let received = Self.received(line) {
      guard frames.isEmpty else {
        hasEnded = true
        return
      }
      signal = (received.name, received.code, received.address)
      stacks.builder.snapshot.processID = received.process
    } else if let place = line.after("PC: @"), let found = Self.placed(place.trimmed) {
      if fault == nil { fault = found.frame }
    } else if Self.isCheckTitle(line) {
      guard frames.isEmpty else {
        hasEnded = true
        return
      }
      isOfCheck = true
    } else if frames.isEmpty, let words = Self.check(line) {
      check = words.string
    } else if isBelowHead, let found = Self.frame(line) {
      frames.append(found)
    } else if let place = line.trimmed.sourcePlace, !frames.isEmpty, frames[frames.count - 1].frame.line == nil,
      place.file.contains(UInt8(ascii: "/"))
    {
      // Folly writes the place in the source on the next line.
      (frames[frames.count - 1].frame.file, frames[frames.count - 1].frame.line) = (place.file.string, place.line)
    } else if !frames.isEmpty, !line.trimmed.isEmpty, !Self.isContinued(line) {
      hasEnded = true
    }
  }

  private var isBelowHead: Bool { signal != nil || isOfCheck || stacks.builder.snapshot.snapshotTime != nil }

  private mutating func finish() {
    stacks.beginThread(isCrashed: true)
    stacks.builder.snapshot.system.operatingSystem = operatingSystem
    leaveOutHandler()
    for (frame, module) in frames { stacks.add(frame, module: module) }
    if let check { stacks.builder.addMessage(check) }
    if let signal {
      stacks.setSignal(signal.name, code: signal.code, address: signal.address)
    } else if isOfCheck, check?.utf8.starts(with: "Check failed".utf8) ?? true {
      stacks.setSignal("SIGABRT")
    }
  }

  /// The stack begins where the kernel calls the handler; what the signal interrupted is the place of the fault.
  private mutating func leaveOutHandler() {
    guard let fault, fault.address != 0 else {
      let isCall = frames.first.map { $0.frame.function.map(HandlerFrames.isRestorer) ?? (signal != nil) } ?? false
      if isCall, frames.count > 1 { frames.removeFirst() }
      return
    }
    if let index = frames.prefix(8).firstIndex(where: { $0.frame.address == fault.address }) {
      frames.removeFirst(index)
    } else {
      // The walk passed over the place of the fault.
      if frames.first.map({ $0.frame.function.map(HandlerFrames.isRestorer) ?? true }) ?? false { frames.removeFirst() }
      frames.insert((fault, nil), at: 0)
    }
  }

  private var operatingSystem: OperatingSystem {
    let names = Set(frames.compactMap(\.frame.function))
    if names.contains("_sigtramp") { return .macos }
    return names.isDisjoint(with: ["BaseThreadInitThunk", "RtlUserThreadStart"]) ? .linux : .windows
  }

  // MARK: Lines

  private static func isHead(_ line: TextBytes) -> Bool {
    received(line) != nil || time(line) != nil || isCheckTitle(line)
  }

  private static func isCheckTitle(_ line: TextBytes) -> Bool {
    line.first(of: "*** Check failure stack trace: ***") != nil
  }

  /// `*** Aborted at 1558541366 (unix time) try "date -d @1558541366" if you are using GNU date ***`, "*** SIGABRT received at
  /// time=1735498785 on cpu 0 ***": the seconds.
  private static func time(_ line: TextBytes) -> Timestamp? {
    var rest = line.after("*** Aborted at ") ?? line.after(" received at time=") ?? []
    guard line.first(of: "*** ") != nil, let seconds = rest.takeNumber() else { return nil }
    return Int64(exactly: seconds).map { Timestamp(seconds: $0) }
  }

  private struct Received {
    var name: String
    var code: String?
    var address: UInt64?
    var process: Int32?
  }

  /// "*** SIGSEGV (@0x6) received by PID 3108 (TID 0x7fc147dcf740) from PID 6; stack trace: ***", "*** SIGABRT received at
  /// time=1735498785 on cpu 0 ***", "*** Signal 11 (SIGSEGV) (0x0) received by PID 8 (pthread TID 0x7f) (linux TID 9) (code: address not
  /// mapped to object), stack trace: ***".
  private static func received(_ line: TextBytes) -> Received? {
    guard let start = line.first(of: "*** SIG") ?? line.first(of: "*** Signal "),
      let end = line[start...].first(of: " received ")
    else { return nil }
    let words = line[start..<end]
    guard let sign = words.first(of: "SIG") else { return nil }
    let name = words[sign...].prefix { $0.isLetter || $0.isDigit }
    var received = Received(name: name.string)
    let address = words.between("(@", ")") ?? words.after(") (")?.dropLast()
    let isFault = SignalWords.names.contains(received.name) && received.name != "SIGABRT"
    if isFault, let address = address?.address, !isSender(address) { received.address = address }
    if var rest = line.after(" received by PID "), let number = rest.takeNumber() {
      received.process = Int32(exactly: number)
    }
    if line.first(of: "code: address not mapped to object") != nil { received.code = "SEGV_MAPERR" }
    if line.first(of: "code: invalid permissions for mapped object") != nil { received.code = "SEGV_ACCERR" }
    return received
  }

  /// Whether what the handlers print as an address is the sender of a signal: the kernel has the user and the process in the same place.
  private static func isSender(_ address: UInt64) -> Bool {
    let (user, process) = (address >> 32, address & 0xffff_ffff)
    return (1..<0x1000).contains(user) && (1..<4_194_304).contains(process)
  }

  /// "F0604 12:00:00.000000  1234 gear.cc:42] Check failed: a == b (1 vs. 2)": the message of a line that ends the process.
  private static func check(_ line: TextBytes) -> TextBytes? {
    if let start = line.first(of: "Check failed: ") { return line[start...] }
    guard line.first == UInt8(ascii: "F"), line.dropFirst().prefix(4).allSatisfy(\.isDigit),
      let end = line.first(of: "] ")
    else { return nil }
    return line[(end + 2)...]
  }

  /// "@ ... and at least 12 more frames".
  private static func isContinued(_ line: TextBytes) -> Bool {
    line.first(of: "@ ") != nil || line.first(of: "...") != nil
  }

  /// "    @     0x7fc1471a11ea caffe::UpgradeSnapshotPrefixProperty()", "    @     0x55d5b9d1dde4         80  turn()", "    @ 00000000000ee1d3
  /// turn()", "    @     0x7f1c (/usr/lib/libc.so.6+0x25ccf)".
  private static func frame(_ line: TextBytes) -> (frame: RecordedFrame, module: TextBytes?)? {
    guard let sign = line.first(of: "@ "), line[..<sign].trimmed.isEmpty else { return nil }
    return placed(line[(sign + 1)...].trimmed)
  }

  /// The address, the size of the frame that Abseil writes, and the name.
  private static func placed(_ text: TextBytes) -> (frame: RecordedFrame, module: TextBytes?)? {
    var rest = text
    let word = rest.takeWord()
    let isMarked = word.has(prefix: "0x")
    guard isMarked || word.count == 16, let address = word.hexadecimal ?? word.address else { return nil }
    // Folly has the distances in the files of the modules, without saying which.
    var frame = RecordedFrame(address: isMarked ? address : 0)
    rest = rest.trimmed
    var size = rest
    let column = size.takeWord()
    if !size.trimmed.isEmpty, column.decimal != nil || column.equals("(unknown)") { rest = size.trimmed }
    if rest.first == UInt8(ascii: "("), rest.last == UInt8(ascii: ")"), let plus = rest.last(of: "+0x"),
      let offset = rest[(plus + 1)...].dropLast().number
    {
      frame.moduleOffset = offset
      return (frame, rest[..<plus].dropFirst())
    }
    if !rest.isEmpty, !rest.equals("(unknown)"), !rest.equals("(nil)") { frame.function = rest.string }
    return (frame, nil)
  }
}
