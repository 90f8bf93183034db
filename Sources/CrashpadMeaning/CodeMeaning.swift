// SPDX-License-Identifier: Apache-2.0
/// The meaning of a code in a crash report: one row of the table that `explain`, `inspect`
/// and crashpadctl-explain(7) share.
///
/// An empty part is inherited from the row in `context`: EXC_GUARD states for all its flavors who ends the process.
package struct CodeMeaning: Sendable, Hashable {
  /// The field of a report that holds the code. The same number has different meanings in different fields.
  package enum Kind: String, Sendable, CaseIterable {
    case terminationCode = "termination code"
    case namespace = "termination namespace"
    case namespaceCode = "namespace code"
    case terminationFlag = "termination flag"
    case jetsamBand = "jetsam band"
    case exception = "Mach exception"
    case exceptionCode = "exception code"
    case resource = "EXC_RESOURCE"
    case guardViolation = "EXC_GUARD"
    case signal
    case signalCode = "signal code"
    case windows = "Windows exception"
    case fastFail = "fast fail"
    case syndrome = "arm64 syndrome"
    case faultStatus = "arm64 fault status"
    case trap = "arm64 brk"
    case bugType = "type of report"
    case address = "address pattern"
    case kernelTriage = "kernel triage"
    case message
    case function = "function on the stack"
  }

  /// The platform on which a number has this meaning.
  package enum Platform: String, Sendable {
    case any
    case darwin = "Darwin"
    case linux = "Linux"
    case arm64
    case x86_64
  }

  package struct Number: Sendable, Hashable {
    package let value: UInt64
    package let platform: Platform
  }

  package let kind: Kind
  /// The name of the parent row: "EXC_BAD_ACCESS" for KERN_INVALID_ADDRESS, "JETSAM" for per-process-limit.
  package let context: String?
  package let name: String
  package let numbers: [Number]
  /// Other names in uppercase. For messages: the texts, in lowercase, that identify the message. For functions: other
  /// functions with the meaning, or parts of their names, spelled as in stacks.
  package let aliases: [String]
  /// The event, as a sentence without its period.
  package let event: String
  package let endedBy: String
  package let causes: [String]
  package let advice: [String]
  /// A common misconception, and its correction.
  package let myth: String?
  /// The subject of a crash with this code, if it says more than the crash's own code; without its period.
  package let headline: String?
  package let source: Source
  /// The evidence that a message or function needs; a code needs none.
  package let grounds: Grounds

  init(
    _ kind: Kind, of context: String? = nil, _ name: String, _ numbers: [Number] = [], aliases: [String] = [],
    _ event: String, endedBy: String = "", causes: [String] = [], advice: [String] = [], myth: String? = nil,
    headline: String? = nil, _ source: Source, grounds: Grounds = Grounds(.cause)
  ) {
    self.kind = kind
    self.context = context
    self.name = name
    self.numbers = numbers
    self.aliases = aliases
    self.event = event
    self.endedBy = endedBy
    self.causes = causes
    self.advice = advice
    self.myth = myth
    self.headline = headline
    self.source = source
    self.grounds = grounds
  }

  /// The number, if it is the same on all platforms or there is only one.
  package var number: UInt64? {
    numbers.first { $0.platform == .any }?.value ?? (numbers.count == 1 ? numbers[0].value : nil)
  }

  func has(_ value: UInt64, on platforms: [Platform] = [.any, .darwin, .linux, .arm64, .x86_64]) -> Bool {
    numbers.contains { $0.value == value && platforms.contains($0.platform) }
  }

  /// The arguments of `explain` for this row.
  package var query: String {
    switch kind {
    case .terminationCode: number.map(hex) ?? name
    // An error of Win32 may be any small number.
    case .windows: number.map { ($0 > 0xff ? "" : "windows ") + hex($0) } ?? name
    case .namespace: "namespace \(name)"
    case .namespaceCode: "\(context ?? "") \(number.map { String($0) } ?? name)"
    case .terminationFlag: "flag \(number.map(hex) ?? name)"
    case .jetsamBand: "band \(number.map { String($0) } ?? name)"
    case .syndrome: "esr ec \(number.map(hex) ?? name)"
    case .faultStatus: "esr dfsc \(number.map(hex) ?? name)"
    case .trap: "brk \(number.map(hex) ?? name)"
    case .bugType: "bug_type \(numbers.first.map { String($0.value) } ?? name)"
    case .fastFail: "fastfail \(number.map { String($0) } ?? name)"
    case .exception, .signal, .address, .kernelTriage, .message, .function: name
    case .exceptionCode, .resource, .guardViolation, .signalCode: context.map { "\($0) \(name)" } ?? name
    }
  }
}

extension CodeMeaning.Number: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: UInt64) { self.init(value: value, platform: .any) }

  static func darwin(_ value: UInt64) -> Self { Self(value: value, platform: .darwin) }
  static func linux(_ value: UInt64) -> Self { Self(value: value, platform: .linux) }
  static func arm64(_ value: UInt64) -> Self { Self(value: value, platform: .arm64) }
  static func x86_64(_ value: UInt64) -> Self { Self(value: value, platform: .x86_64) }
}

extension CodeMeaning {
  /// The source of a meaning, which also shows how reliable it is.
  package enum Source: Sendable, Hashable {
    /// A page in Apple's documentation.
    case apple(String)
    /// A file in the kernel's source code.
    case xnu(String)
    /// A file in another project or system.
    case file(String, String)
    /// Observed in reports that systems wrote, but not documented.
    case reports(String)
    /// Reported by users, but not documented.
    case users(String)

    package var text: String {
      switch self {
      case .apple(let page): "Apple, \"\(page)\""
      case .xnu(let file): "XNU, \(file)"
      case .file(let project, let file): "\(project), \(file)"
      case .reports(let note): "seen in reports (\(note))"
      case .users(let note): "reported by users (\(note))"
      }
    }
  }
}

func hex(_ value: some BinaryInteger) -> String { "0x" + String(value, radix: 16) }
