// SPDX-License-Identifier: Apache-2.0
internal import CrashpadBytes

/// Languages of a symbol.
package struct Language: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let c = Language(rawValue: 1)
  package static let cxx = Language(rawValue: 2)
  package static let objectiveC = Language(rawValue: 4)
  package static let swift = Language(rawValue: 8)
  package static let rust = Language(rawValue: 16)
  package static let go = Language(rawValue: 32)
  package static let kotlin = Language(rawValue: 64)
  package static let any: Language = [.c, .cxx, .objectiveC, .swift, .rust, .go, .kotlin]

  /// The names of the languages, for the manual.
  package var names: [String] {
    let all: [(Language, String)] = [
      (.c, "C"), (.cxx, "C++"), (.objectiveC, "Objective-C"), (.swift, "Swift"), (.rust, "Rust"), (.go, "Go"),
      (.kotlin, "Kotlin"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}

/// Whose function a symbol is: its language, by its mangling, its source file, or else the forms of names that it can have.
struct SymbolOrigin: Sendable, Hashable {
  /// The languages that it may be of. One alone is known.
  let languages: Language
  let swift: SwiftLibrary.Owner
  /// Whether the symbol itself says that it is of Swift's library.
  let statesSwiftLibrary: Bool

  /// A symbol of which nothing is known.
  static let unknown = SymbolOrigin(languages: .any, swift: .unknown)

  func mayBe(_ other: Language) -> Bool { !languages.isDisjoint(with: other) }
  func isKnown(as other: Language) -> Bool { languages.isSubset(of: other) }
  var isInSwiftLibrary: Bool { swift == .library }

  private init(languages: Language, swift: SwiftLibrary.Owner) {
    (self.languages, self.swift, statesSwiftLibrary) = (languages, swift, false)
  }

  /// - Parameters:
  ///   - symbol: mangled, or demangled by any tool.
  ///   - file: the path of its source.
  ///   - isGo: whether its module has the runtime of Go.
  ///   - isInlined: whether it is a call that was inlined.
  ///   - isInApp: whether its module belongs to the program.
  init(_ symbol: String, file: String? = nil, isGo: Bool = false, isInlined: Bool = false, isInApp: Bool = false) {
    let symbol = FunctionName.shortened(symbol)
    let source = file.flatMap { Self.language(ofFile: $0) }
    let byForm = Self.languages(symbol, isGo: isGo)
    let both = source.map { byForm.intersection($0) } ?? byForm
    // No other language has files of Go, whose names may have the form of another's.
    languages = source == .go ? .go : both.isEmpty ? byForm : both
    let stated = byForm == .swift ? SwiftLibrary.stated(by: symbol) : nil
    statesSwiftLibrary = stated == .library
    swift =
      byForm == .swift ? stated ?? SwiftLibrary.owner(of: symbol, isInlined: isInlined, isInApp: isInApp) : .unknown
  }

  // MARK: Forms of names

  private static func languages(_ symbol: String, isGo: Bool) -> Language {
    let name = NameText(symbol)
    if name.hasPrefix("Swift runtime failure: ") { return .swift }
    if name.hasPrefix("kfun:") { return .kotlin }
    if name.hasPrefix("<"), name.hasSuffix(">"), !name.contains("::") { return .any }
    let mangled = name.bytes.drop { $0 == UInt8(ascii: "_") }
    let underscores = name.bytes.count - mangled.count
    if (1...4).contains(underscores) {
      if mangled.first == UInt8(ascii: "R"), underscores <= 2, isRustMangled(mangled) { return .rust }
      if mangled.first == UInt8(ascii: "Z") { return hasRustHash(name) ? .rust : .cxx }
    }
    if SwiftName.isMangled(symbol) { return .swift }
    if ObjectiveCName.isName(name) { return .objectiveC }
    if name.hasPrefix("?") { return .cxx }
    if isGo { return .go }
    if name.contains("::") { return qualified(name) }
    if SwiftName.isSwift(name, symbol: symbol) { return .swift }
    if name.bytes.allSatisfy({ NameText.isWord($0) || $0 == UInt8(ascii: ".") }) {
      return name.bytes.dropFirst().contains(UInt8(ascii: ".")) ? [.c, .swift] : [.c, .objectiveC]
    }
    return name.contains("(") ? [.c, .cxx] : .any
  }

  /// `a::b` of C++ and Rust. Only C++ prints parameters.
  private static func qualified(_ name: NameText) -> Language {
    if name.contains("{{closure}}") || name.contains("{closure#") || name.contains("::<") || hasRustHash(name)
      || name.hasPrefix("<") && name.contains(" as ") || name.contains("{{vtable.shim}}") || name.contains("<impl ")
    {
      return .rust
    }
    if name.hasSuffix(")") || name.hasSuffix(") const") || name.contains("(anonymous") || name.contains("operator")
      || name.contains("{lambda(") || name.contains("::$_") || name.contains("::~")
    {
      return .cxx
    }
    return [.cxx, .rust]
  }

  /// `_RNv…`, `_RINv…`: the version may be missing, and a path follows.
  private static func isRustMangled(_ name: ArraySlice<UInt8>) -> Bool {
    guard let kind = name.dropFirst().first else { return false }
    return "CNMXYI".utf8.contains(kind)
  }

  /// `17h0123456789abcdefE`, or `::h0123456789abcdef`
  private static func hasRustHash(_ name: NameText) -> Bool {
    for (mark, end) in [("17h", 1), ("::h", 0)] {
      var start = 0
      while let found = name.find(mark, from: start) {
        let digits = name.bytes[(found + 3)...].prefix(while: NameText.isHexDigit)
        if digits.count >= 16,
          end == 0 || name.bytes[found + 19 < name.bytes.count ? found + 19 : found] == UInt8(ascii: "E")
        {
          return true
        }
        start = found + 1
      }
    }
    return false
  }

  // MARK: Source files

  private static func language(ofFile path: String) -> Language? {
    guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    switch path[path.utf8.index(after: dot)...] {
    case "rs": return .rust
    case "go": return .go
    case "swift": return .swift
    case "c": return .c
    case "m": return [.c, .objectiveC]
    case "cc", "cpp", "cxx", "C", "hpp", "hh", "tcc", "ipp": return [.c, .cxx]
    default: return nil
    }
  }

  /// Whether a file is a header of the system. Sources of libraries are in other directories of the system, too.
  static func isSystemInclude(_ path: String) -> Bool {
    path.hasPrefix("/usr/include/") || path.containsBytes("/include/c++/")
  }

  /// Directories with headers of compilers and systems: a call that was inlined from there is not the program's.
  static func isSystemHeader(_ path: String) -> Bool {
    for prefix in ["/usr/include/", "/usr/lib/", "/rustc/", "/usr/local/include/c++/"] where path.hasPrefix(prefix) {
      return true
    }
    return path.containsBytes("/Toolchains/") || path.containsBytes("/include/c++/")
  }
}
