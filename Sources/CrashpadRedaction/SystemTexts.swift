// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// System texts in Linux dumps. Only entries in the expected form stay, because a damaged dump may refer to anything.
enum SystemText: String, Sendable {
  /// /proc/PID/maps
  case maps
  /// /proc/PID/status
  case status
  /// /proc/cpuinfo
  case processors
  /// /etc/os-release or /etc/lsb-release
  case release
  /// Arguments, each ended by NUL.
  case commandLine
  /// NAME=VALUE entries, each ended by NUL.
  case environment
}

/// Splits system texts into visible and hidden pieces, entry by entry.
struct SystemTextRedactor {
  let text: TextRedactor
  /// The paths of modules in UTF-8; these stay in maps.
  private let modulePaths: Set<[UInt8]>
  /// The last components of `modulePaths`; one of them is the program's name.
  private let moduleNames: Set<[UInt8]>

  init(text: TextRedactor, modulePaths: Set<[UInt8]>) {
    self.text = text
    self.modulePaths = modulePaths
    moduleNames = Set(modulePaths.map(Self.lastComponent))
  }

  private static func lastComponent(_ path: [UInt8]) -> [UInt8] {
    path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[($0 + 1)...]) } ?? path
  }

  private static let maximumEntry = 64 * 1024

  /// The pieces of `range`, in order.
  func pieces(
    of range: ByteRange, as kind: SystemText, _ bytes: RawSpan, _ removals: inout RemovalCounter
  ) -> [TextRedactor.Piece] {
    var pieces: [TextRedactor.Piece] = []
    let separator: UInt8 = kind == .commandLine || kind == .environment ? 0 : 0x0a
    var start = range.offset
    var index = 0
    while start < range.end {
      var end = start
      while end < range.end, bytes.uint8(at: end) != separator { end += 1 }
      let entry = ByteRange(offset: start, count: end - start)
      let shown = entry.count > Self.maximumEntry ? [] : shown(entry, index, kind, bytes, &removals)
      add(entry, shown, kind, bytes, &removals, to: &pieces)
      if end < range.end {
        pieces.append(TextRedactor.Piece(range: ByteRange(offset: end, count: 1), isHidden: false))
        end += 1
      }
      start = end
      index += 1
    }
    return pieces
  }

  /// A part of an entry that may stay.
  private struct Part {
    let range: ByteRange
    /// Whether the part is free text, and not part of the entry's fixed format.
    let isText: Bool
  }

  /// Adds the pieces of an entry. The parts in `shown`, which are in order, are subject to the text rules;
  /// the rest of the entry is hidden.
  private func add(
    _ entry: ByteRange, _ shown: [Part], _ kind: SystemText, _ bytes: RawSpan, _ removals: inout RemovalCounter,
    to all: inout [TextRedactor.Piece]
  ) {
    var place = entry.offset
    func hide(upTo end: Int) {
      guard end > place else { return }
      let piece = TextRedactor.Piece(range: ByteRange(offset: place, count: end - place), isHidden: true)
      // Arguments and variables are counted under their own kinds.
      if kind != .commandLine, kind != .environment, !piece.isStars(bytes, wide: false) {
        removals.add(.text, kind.rawValue, byteCount: piece.range.count)
      }
      all.append(piece)
      place = end
    }
    for part in shown {
      let range = part.range
      hide(upTo: range.offset)
      let pieces =
        part.isText ? text.pieces(of: range, bytes) : [TextRedactor.Piece(range: range, isHidden: false)]
      for piece in pieces {
        if piece.isHidden, !piece.isStars(bytes, wide: false) {
          removals.add(.text, kind.rawValue, byteCount: piece.range.count)
        }
        all.append(piece)
      }
      place = range.end
    }
    hide(upTo: entry.end)
  }

  /// The parts of an entry that may stay.
  private func shown(
    _ entry: ByteRange, _ index: Int, _ kind: SystemText, _ bytes: RawSpan, _ removals: inout RemovalCounter
  ) -> [Part] {
    if entry.count == 0 { return [] }
    let line = bytes.array(in: entry)
    /// The first `count` bytes unchanged, and optionally the others as text.
    func parts(_ count: Int, andText: Bool) -> [Part] {
      let start = Part(range: ByteRange(offset: entry.offset, count: count), isText: false)
      let rest = ByteRange(offset: entry.offset + count, count: entry.count - count)
      return andText ? [start, Part(range: rest, isText: true)] : [start]
    }
    switch kind {
    case .maps:
      guard let fields = Self.mapFields(line) else { return [] }
      let path = Array(line[fields...])
      if modulePaths.contains(path) || Self.isMappingName(path) { return parts(fields, andText: true) }
      guard path.first == UInt8(ascii: "[") else { return parts(fields, andText: false) }
      let shown = parts(fields + Self.openingCount(path), andText: false)
      guard path.last == UInt8(ascii: "]") else { return shown }
      return shown + [Part(range: ByteRange(offset: entry.end - 1, count: 1), isText: false)]
    case .status, .processors:
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return [] }
      let name = String(decoding: line[..<colon], as: UTF8.self).trimmed
      let isKnown = kind == .status ? Self.isStatus(name) : Self.processorNames.contains(name)
      guard isKnown, line.count <= 8192, line.allSatisfy({ $0 == 0x09 || (0x20..<0x7f).contains($0) }) else {
        return []
      }
      return parts(colon + 1, andText: true)
    case .release:
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")), line.count <= 1024,
        Self.releaseNames.contains(String(decoding: line[..<equals], as: UTF8.self))
      else { return [] }
      return parts(equals + 1, andText: true)
    case .commandLine:
      text.learn(line)
      if text.policy.keepsArguments || (index == 0 && moduleNames.contains(Self.lastComponent(line))) {
        return [Part(range: entry, isText: true)]
      }
      if !line.allSatisfy({ $0 == UInt8(ascii: "*") }) { removals.add(.argument, byteCount: line.count) }
      return []
    case .environment:
      text.learn(line)
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")), (1...128).contains(equals),
        line[..<equals].allSatisfy(Self.isNamePart), !hidesName(entry.offset, equals, bytes)
      else {
        if !line.allSatisfy({ $0 == UInt8(ascii: "*") }) { removals.add(.variable, byteCount: line.count) }
        return []
      }
      let name = Array(line[..<equals])
      if text.policy.keptVariables.contains(where: { $0.matches(name, ignoringCase: false) }) {
        return parts(equals + 1, andText: true)
      }
      if !line[(equals + 1)...].allSatisfy({ $0 == UInt8(ascii: "*") }) {
        removals.add(.variable, name: name, byteCount: line.count - equals - 1)
      }
      return parts(equals + 1, andText: false)
    }
  }

  private func hidesName(_ offset: Int, _ count: Int, _ bytes: RawSpan) -> Bool {
    text.pieces(of: ByteRange(offset: offset, count: count), bytes).contains(where: \.isHidden)
  }

  /// The index of the path in a line of maps, or the line's end if it has no path; nil if the line is not of the form
  /// `7f0c5a000000-7f0c5a021000 rw-p 00000000 00:00 0      [heap]`.
  private static func mapFields(_ line: [UInt8]) -> Int? {
    var index = 0
    func skip(_ isPart: (UInt8) -> Bool, _ counts: ClosedRange<Int>) -> Bool {
      let start = index
      while index < line.count, isPart(line[index]) { index += 1 }
      return counts.contains(index - start)
    }
    func one(_ character: Character) -> Bool { skip({ $0 == character.asciiValue }, 1...1) }
    guard skip(isHexadecimal, 1...16), one("-"), skip(isHexadecimal, 1...16), one(" "),
      skip({ "rwxps-".utf8.contains($0) }, 4...4), one(" "), skip(isHexadecimal, 1...16), one(" "),
      skip(isHexadecimal, 1...4), one(":"), skip(isHexadecimal, 1...8), one(" "),
      skip({ (0x30...0x39).contains($0) }, 1...20)
    else { return nil }
    let end = index
    _ = skip({ $0 == 0x20 }, 0...line.count)
    return index == end && index < line.count ? nil : index
  }

  /// Whether the kernel gives this name to a mapping without a file. Programs may set any other
  /// name with PR_SET_VMA_ANON_NAME.
  private static func isMappingName(_ name: [UInt8]) -> Bool {
    // Before Linux 4.5, a stack's name had the id of its thread.
    let stack = Array("[stack:".utf8)
    if name.starts(with: stack), name.count <= stack.count + 11, name.last == UInt8(ascii: "]") {
      let digits = name.dropFirst(stack.count).dropLast()
      return !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
    }
    return mappingNames.contains(String(decoding: name, as: UTF8.self))
  }

  /// The number of bytes to keep at the start of a bracketed name set by a program: the prefix that marks it as such.
  private static func openingCount(_ name: [UInt8]) -> Int {
    for opening in ["[anon:", "[anon_shmem:"] where name.starts(with: opening.utf8) { return opening.utf8.count }
    return 1
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte) || byte == 0x5f
  }

  // MARK: Names that say nothing of a person

  private static func isStatus(_ name: String) -> Bool {
    statusNames.contains(name) || statusPrefixes.contains { name.hasPrefix($0) }
  }

  private static let mappingNames: Set<String> = [
    "[heap]", "[stack]", "[vdso]", "[vvar]", "[vvar_vclock]", "[vsyscall]", "[uprobes]", "[sigpage]",
  ]
  private static let statusPrefixes = ["Vm", "Rss", "Sig", "Shd", "Cap", "Cpus_", "Mems_", "Speculation"]
  private static let statusNames: Set<String> = [
    "Name", "Umask", "State", "Tgid", "Ngid", "Pid", "PPid", "TracerPid", "FDSize", "NStgid", "NSpid", "NSpgid",
    "NSsid", "Kthread", "HugetlbPages", "CoreDumping", "THP_enabled", "untag_mask", "Threads", "NoNewPrivs", "Seccomp",
    "Seccomp_filters", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches",
  ]
  private static let processorNames: Set<String> = [
    "processor", "vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "cpu MHz", "cache size",
    "physical id", "siblings", "core id", "cpu cores", "apicid", "initial apicid", "fpu", "fpu_exception",
    "cpuid level", "wp", "flags", "vmx flags", "bugs", "bogomips", "BogoMIPS", "TLB size", "clflush size",
    "cache_alignment", "address sizes", "power management", "Features", "CPU implementer", "CPU architecture",
    "CPU variant", "CPU part", "CPU revision", "Processor",
  ]
  private static let releaseNames: Set<String> = [
    "NAME", "VERSION", "ID", "ID_LIKE", "VERSION_ID", "VERSION_CODENAME", "PRETTY_NAME", "BUILD_ID", "IMAGE_ID",
    "IMAGE_VERSION", "VARIANT", "VARIANT_ID", "PLATFORM_ID", "CPE_NAME", "ANSI_COLOR", "LOGO", "HOME_URL",
    "DOCUMENTATION_URL", "SUPPORT_URL", "BUG_REPORT_URL", "PRIVACY_POLICY_URL", "SUPPORT_END", "UBUNTU_CODENAME",
    "DEBIAN_VERSION_FULL", "DISTRIB_ID", "DISTRIB_RELEASE", "DISTRIB_CODENAME", "DISTRIB_DESCRIPTION",
  ]
}

extension String {
  /// The text without blanks at either end.
  fileprivate var trimmed: String {
    var view = self[...]
    while view.last == " " || view.last == "\t" { view.removeLast() }
    while view.first == " " || view.first == "\t" { view.removeFirst() }
    return String(view)
  }
}
