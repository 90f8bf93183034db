// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes
internal import CrashpadSnapshot

/// Reads what ClickHouse writes into its log at a signal; up to version 19, frames have the form of backtrace_symbols(3).
///
/// Source: ClickHouse, src/Daemon/BaseDaemon.cpp and src/Common/StackTrace.cpp.
struct ClickHouseText {
  private var stacks: ToolStacks
  private var code: String?
  private var signal: String?
  private var address: UInt64?
  /// The addresses of the stack, as the process had them.
  private var addresses: [UInt64] = []
  /// The first index of each address.
  private var firstIndices: [UInt64: Int] = [:]
  /// The number of addresses whose frames were read.
  private var matchedCount = 0
  private var lastNumber: UInt64?
  private var hasEnded = false

  static func isIn(_ lines: [TextBytes]) -> Bool {
    let lines = lines.compactMap(content)
    guard let head = lines.firstIndex(where: { PastedLine.caughtSignal($0) != nil }) else { return false }
    return lines[head...].contains { frame($0) != nil || $0.has(prefix: stackTrace) }
  }

  static func read(_ lines: [TextBytes], _ stacks: inout ToolStacks) {
    var text = ClickHouseText(stacks: stacks)
    for line in lines where !text.hasEnded { if let content = content(line) { text.read(content) } }
    text.finish()
    stacks = text.stacks
  }

  private init(stacks: ToolStacks) { self.stacks = stacks }

  private static let stackTrace = "Stack trace: 0x"

  /// The words of the daemon in a line: "2020.11.19 17:44:18.014697 [ 13919 ] {} <Fatal> BaseDaemon: Address: NULL pointer. Access: read."
  private static func content(_ line: TextBytes) -> TextBytes? {
    for mark in ["BaseDaemon: ", "<Fatal> Application: ", "<Fatal> : "] {
      if let content = line.after(mark) { return content.trimmed }
    }
    return nil
  }

  private mutating func read(_ line: TextBytes) {
    if let signal = PastedLine.caughtSignal(line) {
      // Another thread, which ran into the same.
      guard self.signal == nil || addresses.isEmpty && stacks.threads.last?.frames?.isEmpty != false else {
        hasEnded = true
        return
      }
      self.signal = signal
      readThread(line)
    } else if let words = line.first(of: "Terminate called ") {
      stacks.builder.addMessage(line[words...].string)
    } else if signal == nil {
      return
    } else if line.has(prefix: "Address: ") || line.has(prefix: "Address not mapped") || line.has(prefix: "Attempted ")
    {
      readAddress(line)
    } else if line.has(prefix: Self.stackTrace) {
      addresses = line.split(separator: 0x20).compactMap(\.address)
      firstIndices = Dictionary(addresses.enumerated().map { ($1, $0) }) { first, _ in first }
    } else if let frame = Self.frame(line) {
      add(frame)
    }
  }

  /// "(version 21.8.7.1, build id: B04FC607F093B4E2) (from thread 365088) (no query) Received signal Segmentation fault (11)"
  private mutating func readThread(_ line: TextBytes) {
    let id = line.between("(from thread ", ")")?.decimal
    stacks.removeThreads()
    stacks.beginThread(id: id, isCrashed: true)
    if let version = line.after("(version ")?.prefix(while: { !TextBytes.isBlank($0) && !",)".utf8.contains($0) }) {
      stacks.builder.report.version = version.string
    }
  }

  /// "Address: 0x1b. Access: write. Address not mapped to object.", "Address: NULL pointer. Access: read. Unknown si_code."
  private mutating func readAddress(_ line: TextBytes) {
    if line.has(prefix: "Address: "), case let value = line.dropFirst("Address: ".utf8.count) {
      address = value.has(prefix: "NULL pointer") ? 0 : value.leadingHexadecimal
    }
    if line.first(of: "Address not mapped to object") != nil { code = "SEGV_MAPERR" }
    if line.first(of: "Attempted access has violated the permissions") != nil { code = "SEGV_ACCERR" }
  }

  private mutating func add(_ frame: Frame) {
    if let lastNumber, frame.number < lastNumber {
      hasEnded = true
      return
    }
    let index = frame.place.flatMap { firstIndices[$0] }
    if let index, index >= matchedCount {
      // The lines of those between are cut, or gone.
      for address in addresses[matchedCount..<index] { stacks.add(RecordedFrame(address: address)) }
      matchedCount = index + 1
    } else {
      // Libraries have the place in their file.
      if frame.place != nil { matchedCount = min(matchedCount + 1, addresses.count) }
      // The handler's own frames are not in the list. Older versions count from 0 or 1.
      let last = lastNumber ?? (frame.isOld && frame.number > 0 ? 0 : nil)
      if let last, frame.number != last { stacks.addGap(before: frame.number, after: last) }
    }
    lastNumber = frame.number
    var recorded = frame.frame
    // The place is that in the file, unless the process had it there.
    if index != nil { recorded.address = frame.place ?? 0 } else { recorded.moduleOffset = frame.place }
    stacks.add(recorded, module: frame.module)
  }

  private mutating func finish() {
    if stacks.threads.first?.frames?.isEmpty == true {
      for address in addresses { stacks.add(RecordedFrame(address: address)) }
    }
    stacks.builder.snapshot.system.operatingSystem = .linux
    if let signal { stacks.setSignal(signal, code: code, address: address) }
    // Newer versions have the frames of the handler in the list, which captures the stack by these functions.
    let captures = (stacks.threads.last?.frames ?? []).prefix { $0.function?.hasPrefix("StackTrace::") == true }.count
    if captures > 0 { stacks.leaveOutHandler(captures, of: stacks.threads.count - 1) }
    stacks.leaveOutHandler(signal: signal)
  }

  private struct Frame {
    let number: UInt64
    var frame: RecordedFrame
    /// The address in the file or in the process.
    var place: UInt64?
    var module: TextBytes?
    /// Whether it has the form of backtrace_symbols(3).
    var isOld = false
  }

  /// "2. DB::Gear::turn(int) const @ 0x9201c25 in /usr/bin/clickhouse", "3.1. inlined from /src/Gear.h:7: DB::Gear::tooth()",
  /// "4. /src/Gear.cpp:77: DB::Gear::stop() @ 0x000000000c5a1f3d in /usr/bin/clickhouse", "5. ? @ 0x7f55 in /lib/libc.so.6".
  private static func frame(_ line: TextBytes) -> Frame? {
    if let old = GlibcText.frame(line), let number = old.number {
      return Frame(number: number, frame: old.frame, module: old.module, isOld: true)
    }
    var rest = line
    guard let number = rest.takeNumber(), rest.first == UInt8(ascii: ".") else { return nil }
    rest = rest.dropFirst()
    var isPart = false
    if rest.takeNumber() != nil {
      guard rest.first == UInt8(ascii: ".") else { return nil }
      rest = rest.dropFirst()
      isPart = true
    }
    guard rest.first == 0x20 else { return nil }
    rest = rest.trimmed
    var result = Frame(number: number, frame: RecordedFrame(address: 0))
    if rest.has(prefix: "inlined from ") {
      result.frame.isInlined = true
      rest = rest.dropFirst("inlined from ".utf8.count)
    } else if isPart {
      return nil
    }
    if let mark = rest.last(of: " @ 0x") {
      var place = rest[(mark + 3)...]
      result.place = place.takeWord().address
      if place.has(prefix: " in "), case let path = place.dropFirst(4).trimmed, !path.equals("?") {
        result.module = path
      }
      rest = rest[..<mark]
    } else if !result.frame.isInlined {
      return nil
    }
    if let colon = rest.first(of: ": "), let source = rest[..<colon].sourcePlace {
      (result.frame.file, result.frame.line) = (source.file.string, source.line)
      rest = rest[(colon + 2)...]
    }
    if !rest.isEmpty, !rest.equals("?") { result.frame.function = rest.string }
    return result
  }
}
