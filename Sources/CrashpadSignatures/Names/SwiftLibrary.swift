// SPDX-License-Identifier: Apache-2.0
internal import CrashpadSymbolication

/// Tells functions of Swift's standard library from those of programs. Types of both may have one name, such as Range, and a
/// program extends types of the library; only the full name has the module.
enum SwiftLibrary {
  /// The owner of a function.
  enum Owner: Sendable, Hashable {
    /// The standard library, or another that is linked into programs.
    case library
    case program
    /// The symbol does not name its module.
    case unknown
  }

  /// Modules whose generic functions are specialized or inlined into programs.
  private static let modules: Set<String> = [
    "Swift", "_Concurrency", "_StringProcessing", "_RegexParser", "Synchronization", "Observation", "Distributed",
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "Dispatch", "ObjectiveC", "Combine",
    "SwiftUI", "SwiftUICore", "CoreFoundation", "__C_Synthesized",
  ]

  /// The owner that the symbol itself names; nil if it is not mangled, or names none.
  static func stated(by symbol: String) -> Owner? {
    let full = SwiftName.isMangled(symbol) ? Demangler.demangle(symbol, .full).map(FunctionName.shortened) : nil
    return SwiftName.owner(NameText(full ?? symbol), isFull: full != nil).map {
      modules.contains($0) ? .library : .program
    }
  }

  static func owner(of symbol: String, isInlined: Bool, isInApp: Bool) -> Owner {
    if let owner = stated(by: symbol) { return owner }
    if !isInApp { return .unknown }
    // Without its module: a specialization of a function that the library has, or one that was inlined.
    let name = NameText(symbol)
    let type = NameText(name.bytes.prefix(while: NameText.isWord)).text
    if types.contains(type) { return .library }
    let isCopy = isInlined || ["specialized ", "generic specialization", "merged "].contains { name.hasPrefix($0) }
    return isCopy && isMember(SwiftName.normalized(name, image: nil)) ? .library : .program
  }

  /// Whether the library has a function of this name, of a type whose name it has too.
  private static func isMember(_ name: String) -> Bool {
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return name.hasPrefix("_") }
    let member = name[name.utf8.index(after: dot)...]
    if member.hasPrefix("_") { return true }
    let base = String(member.prefix { $0 != "(" })
    return members.contains(base)
  }

  /// Types of the library that no program names alike.
  private static let types: Set<String> = [
    "_ArrayBuffer", "_ContiguousArrayBuffer", "_ContiguousArrayStorage", "_SliceBuffer", "_NativeDictionary",
    "_NativeSet", "_DictionaryStorage", "_SetStorage", "_StringGuts", "_StringObject", "_HashTable", "_StringStorage",
  ]

  private static let members: Set<String> = [
    "subscript.getter", "subscript.setter", "subscript.modify", "subscript.read", "append", "insert", "remove",
    "removeLast", "removeFirst", "removeAll", "removeValue", "popLast", "popFirst", "first.getter", "last.getter",
    "index", "firstIndex", "lastIndex", "contains", "map", "flatMap", "compactMap", "filter", "reduce", "sort",
    "sorted",
    "reverse", "reversed", "forEach", "init", "count.getter", "isEmpty.getter", "endIndex.getter", "startIndex.getter",
    "unsafelyUnwrapped.getter", "unwrap", "hash", "reserveCapacity", "replaceSubrange", "withUnsafeBufferPointer",
    "withUnsafeMutableBufferPointer", "withUnsafeBytes", "initialize", "deinitialize", "update", "assign", "advanced",
    "distance", "split", "joined", "prefix", "suffix", "dropFirst", "dropLast", "enumerated", "min", "max",
    "allSatisfy",
    "elementsEqual", "lexicographicallyPrecedes", "makeIterator", "next", "updateValue", "formIndex", "swapAt",
    "utf8.getter", "utf16.getter", "unicodeScalars.getter", "index(after:)", "deallocate", "pointee.getter",
    "pointee.modify", "load", "storeBytes", "decode", "encode", "container", "lookup",
  ]
}
