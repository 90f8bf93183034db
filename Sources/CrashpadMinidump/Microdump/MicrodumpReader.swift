// SPDX-License-Identifier: Apache-2.0
package import CrashpadBytes
package import CrashpadSnapshot

/// Reads a microdump, which Breakpad writes into the log of a system: the registers and the stack of the thread that crashed,
/// and the modules, as lines of text.
///
/// Source: Breakpad, `client/linux/microdump_writer/microdump_writer.cc`.
package struct MicrodumpReader {
  package struct Reading: Sendable {
    /// Nil if the file has no microdump.
    package let snapshot: ProcessSnapshot?
    package let findings: FindingList
  }

  private var snapshot = ProcessSnapshot(system: SystemSnapshot(architecture: .unknown, operatingSystem: .unknown))
  private var findings: FindingList
  private var thread = ThreadSnapshot()
  private var exception: ExceptionSnapshot?
  /// The stack pointer, from the first line of the stack.
  private var stackPointer: UInt64?
  /// The pieces of the stack, in the order of the log.
  private var stack: [MemoryRegion] = []

  /// Whether a log begins with a microdump, or has one among its first lines.
  package static func recognises(_ bytes: RawSpan) -> Bool { MicrodumpLines.areIn(bytes) }

  /// Reads the first microdump of a log.
  package static func read(_ bytes: RawSpan, limits: Limits = Limits()) -> Reading {
    var reader = MicrodumpReader(limits)
    let hasBegun = reader.readLines(bytes)
    reader.finish()
    return Reading(snapshot: hasBegun ? reader.snapshot : nil, findings: reader.findings)
  }

  private init(_ limits: Limits) { findings = FindingList(limit: limits.maximumFindings) }

  private mutating func readLines(_ bytes: RawSpan) -> Bool {
    var lines = MicrodumpLines()
    var hasBegun = false
    var hasEnded = false
    while let line = lines.next(bytes) {
      if line.text.elementsEqual(MicrodumpLines.begin.utf8) {
        if hasBegun {
          findings.append(Finding(MicrodumpRules.several, at: line.offset))
          break
        }
        hasBegun = true
        snapshot.processID = line.processID
      } else if hasBegun, !hasEnded, line.processID == snapshot.processID {
        if line.text.elementsEqual(MicrodumpLines.end.utf8) {
          hasEnded = true
        } else if !read(line) {
          findings.append(Finding(MicrodumpRules.badLine, at: line.offset, path: Self.path(line)))
        }
      }
    }
    if !hasEnded {
      snapshot.isComplete = false
      findings.append(Finding(MicrodumpRules.cut))
    }
    return hasBegun
  }

  private static func path(_ line: MicrodumpLines.Line) -> String {
    line.text.first.map { (0x20..<0x7f).contains($0) ? String(UnicodeScalar($0)) : "line" } ?? "line"
  }

  private mutating func finish() {
    snapshot.extraMemory = stack
    if let index = stack.firstIndex(where: { region in
      stackPointer.map { $0 >= region.address && $0 - region.address < UInt64(region.content.count) } ?? true
    }) {
      thread.stack = ThreadSnapshot.Stack(region: snapshot.extraMemory.remove(at: index))
    }
    snapshot.threads = [thread]
    var crash = exception ?? ExceptionSnapshot(kind: .linuxSignal, threadID: 0, code: 0)
    if exception == nil {
      crash.isInfoKnown = false
      findings.append(Finding(MicrodumpRules.noReason))
    }
    crash.context = thread.context
    if snapshot.system.architecture.hasNarrowAddresses { crash.address &= 0xffff_ffff }
    snapshot.exception = crash
  }

  // MARK: Lines

  /// Returns false if a line can't be read. Lines of unknown kinds are passed over.
  private mutating func read(_ line: MicrodumpLines.Line) -> Bool {
    let words = line.text.split(separator: 0x20, maxSplits: 5).map { Substring($0) }
    guard let kind = words.first, kind.utf8.count == 1 else { return true }
    switch kind {
    case "V": return readProduct(words)
    case "P": return annotate("ptype", words.dropFirst().joined(separator: " "))
    case "G": return readGraphics(words)
    case "O": return readSystem(words)
    case "R": return readReason(words)
    case "S": return words.dropFirst().first == "0" ? readStackHeader(words) : readStack(words)
    case "C": return readRegisters(words, at: line.offset)
    case "M": return readModule(words)
    default: return true
    }
  }

  private mutating func annotate(_ name: String, _ value: String) -> Bool {
    if !value.isEmpty, value != "UNKNOWN" {
      snapshot.annotations.append(Annotation(name: snapshot.store(name), value: snapshot.store(value)))
    }
    return true
  }

  /// Reads "V Browser:1.2.3.4".
  private mutating func readProduct(_ words: [Substring]) -> Bool {
    let text = words.dropFirst().joined(separator: " ")
    if text == "UNKNOWN:0.0.0.0" { return true }
    guard let colon = text.lastIndex(of: ":") else { return annotate("prod", text) }
    return annotate("prod", String(text[..<colon])) && annotate("ver", String(text[text.index(after: colon)...]))
  }

  private mutating func readGraphics(_ words: [Substring]) -> Bool {
    annotate("gpu", words.dropFirst().joined(separator: " "))
  }

  /// Reads "O A arm64 08 aarch64 FINGERPRINT": the system, the processor of the program, the number of processors, that of the
  /// machine, and the build.
  private mutating func readSystem(_ words: [Substring]) -> Bool {
    guard words.count >= 4, let count = UInt8(words[3], radix: 16) else { return false }
    snapshot.system.operatingSystem = words[1] == "A" ? .android : words[1] == "L" ? .linux : .unknown
    snapshot.system.architecture = CPUArchitecture(rawValue: String(words[2])) ?? .unknown
    snapshot.system.cpuCount = count == 0 ? nil : Int32(count)
    if words.count > 5 { snapshot.system.osBuild = snapshot.store(String(words[5])) }
    return true
  }

  /// Reads "R 0000000B SIGSEGV 0000000000000010".
  private mutating func readReason(_ words: [Substring]) -> Bool {
    guard words.count >= 4, let signal = UInt32(words[1], radix: 16), let address = UInt64(words[3], radix: 16) else {
      return false
    }
    let code = snapshot.system.architecture.commonSignal(signal)
    var exception = ExceptionSnapshot(kind: .linuxSignal, threadID: 0, code: code)
    exception.address = address
    exception.isInfoKnown = false
    self.exception = exception
    return true
  }

  // MARK: The stack

  private mutating func readStackHeader(_ words: [Substring]) -> Bool {
    guard words.count >= 3, let pointer = UInt64(words[2], radix: 16) else { return false }
    stackPointer = pointer
    return true
  }

  /// Reads "S ADDRESS BYTES".
  private mutating func readStack(_ words: [Substring]) -> Bool {
    guard words.count >= 3, let address = UInt64(words[1], radix: 16), let bytes = Self.bytes(words[2]) else {
      return false
    }
    let content = snapshot.store(bytes)
    guard let last = stack.last else {
      stack.append(MemoryRegion(address: address, content: content))
      return true
    }
    let isNext = last.end == address && last.content.offset + last.content.count == content.offset
    if isNext {
      stack[stack.count - 1].content = SnapshotBytes(
        arenaOffset: last.content.offset, count: last.content.count + content.count)
    } else {
      if last.end != address { findings.append(Finding(MicrodumpRules.gap, found: .address(address))) }
      stack.append(MemoryRegion(address: address, content: content))
    }
    return true
  }

  /// The bytes that hexadecimal digits stand for.
  private static func bytes(_ text: Substring) -> [UInt8]? {
    guard text.utf8.count % 2 == 0, !text.isEmpty else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for digit in text.utf8 {
      let value: UInt8
      switch digit {
      case 0x30...0x39: value = digit - 0x30
      case 0x41...0x46: value = digit - 0x37
      case 0x61...0x66: value = digit - 0x57
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }

  // MARK: Registers and modules

  private mutating func readRegisters(_ words: [Substring], at offset: Int) -> Bool {
    guard words.count >= 2, let bytes = Self.bytes(words[1]) else { return false }
    let range = ByteRange(offset: 0, count: bytes.count)
    let context = unsafe MinidumpContext.read(snapshot.system.architecture, range, bytes.span.bytes)
    guard let context else {
      findings.append(
        Finding(MicrodumpRules.registers, at: offset, path: "C", found: .byteCount(UInt64(bytes.count))))
      return true
    }
    thread.context = context.moved(by: snapshot.store(bytes).offset)
    return true
  }

  /// Reads "M ADDRESS OFFSET SIZE ID NAME", whose id is a GUID and the age.
  private mutating func readModule(_ words: [Substring]) -> Bool {
    guard words.count == 6, let address = UInt64(words[1], radix: 16), let size = UInt64(words[3], radix: 16),
      words[4].utf8.count > 32, let uuid = UUIDBytes(text: String(words[4].prefix(32))),
      let age = UInt32(words[4].dropFirst(32), radix: 16)
    else { return false }
    var module = ModuleSnapshot()
    module.address = address
    module.size = size
    module.name = snapshot.store(String(words[5]))
    if uuid != .zero { module.identity = .uuid(uuid, age: age) }
    snapshot.modules.append(module)
    return true
  }
}

extension CPUContext {
  /// The context whose vectors were read at the beginning of an arena's bytes, and are at `offset` of it.
  fileprivate func moved(by offset: Int) -> CPUContext {
    func moved(_ content: SnapshotBytes) -> SnapshotBytes {
      content.isEmpty ? content : SnapshotBytes(arenaOffset: content.offset + offset, count: content.count)
    }
    switch self {
    case .arm64(var context):
      context.vectors = moved(context.vectors)
      return .arm64(context)
    case .x86_64(var context):
      context.fxsave = moved(context.fxsave)
      return .x86_64(context)
    case .named: return self
    }
  }
}
